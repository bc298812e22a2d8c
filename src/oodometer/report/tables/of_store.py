"""A table of a store, by what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from oodometer.analysis.attribute_parts import parts_of
from oodometer.analysis.line_rules import DEFAULT_OPTIONS, RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.document.table import Table
from oodometer.report.tables.corruptions import RATIOS, corruptions_table
from oodometer.report.tables.gaps import gaps_table
from oodometer.report.tables.hypotheses import hypotheses_table
from oodometer.report.tables.leaderboard import leaderboard_table
from oodometer.report.tables.options import TableOptions
from oodometer.report.tables.parts import parts_table
from oodometer.store.index import Source, index_at
from oodometer.study import Study, study_of

TABLES: Mapping[str, Callable[[Study, TableOptions], Table]] = {
    "leaderboard": leaderboard_table,
    "corruptions": corruptions_table,
    "gaps": gaps_table,
    "hypotheses": hypotheses_table,
}
"""What a table can show."""

ROOM: Mapping[str, int | None] = {"csv": None, "latex": 3, "text": 2}
"""How many shifts there is room for where none are named: in a file for programs for all of them, on a page of a paper
and in 120 letters of a terminal for few."""

DEFAULT = TableOptions()


def table(
    store: Source,
    what: str = "leaderboard",
    *,
    options: TableOptions = DEFAULT,
    origins: Mapping[str, Origin] | None = None,
    line: RobustnessOptions = DEFAULT_OPTIONS,
) -> Table:
    """The models of a store as a table: every number with its interval, the best only where it can be told.

    Args:
        what: ``leaderboard`` (clean and shifted accuracy with ρ), ``corruptions`` (each of a family), ``gaps``
            (what is lost under each shift), or ``hypotheses`` (what makes models robust, with verdicts).
        options: Which shifts, columns and models. A published attribute shift (``dfr``, ``svsf``) stands for all of its
            parts; alone, it makes the table of its paper.
        origins: Category and parent of models whose cards do not say.
        line: How the lines from clean to shifted accuracy are drawn.
    """
    if what not in TABLES:
        raise UsageError(f"no table {what!r}{did_you_mean(what, TABLES)}; there are {', '.join(TABLES)}")
    if what == "corruptions" and options.columns and options.columns not in [(name,) for name in RATIOS]:
        raise UsageError(f"--what corruptions has accuracies, or with --columns one of: {', '.join(RATIOS)}")
    if what == "gaps" and options.columns:
        raise UsageError("--columns are those of the leaderboard; --what gaps has its own")
    index = index_at(store)
    parts = {name: parts_of(index, name) for name in options.shifts}
    options = replace(options, shifts=tuple(shift for name in options.shifts for shift in parts[name] or (name,)))
    make = TABLES[what]
    if what == "leaderboard" and len(parts) == 1 and all(parts.values()) and not options.columns:
        make = parts_table
    # Shifts that are named are the only ones whose lines are drawn; a family's corruptions need no line.
    only = options.shifts or None if what != "corruptions" else None
    return make(study_of(index, origins=origins, options=line, only=only), options)


def room_for(form: str) -> int | None:
    """How many shifts a table of that form has room for, where none are named; None: all."""
    return ROOM.get(form, DEFAULT.most)
