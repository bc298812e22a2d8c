"""How numbers are written: one rule for each unit."""

from __future__ import annotations

import pytest

from oodometer.core.estimate import Estimate
from oodometer.document.numbers import about_n, amount_in_words, bounds, in_words, number, with_interval


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        (Estimate(0.5, 0.4, 0.6, 100, "wilson 95%"), "50.0 % [40.0, 60.0]"),
        (Estimate(0.5, None, None, None, "none: n is not known"), "50.0 % (no interval)"),
        (Estimate(1.0, 0.99996, 1.0, 100, "wilson 95%"), "100.0 % [100.0, 100.0]"),
    ],
)
def test_a_share_in_words(estimate, said):
    assert in_words(estimate, "percent") == said


def test_a_difference_in_words_has_a_real_minus_and_no_minus_zero():
    estimate = Estimate(-0.021, -0.04, -0.0001, 9, "newcombe 95%")
    assert in_words(estimate, "points") == "−2.1 points [−4.0, +0.0]"
    assert amount_in_words(estimate) == "−2.1 points [−4.0, 0.0]"


def test_two_ways_of_intervals_are_both_named():
    both = [Estimate(0.5, 0.4, 0.6, 100, "wilson 95%"), Estimate(0.5, None, None, 100, "none: all draws are equal")]
    assert about_n(both) == "n = 100, no interval: all draws are equal or wilson 95%"


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.99949, "percent", "99.9"),
        (-0.0004, "percent", "0.0"),
        (0.0004, "points", "+0.0"),
        (-1234567, "count", "−1,234,567"),
        (9.9996, "number", "10.000"),
        (-0.0001, "number", "0.000"),
    ],
)
def test_a_number_is_written_as_its_unit_says(value, unit, said):
    assert number(value, unit) == said


def test_the_ends_have_the_digits_of_the_value():
    assert with_interval(Estimate(12.0, 9.5, 14.0, 10, "any"), "number") == "12.0 [9.5, 14.0]"


def test_half_a_width_has_no_sign():
    assert bounds(Estimate(0.02, -0.01, 0.05, 10, "any"), "points", style="pm") == "± 3.0"


def test_latex_has_a_minus_of_its_own():
    assert bounds(Estimate(-0.02, -0.03, -0.01, 10, "any"), "points", minus="-") == "[-3.0, -1.0]"
