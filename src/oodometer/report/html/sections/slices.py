"""The section "Slices": the accuracy of each value of a column of the data: camera, country, style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oodometer.analysis.text import plural
from oodometer.document.numbers import in_words
from oodometer.document.section import Section
from oodometer.document.table import Column, Table
from oodometer.study import Study
from oodometer.study.value_slices import ValueSlices, value_slices

MOST_COLUMNS = 6
MOST_ROWS = 120
"""Of one table: all tables together add less than half a megabyte to a page."""
SENTENCES = 3


def section(study: Study) -> Section | None:
    """A table for each column that cuts the images into groups; None where the data have none."""
    slices = [each for each in value_slices(study) if each.rows]
    if not slices:
        return None
    gaps = {each.column: _widest(each) for each in slices}
    slices = sorted(slices, key=lambda each: -gaps[each.column].size)[:MOST_COLUMNS]
    told = [gap.words for each in slices[:SENTENCES] if (gap := gaps[each.column]).size > 0]
    tables = tuple(_table(at, each) for at, each in enumerate(slices, start=1))
    return Section("slices", "Slices", (" ".join([LEAD, *told]),), tables)


LEAD = (
    "The accuracy of each value of a column of the data, as 'oodometer score --by-value' tells it. The intervals of a "
    "model on a condition are corrected for the number of values."
)


class _Gap(NamedTuple):
    """The greatest difference between two values that can be told, for the first model; 0 where none can."""

    size: float
    words: str


def _widest(slices: ValueSlices) -> _Gap:
    """Of all conditions: intervals that hold together and do not overlap differ."""
    gaps = [_Gap(0.0, "")]
    for on in dict.fromkeys(on for on, _, _ in slices.rows):
        known = [(accuracies[0], value) for of, value, accuracies in slices.rows if of == on and accuracies[0]]
        if len(known) < 2:
            continue
        worst, best = (pick(known, key=lambda each: each[0].value) for pick in (min, max))
        if (worst[0].high or 0.0) < (best[0].low or 0.0):
            words = (
                f"By {slices.column} on {on}, {slices.models[0]} has {in_words(best[0], 'percent')} on {best[1]} and "
                f"{in_words(worst[0], 'percent')} on {worst[1]}."
            )
            gaps.append(_Gap(best[0].value - worst[0].value, words))
    return max(gaps, key=lambda gap: gap.size)


def _table(number: int, slices: ValueSlices) -> Table:
    columns = (
        Column(slices.column, about=f"The value of the column {slices.column} of the data."),
        Column("condition"),
        Column("images", "count"),
        *(Column(model, "percent", about=slices.convention, better="high", bar=True) for model in slices.models),
    )
    rows = tuple((value, on, _n(accuracies), *accuracies) for on, value, accuracies in slices.rows[:MOST_ROWS])
    values = len({value for _, value, _ in slices.rows})
    some = f" The first {MOST_ROWS} of {len(slices.rows)} rows." if len(slices.rows) > MOST_ROWS else ""
    caption = f"Top-1 accuracy by {slices.column}, {plural(values, 'value')}.{some}"
    return Table(f"slices-{number}", caption, columns, rows, filters="condition", folded=number > 1)


def _n(accuracies: Sequence[object]) -> int | None:
    return next((n for estimate in accuracies if (n := getattr(estimate, "n", None)) is not None), None)
