"""Which shifts are shown first, and numbers in words."""

from __future__ import annotations

import pytest

from oodometer.analysis.accuracy_pairs import Points
from oodometer.analysis.line_rules import RobustnessOptions, Rules
from oodometer.analysis.text import listed, plural
from oodometer.core.estimate import Estimate
from oodometer.report.html.shown import about_n, leading, percent, points
from oodometer.study import StudyShift
from oodometer.study.kinds import KNOWN_BEST


def shift(name: str, kind: str = "dataset") -> StudyShift:
    points = Points(("val",), name, (name,), ())
    return StudyShift(name, kind, kind == "dataset", points, None, Rules(RobustnessOptions(), ()))


def names(shifts) -> list[str]:
    return [one.name for one in shifts]


def test_few_are_all_shown_in_their_order():
    few = [shift("b"), shift("a"), shift("c", "corruption")]
    assert leading(few, 3) == few


def test_of_many_one_of_each_kind_comes_before_a_second():
    many = [shift("a"), shift("b"), shift("c"), shift("d", "style"), shift("e", "corruption")]
    assert names(leading(many, 3)) == ["a", "d", "e"]
    assert names(leading(many, 4)) == ["a", "b", "d", "e"]


def test_the_best_known_come_before_all_others():
    many = [shift("a"), shift(KNOWN_BEST[1]), shift("c", "corruption"), shift(KNOWN_BEST[0])]
    assert names(leading(many, 2)) == [KNOWN_BEST[1], KNOWN_BEST[0]]


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        (Estimate(0.5, 0.4, 0.6, 100, "wilson 95%"), "50.0 % [40.0, 60.0]"),
        (Estimate(0.5, None, None, None, "none: n is not known"), "50.0 % (no interval)"),
        (Estimate(1.0, 0.99996, 1.0, 100, "wilson 95%"), "100.0 % [100.0, 100.0]"),
    ],
)
def test_a_share_in_words(estimate, said):
    assert percent(estimate) == said


def test_a_difference_in_words_has_a_real_minus_and_no_minus_zero():
    assert points(Estimate(-0.021, -0.04, -0.0001, 9, "newcombe 95%")) == "−2.1 points [−4.0, 0.0]"


def test_numbers_of_things():
    assert (plural(0, "model"), plural(2, "accuracy", "accuracies")) == ("0 models", "2 accuracies")
    assert listed([], 3) == ""


def test_two_ways_of_intervals_are_both_named():
    both = [Estimate(0.5, 0.4, 0.6, 100, "wilson 95%"), Estimate(0.5, None, None, 100, "none: all draws are equal")]
    assert about_n(both) == "n = 100, no interval: all draws are equal or wilson 95%"
