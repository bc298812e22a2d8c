"""The accuracy of models on images without labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from oodometer.analysis.people import models_alone
from oodometer.analysis.points import MOST_NAMES
from oodometer.analysis.sampled import accuracy_of, stopped
from oodometer.analysis.text import listed
from oodometer.analysis.unlabelled_answers import Answers, answers_on
from oodometer.analysis.unlabelled_doubts import doubts_about
from oodometer.analysis.unlabelled_errors import KnownErrors, errors_elsewhere, errors_of, expected_error, milder_than
from oodometer.analysis.unlabelled_methods import BY_AGREEMENT, Estimator, check_methods
from oodometer.analysis.unlabelled_sides import TwoSides, asked_sides
from oodometer.analysis.unlabelled_table import UnlabelledAccuracies, UnlabelledAccuracy
from oodometer.core.errors import StoreError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import check_level
from oodometer.store.index import Index, Source, index_at


def estimate_without_labels(
    store: Source, shifted: str = "", *, clean: str = "", methods: Sequence[str] = (), level: float = 0.95
) -> UnlabelledAccuracies:
    """The accuracy of every model on images without labels, or whose labels are not looked at, by several methods.

    Each estimate has an interval over images, the error that the method has made where labels exist (of other models,
    under this shift or under others), and warnings where its assumption visibly fails. All models are judged on the
    images that all of them saw.

    Args:
        shifted: A condition, or what data are called that were seen as they are; by default the store's only set
            without labels.
        clean: The same of labelled images; by default the other side of the shift, or the clean images of the store.
        methods: Of ``aline-s``, ``aline-d``, ``atc-confidence``, ``atc-entropy``, ``confidence-difference``; none: all.
        level: Of the intervals.
    """
    check_level(level)
    wanted, index = check_methods(methods), models_alone(index_at(store))
    found = estimates_of(index, asked_sides(index, shifted, clean), wanted, level=level)
    if methods and not found.rows:
        raise StoreError(f"{index}: {found.left_out[0]}")
    return found


def estimates_of(index: Index, sides: TwoSides, methods: Sequence[str], *, level: float = 0.95) -> UnlabelledAccuracies:
    """The same of two sides; what can't be estimated is told in ``left_out``."""
    answers = answers_on(index, sides)
    estimator = Estimator(answers)
    why = {method: estimator.why_not(method) for method in methods}
    usable = [method for method in methods if not why[method]]
    here = errors_of(index.condition_name_of[sides.shifted.key], estimator, usable)
    elsewhere = errors_elsewhere(index, sides, usable) if _needs_others(here) else []
    known = _Known(estimator, here, elsewhere, level)
    by_method = {method: estimator.estimates(method, level=level) for method in usable}
    told = [(method, place, by_method[method][place]) for place in range(len(answers.models)) for method in usable]
    undefined = [
        f"{method} of {answers.models[place]}: it agrees with others always or never, or is always right or wrong"
        for method, place, estimate in told
        if np.isnan(estimate.value)
    ]
    return UnlabelledAccuracies(
        index.condition_name_of[sides.clean.key],
        index.condition_name_of[sides.shifted.key],
        answers.shifted.n_images,
        tuple(_row(known, *one) for one in told if not np.isnan(one[2].value)),
        estimator.line if any(method in BY_AGREEMENT for method in usable) else None,
        (*(f"{method}: {reason}" for method, reason in why.items() if reason), *undefined),
        (*index.problems, *answers.notes, *_learnt_from(elsewhere)),
    )


class _Known(NamedTuple):
    """What the rows are made of."""

    estimator: Estimator
    here: KnownErrors
    elsewhere: Sequence[KnownErrors]
    level: float


def _row(known: _Known, method: str, place: int, estimate: Estimate) -> UnlabelledAccuracy:
    answers = known.estimator.answers
    model, clean = answers.models[place], _accuracy(answers, place, known.level, shifted=False)
    milder = milder_than(clean.value - estimate.value, known.elsewhere)
    return UnlabelledAccuracy(
        model,
        answers.cells[place][0].model.weights[:8],
        method,
        clean,
        _valid(estimate, answers),
        expected_error(method, model, known.here, known.elsewhere),
        _accuracy(answers, place, known.level, shifted=True) if _is_labelled(answers, place) else None,
        (*doubts_about(known.estimator, method, place), *([milder] if milder else [])),
    )


def _learnt_from(elsewhere: Sequence[KnownErrors]) -> list[str]:
    """A line about the shifts whose labels tell how far off estimates are."""
    names = [one.shift for one in elsewhere if one.errors]
    return [f"expected errors are those under {listed(names, MOST_NAMES)}, where labels exist"] if names else []


def _needs_others(here: KnownErrors) -> bool:
    """Whether the shift itself can't tell how far off estimates are: no labels, or no second model."""
    known = {
        model
        for errors in here.errors.values()
        for model, error in zip(here.models, errors, strict=True)
        if np.isfinite(error)
    }
    return len(known) < 2


def _is_labelled(answers: Answers, place: int) -> bool:
    return bool((answers.shifted.verdict[place] >= 0).any())


def _accuracy(answers: Answers, place: int, level: float, *, shifted: bool) -> Estimate:
    """The accuracy by labels on one of the sides."""
    side, cell = (answers.shifted if shifted else answers.clean), answers.cells[place][int(shifted)]
    labelled = side.verdict[place] >= 0
    return accuracy_of(side.right[place, labelled], level, stopped(cell))


def _valid(estimate: Estimate, answers: Answers) -> Estimate:
    """The estimate; without its interval where how many images there are depends on what was seen of them."""
    if not any(stopped(cell) for cells in answers.cells for cell in cells):
        return estimate
    name = "none: how many images there are depends on what was seen"
    return Estimate(estimate.value, None, None, estimate.n, name)
