"""Two models on every condition at once: the difference with its interval, corrected for their number, and in words.

Clean sets and shifts are those of the report's first screen (`oodometer.study.pair_verdict`), so that a family of
corruptions is one row; what belongs to no shift is compared as ``compare`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oodometer.analysis.families import family_in
from oodometer.core.estimate import Estimate
from oodometer.explorer.catalogue import Catalogue, Held
from oodometer.explorer.explorer import Explorer
from oodometer.stats.effective_robustness import tau_from_counts
from oodometer.stats.intervals import corrected_level
from oodometer.study import Study, StudyShift
from oodometer.study.pair_verdict import Contest, contest_of, pair_verdict

LEVEL = 0.95
"""With which all intervals of a table hold together."""


@dataclass(frozen=True)
class Two:
    """Two models that are compared: B against A."""

    explorer: Explorer
    a: str
    b: str

    @property
    def catalogue(self) -> Catalogue:
        """What is in the store."""
        return self.explorer.catalogue()

    @property
    def study(self) -> Study | None:
        """The newest study."""
        return self.explorer.study()


def contests(two: Two, family: str | None) -> list[dict[str, Any]]:
    """A row for each clean set, shift and other condition; the conditions of ``family`` stand in its row."""
    study = two.study
    others = _others(two)
    found = pair_verdict(study, two.b, two.a, n_beside=len(others)) if study else None
    shifts = {shift.name: shift for shift in study.shifts} if study else {}
    clean = [_row(two, contest, "clean", (contest.name,)) for contest in (found.clean if found else ())]
    shifted = [_shift_row(two, contest, shifts[contest.name], family) for contest in (found.shifted if found else ())]
    level = corrected_level(LEVEL, len(clean) + len(shifted) + len(others)) if others else LEVEL
    beside = [_compared(two, name, level) for name in others]
    return [*clean, *shifted, *(_row(two, one, "condition", (one.name,)) for one in beside if one)]


def _row(two: Two, contest: Contest, kind: str, conditions: Sequence[str]) -> dict[str, Any]:
    """A row as plain values.

    ``on`` is the condition whose images can be looked at; None where there is none, or several.
    """
    single = conditions[0] if len(conditions) == 1 else None
    return {
        "name": contest.name,
        "kind": kind,
        "a": contest.second,
        "b": contest.first,
        "difference": contest.difference,
        "answer": contest.answer,
        "images": contest.images,
        "on": single if single and _have_cells(two, single) else None,
        "n_conditions": len(conditions),
        "members": [],
    }


def _shift_row(two: Two, contest: Contest, shift: StudyShift, family: str | None) -> dict[str, Any]:
    row = _row(two, contest, "shift", shift.shifted)
    if len(shift.shifted) > 1 and family == shift.name:
        level = corrected_level(LEVEL, len(shift.shifted))
        members = [_compared(two, name, level) for name in shift.shifted]
        row["members"] = [_row(two, one, "condition", (one.name,)) for one in members if one]
    return row


def _others(two: Two) -> list[str]:
    """Conditions that both were measured on and no shift is about; those of families are left to these."""
    study = two.study
    if study is None:  # families come with it
        alone = [held for held in two.catalogue.by_model.get(two.a, ()) if _is_alone(two, held)]
        return [held.condition for held in alone if _have_cells(two, held.condition)]
    both = [shift for shift in study.shifts if {two.a, two.b} <= {point.model for point in shift.points.models}]
    covered = {name for shift in both for name in (shift.standard, *shift.points.x, *shift.shifted)}
    known = [one.name for one in study.conditions if two.a in one.accuracies and two.b in one.accuracies]
    return [name for name in known if name not in covered]


def _is_alone(two: Two, held: Held) -> bool:
    return family_in(two.catalogue.index, held.cell.condition) is None


def _compared(two: Two, name: str, level: float) -> Contest | None:
    """On one condition: paired where both have predictions, else from the sizes of the sets that a table tells."""
    if _have_cells(two, name):
        found = two.explorer.comparison(two.catalogue.cell(two.a, name), two.catalogue.cell(two.b, name))
        difference = found.difference_at(level)
        return contest_of(name, found.accuracy_b, found.accuracy_a, difference, level)
    accuracies = two.study.condition(name).accuracies if two.study else {}
    if two.a not in accuracies or two.b not in accuracies:
        return None
    return contest_of(name, accuracies[two.b], accuracies[two.a], _unpaired(two, accuracies, level), level)


def _unpaired(two: Two, accuracies: Any, level: float) -> Estimate:
    first, second = accuracies[two.b], accuracies[two.a]
    return tau_from_counts(first.value, second.value, first.n, second.n, level=level)


def _have_cells(two: Two, condition: str) -> bool:
    models = {held.model for held in two.catalogue.by_condition.get(condition, ()) if held.n}
    return {two.a, two.b} <= models


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How often B is better, worse, or nobody can tell."""
    answers = [row["answer"] for row in rows]
    return {answer: answers.count(answer) for answer in ("better", "worse", "can't tell")}
