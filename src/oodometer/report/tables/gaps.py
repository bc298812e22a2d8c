"""The gaps: what each model loses under each shift."""

from __future__ import annotations

from oodometer.core.errors import StoreError
from oodometer.report.tables.footnotes import common_footnotes
from oodometer.report.tables.leaderboard import drops
from oodometer.report.tables.shift_footnotes import clean_sides, means_and_measures
from oodometer.report.tables.shifts import chosen_shifts
from oodometer.report.tables.table import Column, ModelTable, TableOptions, left_out, rows_in_groups, wanted_models
from oodometer.study import Study

NO_BEST = "Smaller is not better by itself, so none is bold: a model that is always wrong loses nothing."


def gaps_table(study: Study, options: TableOptions | None = None) -> ModelTable:
    """Clean minus shifted accuracy of every model under every shift, in points."""
    options = options or TableOptions(most=None)
    shifts, notes = chosen_shifts(study, options)
    if not shifts:
        raise StoreError(f"{study.address}: no shift in it; a gap needs a clean set and a shifted one")
    wanted = wanted_models(study, options.models)
    level = study.options.resampling.level
    columns = []
    for shift in shifts:
        found = drops(shift, level)
        values = {name: found[name] for name in wanted if name in found}
        columns.append(Column(shift.name, shift.name, "points", None, values))
    return ModelTable(
        "gaps",
        "What each model loses under each shift: clean minus shifted accuracy, in points.",
        tuple(columns),
        rows_in_groups(study, columns, options),
        (*common_footnotes(columns), *clean_sides(study, shifts), *means_and_measures(shifts), NO_BEST),
        (*study.notes, *notes, *left_out(study, columns, options)),
    )
