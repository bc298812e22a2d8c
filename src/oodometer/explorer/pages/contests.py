"""Two models on every condition at once: the difference with its interval, corrected for their number, and in words.

Where there are predictions of both, a condition or a family of corruptions is told as ``compare`` tells it: on the
images that both saw. What tables alone know, or what is judged by mAP, is told as the study has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from oodometer.analysis.compare import Compared
from oodometer.analysis.families import family_in
from oodometer.core.errors import OodometerError
from oodometer.explorer.catalogue import Catalogue, Held
from oodometer.explorer.explorer import Explorer
from oodometer.stats.effective_robustness import tau_from_counts
from oodometer.stats.intervals import corrected_level
from oodometer.study import Study, StudyShift
from oodometer.study.pair_verdict import Contest, contest_of, on_clean, under_shift

LEVEL = 0.95
"""With which all intervals of a table hold together."""

Tell = Callable[[float], Contest]
"""The contest, with an interval of this level."""


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

    def cells(self, conditions: Sequence[str]) -> list[tuple[Held, Held]]:
        """The labelled answers of both, under each of these conditions that both have."""
        of_a, of_b = (
            {held.condition: held for held in self.catalogue.by_model.get(name, ()) if held.n}
            for name in (self.a, self.b)
        )
        return [(of_a[name], of_b[name]) for name in conditions if name in of_a and name in of_b]


class Asked(NamedTuple):
    """What the two can be compared on: a clean set, a shift with all its conditions, or a condition."""

    kind: Literal["clean", "shift", "condition"]
    conditions: Sequence[str]
    tell: Tell


def contests(two: Two, family: str | None) -> list[dict[str, Any]]:
    """A row for each clean set, shift and other condition; the conditions of ``family`` stand in its row."""
    known = two.study.shifts if two.study else ()
    shifts = [(shift, tell) for shift in known if (tell := _side(two, shift, shift.name, shift.shifted, under_shift))]
    clean = {shift.points.x[0]: shift for shift, _ in reversed(shifts)}
    sides = {name: _side(two, shift, name, [name], on_clean) for name, shift in reversed(clean.items())}
    asked = [
        *(Asked("clean", [name], tell) for name, tell in sides.items() if tell),
        *(Asked("shift", shift.shifted, tell) for shift, tell in shifts),
        *_alone(two, _others(two, [shift for shift, _ in shifts])),
    ]
    rows = _rows(two, asked)
    for row, one in zip(rows, asked, strict=True):
        if row["n_conditions"] > 1 and row["name"] == family:
            row["members"] = _rows(two, _alone(two, one.conditions))
    return rows


def _rows(two: Two, asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """The contests, whose intervals hold together."""
    level = corrected_level(LEVEL, max(len(asked), 1))
    return [_row(two, one, one.tell(level)) for one in asked]


def _row(two: Two, asked: Asked, contest: Contest) -> dict[str, Any]:
    """A row as plain values.

    ``on`` is the condition whose images can be looked at; None where there is none, or several. ``left_out`` are
    conditions of a family that one of the two lacks.
    """
    known, n = [a.condition for a, _ in two.cells(asked.conditions)], len(asked.conditions)
    return {
        "name": contest.name,
        "kind": asked.kind,
        "a": contest.second,
        "b": contest.first,
        "difference": contest.difference,
        "answer": contest.answer,
        "images": contest.images,
        "on": known[0] if known and n == 1 else None,
        "n_conditions": n,
        "left_out": [name for name in asked.conditions if name not in known] if known else [],
        "members": [],
    }


def _side(
    two: Two, shift: StudyShift, name: str, conditions: Sequence[str], studied: Callable[..., Contest]
) -> Tell | None:
    """One side of a shift: from predictions, else as the study has it; None where one of the two lacks it."""
    found = _compared(two, name, conditions) if shift.points.measure == "top-1" else None
    if found or not {two.a, two.b} <= {point.model for point in shift.points.models}:
        return found
    return partial(studied, shift, two.b, two.a)


def _alone(two: Two, names: Sequence[str]) -> list[Asked]:
    """Conditions by themselves, those that both were measured on."""
    told = {name: _compared(two, name, [name]) if two.cells([name]) else _tabled(two, name) for name in names}
    return [Asked("condition", [name], tell) for name, tell in told.items() if tell]


def _others(two: Two, shifts: Sequence[StudyShift]) -> list[str]:
    """Conditions that none of these shifts is about; those of families are left to these."""
    study, index = two.study, two.catalogue.index
    if study is None:  # families come with it
        held = two.catalogue.by_model.get(two.a, ())
        return [one.condition for one in held if family_in(index, one.cell.condition) is None]
    covered = {name for shift in shifts for name in (shift.standard, *shift.points.x, *shift.shifted)}
    return [one.name for one in study.conditions if one.name not in covered]


def _compared(two: Two, name: str, conditions: Sequence[str]) -> Tell | None:
    """As ``compare`` has it; None where no image was answered by both, under each of the conditions that both have."""
    cells, several = two.cells(conditions), len(conditions) > 1
    if not cells:
        return None
    try:
        of_family, of_one = two.explorer.family_comparison, two.explorer.comparison
        found: Compared = of_family(name, tuple(cells)) if several else of_one(*cells[0])
    except OodometerError:
        return None
    return lambda level: contest_of(name, found.accuracy_b, found.accuracy_a, found.difference_at(level), level)


def _tabled(two: Two, name: str) -> Tell | None:
    """From the sizes of the sets that a table tells; None where it lacks one of the two."""
    known = two.study.condition(name).accuracies if two.study else {}
    if two.a not in known or two.b not in known:
        return None
    b, a = known[two.b], known[two.a]
    return lambda level: contest_of(name, b, a, tau_from_counts(b.value, a.value, b.n, a.n, level=level), level)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How often B is better, worse, or nobody can tell."""
    answers = [row["answer"] for row in rows]
    return {answer: answers.count(answer) for answer in ("better", "worse", "can't tell")}
