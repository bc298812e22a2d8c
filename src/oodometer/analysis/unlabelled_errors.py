"""How far off estimates without labels have been where labels exist: of other models, and under other shifts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.measured_shifts import measured_shifts
from oodometer.analysis.text import plural
from oodometer.analysis.unlabelled_answers import Answers, answers_on
from oodometer.analysis.unlabelled_methods import Estimator
from oodometer.analysis.unlabelled_sides import TwoSides
from oodometer.core.errors import OodometerError
from oodometer.store.index import Index

MOST_SHIFTS = 20
"""Conditions that are learnt from, evenly spread over those there are: of a family of 75 every fourth says enough."""
MOST_COMPARISONS = 10_000_000_000
"""Of two answers to an image, over all shifts that are learnt from: some seconds."""


@dataclass(frozen=True)
class ExpectedError:
    """How far off a method has been, of models whose labels are known; that of the model itself is never among them.

    Args:
        value: The mean absolute difference between estimate and true accuracy.
        bias: The mean difference, estimate less true.
        largest: The largest absolute difference.
        n: How many differences.
        models: Of which models.
        shifts: Under which shifts; the first only where it is the one that is estimated.
        here: Whether it is that one.
    """

    value: float
    bias: float
    largest: float
    n: int
    models: tuple[str, ...]
    shifts: tuple[str, ...]
    here: bool

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.behind})"

    @property
    def behind(self) -> str:
        """What it is of, in words."""
        where = "here" if self.here else f"under {plural(len(self.shifts), 'other shift')}"
        return f"{plural(len(self.models), 'model')} {where}"


@dataclass(frozen=True)
class KnownErrors:
    """Estimate less true accuracy of the models under one shift, by method, NaN where one of them is not known.

    Args:
        lost: By how much each model is worse there than on clean images.
    """

    shift: str
    models: tuple[str, ...]
    errors: dict[str, np.ndarray]
    lost: np.ndarray


def errors_of(shift: str, estimator: Estimator, methods: Sequence[str]) -> KnownErrors:
    """The errors of the methods where labels exist; all NaN where none do."""
    answers = estimator.answers
    usable = [method for method in methods if not estimator.why_not(method)]
    truth = true_shares(answers)
    lost = answers.clean.right.mean(axis=1) - truth
    return KnownErrors(shift, answers.models, {method: estimator.values(method) - truth for method in usable}, lost)


def true_shares(answers: Answers) -> np.ndarray:
    """The accuracy of each model on the shifted images that have a label, (M,); NaN where none has."""
    known = (answers.shifted.verdict >= 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known > 0, answers.shifted.right.sum(axis=1) / known, np.nan)


def errors_elsewhere(index: Index, but: TwoSides, methods: Sequence[str]) -> list[KnownErrors]:
    """The same under other shifts of the store: those with labels, but attacks, which are made against a model."""
    sides = other_shifts(index, but)
    most = _most_shifts(index)
    if len(sides) > most:
        sides = [sides[place] for place in np.linspace(0, len(sides) - 1, most).round().astype(int)]
    found = []
    for one in sides:
        try:
            answers = answers_on(index, one)
        except OodometerError:  # of other images by model, or judged by groups: there is no estimate to learn from
            continue
        found.append(errors_of(index.condition_name_of[one.shifted.key], Estimator(answers), methods))
    return found


def _most_shifts(index: Index) -> int:
    """How many shifts are learnt from: fewer where there are very many models and images."""
    n_images = max((entry.n_rows for entry in index.answered), default=0)
    return int(np.clip(MOST_COMPARISONS // max(1, len(index.models) ** 2 * n_images), 1, MOST_SHIFTS))


def other_shifts(index: Index, but: TwoSides) -> list[TwoSides]:
    """The conditions with labels and a clean side that may be learnt from, in the order of the store."""
    shifts = [shift for shift in measured_shifts(index).shifts if shift.has_predictions and shift.measure == "top-1"]
    pairs = [(shift.standard.condition, side.condition) for shift in shifts for side in shift.members]
    return [
        TwoSides(clean, shifted)
        for clean, shifted in pairs
        if clean is not None and shifted is not None and shifted.attack is None and shifted.key != but.shifted.key
    ]


def expected_error(
    method: str, model: str, here: KnownErrors, elsewhere: Sequence[KnownErrors]
) -> ExpectedError | None:
    """The error to expect of a method for a model: that of the other models under this shift, else under others.

    Where the store knows no other model, its own errors under other shifts do; None where there are no labels.
    """
    others = _about(method, [here], lambda name: name != model)
    if others:
        return _summed_up(others, here=True)
    some = _about(method, elsewhere, lambda name: name != model) or _about(method, elsewhere, lambda _: True)
    return _summed_up(some, here=False) if some else None


def milder_than(lost: float, known: Sequence[KnownErrors]) -> str:
    """A line where a model is to lose more accuracy than any did where errors are known: they say little of that."""
    most = max((float(one.lost[np.isfinite(one.lost)].max(initial=-1.0)) for one in known), default=-1.0)
    if most < 0 or lost <= most:
        return ""
    return f"the expected error is that of milder shifts, where at most {100 * most:.1f} points are lost"


Difference = tuple[str, str, float]
"""A model, a shift, and how far off the estimate was."""


def _about(method: str, known: Sequence[KnownErrors], wanted: Callable[[str], bool]) -> list[Difference]:
    return [
        (model, one.shift, float(error))
        for one in known
        for model, error in zip(one.models, one.errors.get(method, np.full(len(one.models), np.nan)), strict=True)
        if wanted(model) and np.isfinite(error)
    ]


def _summed_up(differences: Sequence[Difference], *, here: bool) -> ExpectedError:
    errors = np.array([error for _, _, error in differences])
    return ExpectedError(
        float(np.abs(errors).mean()),
        float(errors.mean()),
        float(np.abs(errors).max()),
        len(errors),
        tuple(dict.fromkeys(model for model, _, _ in differences)),
        tuple(dict.fromkeys(shift for _, shift, _ in differences)),
        here,
    )
