"""Where the assumption behind an estimate without labels visibly fails."""

from __future__ import annotations

import numpy as np

from oodometer.analysis.unlabelled_methods import (
    ATC_CONFIDENCE,
    ATC_ENTROPY,
    BY_AGREEMENT,
    CONFIDENCE_DIFFERENCE,
    Estimator,
)
from oodometer.analysis.unlabelled_sides import maybe_of_no_class
from oodometer.stats.agreement_line import pairs_of_models
from oodometer.stats.confidence_estimates import average_thresholded_confidence, difference_of_confidences
from oodometer.stats.scales import to_scale

LEAST_R2 = 0.95
"""Of the line of agreement on the probit scale; below it, the agreements are no line."""
FEW_MODELS = 5
"""With fewer there are at most six pairs, and a straight line through them says little."""
BEYOND = 0.5
"""So far from the clean agreements a clean accuracy may be, in parts of how far they reach on the probit scale."""
SATURATED_FROM, SATURATED_SHARE = 0.999, 0.5
"""Where more than this share of the confidences are so high, they hardly tell images apart."""
MOST_TIED = 0.01
"""Of the clean images, those that have the very score of the threshold."""


def doubts_about(estimator: Estimator, method: str, model: int) -> tuple[str, ...]:
    """A line for each sign that an estimate can't be right."""
    found = _of_agreement(estimator, model) if method in BY_AGREEMENT else _of_confidence(estimator, method, model)
    return (*found, *_of_no_class(estimator))


def _of_agreement(estimator: Estimator, model: int) -> list[str]:
    line, n = estimator.line, len(estimator.answers.models)
    accuracy, clean, shifted = estimator.counts.shares(None)
    pairs = pairs_of_models(clean, shifted)
    said = []
    if line.r2 < LEAST_R2:
        off = 100 * float(np.sqrt(np.mean((line.at(clean[pairs]) - shifted[pairs]) ** 2)))
        said.append(
            f"agreement is off the line: R² {line.r2:.2f} over {line.n} pairs, less than {LEAST_R2:g}; pairs are "
            f"{off:.1f} points off it"
        )
    if n < FEW_MODELS:
        said.append(f"the line goes through the pairs of {n} models only; with {FEW_MODELS} or more it can be judged")
    low, high = clean[pairs].min(), clean[pairs].max()
    first, last, place = to_scale(np.array([low, high, accuracy[model]]), "probit")
    reach = BEYOND * (last - first)
    if not first - reach <= place <= last + reach:
        said.append(
            f"beyond the line: the clean accuracy is far from the clean agreements of pairs, which go from {low:.3f} "
            f"to {high:.3f}"
        )
    return said


def _of_confidence(estimator: Estimator, method: str, model: int) -> list[str]:
    answers = estimator.answers
    clean, shifted = answers.clean.confidence[model], answers.shifted.confidence[model]
    said = []
    saturated = float((clean >= SATURATED_FROM).mean())
    if saturated > SATURATED_SHARE:
        said.append(
            f"saturated confidences: {100 * saturated:.0f} % of those on clean images are {SATURATED_FROM:g} or more, "
            "and hardly tell right from wrong"
        )
    if method in (ATC_CONFIDENCE, ATC_ENTROPY):
        _, threshold, tied = average_thresholded_confidence(*estimator.scores(method, model))
        if np.isinf(threshold):
            every = "all" if threshold < 0 else "none"
            said.append(f"right on {every} of the clean images: no threshold tells right from wrong")
        if tied > MOST_TIED and tied * len(clean) > 1.5:  # one image of few is no tie
            said.append(f"{100 * tied:.0f} % of the clean images have the very score of the threshold")
    if method == CONFIDENCE_DIFFERENCE:
        raw = difference_of_confidences(clean, answers.clean.right[model], shifted)
        if not 0 <= raw <= 1:
            said.append(f"it came out as {raw:.3f}, which is no share, and is cut off")
    if answers.is_attacked:
        said.append("an attack changes images until the model is sure of a wrong class: confidences say nothing there")
    return said


def _of_no_class(estimator: Estimator) -> list[str]:
    condition = estimator.answers.cells[0][1].condition
    if (estimator.answers.shifted.verdict >= 0).any() or not maybe_of_no_class(condition):
        return []
    return ["run as images of no class: if they are, no answer is right and every estimate is wrong"]
