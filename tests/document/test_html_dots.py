"""Dots as pages draw them."""

from __future__ import annotations

import pytest

from oodometer.core.estimate import Estimate
from oodometer.document.html_dots import axis_of, drawn_rows
from oodometer.document.section import DotRow, Dots


def share(value, half=0.05):
    return Estimate(value, value - half, value + half, 100, "any")


def dots(*pairs, ties=()):
    rows = tuple(DotRow(f"m{at}", "1", "standard", (pair,), share(0.5)) for at, pair in enumerate(pairs))
    return Dots("d", "A picture.", ("fog",), rows, ties)


def test_the_axis_holds_every_interval_and_ends_at_round_numbers():
    axis = axis_of(dots((share(0.71), share(0.43))))
    assert (axis.low, axis.high, axis.step) == (0.3, 0.8, 0.1)
    assert axis.place(0.55) == pytest.approx(50)
    assert axis.n_lines == 5


def test_the_axis_never_leaves_0_and_1():
    axis = axis_of(dots((Estimate(1.0, 0.97, 1.0, 100, "any"), Estimate(0.0, 0.0, 0.03, 100, "any"))))
    assert (axis.low, axis.high) == (0.0, 1.0)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_a_single_number_without_an_interval_still_has_an_axis(value):
    axis = axis_of(dots((None, Estimate(value, None, None, None, "none: n is not known"))))
    assert axis.low < axis.high
    assert 0 <= axis.place(value) <= 100


def test_a_mark_goes_from_clean_to_shifted_with_the_interval_of_the_latter():
    (row,) = drawn_rows(dots((share(0.71), share(0.43))))
    (mark,) = row.marks
    assert (mark.clean, mark.shifted, mark.low, mark.high) == pytest.approx((82, 26, 16, 36))
    assert mark.title == "clean 71.0 % [66.0, 76.0], n = 100; shifted 43.0 % [38.0, 48.0], n = 100"
    assert row.mean == ("50.0", "[45.0, 55.0]")


def test_what_was_not_measured_is_said():
    (row,) = drawn_rows(dots((None, None)))
    assert row.marks[0].title == "not measured"
    assert row.marks[0].shifted is None


def test_ties_that_overlap_stand_in_lanes_of_their_own():
    pair = (share(0.7), share(0.5))
    rows = drawn_rows(dots(pair, pair, pair, pair, ties=((0, 2), (1, 3))))
    assert [row.lanes for row in rows] == [("start", ""), ("middle", "start"), ("end", "middle"), ("", "end")]


def test_ties_one_after_the_other_share_a_lane_and_one_alone_has_none():
    pair = (share(0.7), share(0.5))
    rows = drawn_rows(dots(*[pair] * 5, ties=((0, 1), (2, 2), (3, 4))))
    assert [row.lanes for row in rows] == [("start",), ("end",), ("",), ("start",), ("end",)]


def test_too_many_lanes_are_none():
    pair = (share(0.7), share(0.5))
    rows = drawn_rows(dots(*[pair] * 12, ties=tuple((at, at + 5) for at in range(7))))
    assert {row.lanes for row in rows} == {()}
