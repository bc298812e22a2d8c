"""The leaderboard of the quickstart: that of every store, with short titles and whole per cents, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from oodometer.core.errors import StoreError
from oodometer.document.table import Table
from oodometer.report.tables.board_columns import board_numbers
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.model_table import Numbers, Words, study_table
from oodometer.report.tables.options import TableOptions
from oodometer.report.tables.shift_footnotes import lines, without_line
from oodometer.study import Study

CAPTION = "Top-1 accuracy of each network in per cent."


@dataclass(frozen=True)
class IconSet:
    """What the networks are asked about.

    Args:
        title: Above the numbers.
        condition: A condition, or a family of them (``cifar10-c``): then the mean over its conditions.
        about: What that is, in a sentence.
    """

    title: str
    condition: str
    about: str = ""


def icon_board(study: Study, sets: Sequence[IconSet], *, robust_in: str) -> Table:
    """The best on the clean set first.

    Args:
        sets: The clean one first; those that no model was measured on are left out.
        robust_in: The condition under which effective robustness is told.
    """
    shifts = {shift.name: shift for shift in study.shifts}
    if not study.conditions or study.conditions[0].name != sets[0].condition or robust_in not in shifts:
        raise StoreError(f"{study.address}: no predictions on {sets[0].condition} and {robust_in}")
    numbers = [one for one in _numbers(study, sets, robust_in) if one.values]
    robust = [shifts[robust_in]]
    footnotes = (*common_footnotes(numbers), *lines(study, robust, ["rho"]))
    words = Words("leaderboard", CAPTION, footnotes, tuple(without_line(robust)))
    return study_table(study, numbers, words, TableOptions(grouped=False))


def _numbers(study: Study, sets: Sequence[IconSet], robust_in: str) -> Iterator[Numbers]:
    titles = {one.condition: one for one in sets}
    shifts = [shift for shift in study.shifts if shift.name in titles]
    shifts.sort(key=lambda shift: list(titles).index(shift.name))
    for one in board_numbers(study, ["clean", "accuracy"], shifts):
        is_ = titles[one.column.name]
        column = replace(
            one.column, title=is_.title, label=is_.title, id=is_.condition, about=is_.about, over="", digits=0
        )
        yield replace(one, column=column, said="")
    for one in board_numbers(study, ["rho"], [shift for shift in shifts if shift.name == robust_in]):
        yield replace(one, column=replace(one.column, over=titles[robust_in].title, digits=0))
