"""Which shifts a table is about."""

from __future__ import annotations

from oodometer.analysis.attribute_parts import whole_of
from oodometer.report.tables.footnotes import some_of
from oodometer.report.tables.options import TableOptions
from oodometer.study import Study, StudyShift


def chosen_shifts(study: Study, options: TableOptions) -> tuple[tuple[StudyShift, ...], list[str]]:
    """Those that are asked for; else the first of the study, natural ones before others, and which are left out."""
    if options.shifts:
        return tuple(study.shift(name) for name in options.shifts), []
    most = len(study.shifts) if options.most is None else options.most
    rest = [whole_of(one.name) or one.name for one in study.shifts[most:]]
    return study.shifts[:most], [f"not in the table, ask for them with --shift: {some_of(rest)}"] if rest else []
