"""Which shifts are shown first."""

from __future__ import annotations

from oodometer.analysis.line_rules import RobustnessOptions, Rules
from oodometer.analysis.points import Points
from oodometer.study import StudyShift
from oodometer.study.findings import leading
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
