"""The section "leaderboard": every model with all its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from oodometer.document.section import Section
from oodometer.report.tables.board_columns import KINDS, OF_CONDITIONS, SCORES, accuracy_on, board_numbers, scores_on
from oodometer.report.tables.footnotes import bold_footnote
from oodometer.report.tables.model_table import RANK, Numbers, Words, model_table, on_page
from oodometer.report.tables.neighbours import neighbours_table
from oodometer.report.tables.options import TableOptions
from oodometer.study import Study
from oodometer.study.findings import leading
from oodometer.study.neighbours import neighbours_on

SHOWN_SHIFTS = 6
SHOWN_RHO = 2
"""How many columns are there at first; all others can be chosen."""


def section(study: Study) -> Section | None:
    """All models in one table."""
    if not study.conditions:
        return None
    numbers = [one for one in _numbers(study) if one.values]
    words = Words(
        "leaderboard-table", "All models. Other columns can be chosen.", tuple(bold_footnote(numbers)), ranked=True
    )
    origins = {model.name: model.origin for model in study.models}
    shown = _shown(study)
    table = on_page(
        model_table(origins, numbers, words, TableOptions(grouped=False)),
        lambda column: column.key in shown or column.key.startswith("mce:"),
    )
    order = f"The best on {study.conditions[0].name} first."
    near = neighbours_on(study, leading(study.shifts, SHOWN_SHIFTS))
    more = (neighbours_table(near, study.options.resampling.level),) if near else ()
    return Section("leaderboard", "Leaderboard", (_lead(study),), (replace(table, order=order), *more))


def _lead(study: Study) -> str:
    level = f"{100 * study.options.resampling.level:g} %"
    return (
        f"Every number stands with its {level} interval, where it has one. Effective robustness ρ is what a model has "
        "under a shift beyond what the line through the baseline models leads to expect at its clean accuracy; "
        "relative robustness τ is what it has beyond its parent. Both are in percentage points."
    )


def _numbers(study: Study) -> Iterator[Numbers]:
    """Accuracies on clean sets and under shifts, ρ and τ, and the scores after them; drops are another table."""
    found = list(board_numbers(study, [kind for kind in KINDS if kind != "drop"], study.shifts))
    others = list(_on_other_clean_sets(study))
    yield found[0]
    yield from (one for one in others if one.kind not in SCORES)
    yield from (one for one in found[1:] if one.kind not in SCORES)
    scores = [one for one in (*found, *others) if one.kind in SCORES]
    yield from sorted(scores, key=lambda one: list(SCORES).index(one.kind))


def _on_other_clean_sets(study: Study) -> Iterator[Numbers]:
    # Anchor frames are the clean side of a shift, and a shifted side themselves: they are told among the shifts.
    used = {shift.standard for shift in study.shifts} - {shift.name for shift in study.shifts}
    for condition in study.conditions[1:]:
        if condition.name in used:
            yield accuracy_on(condition.name, condition.accuracies)
            yield from scores_on(study, list(OF_CONDITIONS), condition.name, condition.name)


def _shown(study: Study) -> set[str]:
    """The ids of the columns that are there at first."""
    lines = [shift for shift in study.shifts if shift.natural and shift.robustness]
    return {
        "model",
        "category",
        RANK,
        "clean",
        *(shift.name for shift in leading(study.shifts, SHOWN_SHIFTS)),
        *(f"rho:{shift.name}" for shift in leading(lines, SHOWN_RHO)),
        *(f"{kind}:clean" for kind in OF_CONDITIONS),
    }
