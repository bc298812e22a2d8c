"""The gaps: what each model loses under each shift."""

from __future__ import annotations

from dataclasses import replace

from oodometer.core.errors import StoreError
from oodometer.document.table import Table
from oodometer.report.tables.board_columns import board_numbers
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.model_table import Numbers, Words, study_table, wanted_models
from oodometer.report.tables.options import TableOptions
from oodometer.report.tables.shift_footnotes import clean_sides, means_and_measures
from oodometer.report.tables.shifts import chosen_shifts
from oodometer.study import Study

CAPTION = "What each model loses under each shift: clean minus shifted accuracy, in points."
NO_BEST = "Smaller is not better by itself, so none is bold: a model that is always wrong loses nothing."


def gaps_table(study: Study, options: TableOptions | None = None) -> Table:
    """Clean minus shifted accuracy of every model under every shift, in points: the drops of the leaderboard."""
    options = options or TableOptions(most=None)
    shifts, notes = chosen_shifts(study, options)
    if not shifts:
        raise StoreError(f"{study.address}: no shift in it; a gap needs a clean set and a shifted one")
    models = frozenset(wanted_models(study, options.models))
    numbers = [_by_its_shift(one.of(models)) for one in board_numbers(study, ["drop"], shifts)]
    footnotes = (*common_footnotes(numbers), *clean_sides(study, shifts), *means_and_measures(shifts), NO_BEST)
    return study_table(study, numbers, Words("gaps", CAPTION, footnotes, tuple(notes)), options)


def _by_its_shift(drop: Numbers) -> Numbers:
    """The column called as the shift, which is all that tells it from the others here."""
    shift = drop.column.over
    return replace(drop, column=replace(drop.column, id=shift, title=shift, label=shift, over=""), said=shift)
