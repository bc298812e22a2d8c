"""The methods by which an accuracy is estimated without labels, each from the answers of all models at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from oodometer.analysis.unlabelled_answers import Answers
from oodometer.core.errors import OodometerError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.metrics.agreement import agreement_counts
from oodometer.stats.agreement_line import FEWEST_MODELS, agreement_line, aline_d, aline_s
from oodometer.stats.confidence_estimates import (
    average_thresholded_confidence,
    difference_estimate,
    difference_of_confidences,
    thresholded_estimate,
)
from oodometer.stats.grouped_jackknife import jackknife_interval
from oodometer.stats.lines import Line
from oodometer.stats.scales import from_scale, to_scale

ALINE_S, ALINE_D = "aline-s", "aline-d"
ATC_CONFIDENCE, ATC_ENTROPY, CONFIDENCE_DIFFERENCE = "atc-confidence", "atc-entropy", "confidence-difference"

METHODS = {
    ALINE_S: "agreement on the line, the line of all pairs of models",
    ALINE_D: "agreement on the line, every pair by itself",
    ATC_CONFIDENCE: "average thresholded confidence, by the largest probability",
    ATC_ENTROPY: "average thresholded confidence, by the negative entropy",
    CONFIDENCE_DIFFERENCE: "clean accuracy less what the mean confidence loses",
}
"""Each with what it is."""

BY_AGREEMENT = (ALINE_S, ALINE_D)
"""Those that need several models, and no confidences."""


@dataclass(frozen=True)
class Counts:
    """On how many images of each group models agree, (G, M, M) for each side, and are right on clean ones, (G, M)."""

    agree_clean: np.ndarray
    agree_shifted: np.ndarray
    right_clean: np.ndarray

    def shares(self, without: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Clean accuracies (M,), clean and shifted agreements (M, M), without a group."""
        clean, shifted, right = (
            counts.sum(axis=0) - (0 if without is None else counts[without])
            for counts in (self.agree_clean, self.agree_shifted, self.right_clean)
        )
        return right / clean[0, 0], clean / clean[0, 0], shifted / shifted[0, 0]


@dataclass(frozen=True, eq=False)
class Estimator:
    """What every method tells of the models of some answers."""

    answers: Answers

    @cached_property
    def counts(self) -> Counts:
        """The agreements of all pairs, counted once."""
        clean, shifted = self.answers.clean, self.answers.shifted
        # On the diagonal of the agreements stands how many images a group has.
        right = np.stack([np.bincount(clean.group, weights=right) for right in clean.right], axis=1)
        return Counts(
            agreement_counts(clean.prediction, clean.group),
            agreement_counts(shifted.prediction, shifted.group),
            right.astype(np.int64),
        )

    @cached_property
    def line(self) -> Line:
        """The line through the agreements of all pairs."""
        return agreement_line(*self.counts.shares(None)[1:])

    def why_not(self, method: str) -> str:
        """Why a method can't be used on these answers; empty where it can."""
        n, answers = len(self.answers.models), self.answers
        if method in BY_AGREEMENT:
            if n < FEWEST_MODELS:
                many = f"{n} model was" if n == 1 else f"{n} models were"
                return f"{many} run on both sides, and a line through agreements needs {FEWEST_MODELS}; run more models"
            if answers.is_attacked:
                return "every model saw changes of its own, so that no two saw the same images"
            try:
                _ = self.line
            except OodometerError as why:
                return str(why)
            return ""
        name = "entropy" if method == ATC_ENTROPY else "confidence"
        unknown = [np.isnan(getattr(side, name)).any() for side in (answers.clean, answers.shifted)]
        return f"no {name} of the answers is stored, only the classes" if any(unknown) else ""

    def values(self, method: str) -> np.ndarray:
        """The estimate of each model, (M,); NaN where it is undefined."""
        if method in BY_AGREEMENT:
            return self._by_agreement(method, None)
        scores = [self.scores(method, model) for model in range(len(self.answers.models))]
        if method == CONFIDENCE_DIFFERENCE:
            return np.clip([difference_of_confidences(*some) for some in scores], 0, 1)
        return np.array([average_thresholded_confidence(*some).accuracy for some in scores])

    def estimates(self, method: str, *, level: float) -> list[Estimate]:
        """The same with intervals over images: where the estimate would be with very many of both sides."""
        if method in BY_AGREEMENT:
            return self._agreement_estimates(method, level)
        by = difference_estimate if method == CONFIDENCE_DIFFERENCE else thresholded_estimate
        models = range(len(self.answers.models))
        return [by(*self.scores(method, model), shared=self.answers.shared, level=level) for model in models]

    def scores(self, method: str, model: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How sure a model is of each clean image, whether it is right there, and how sure of each shifted one."""
        clean, shifted = self.answers.clean, self.answers.shifted
        if method == ATC_ENTROPY:
            return -clean.entropy[model], clean.right[model], -shifted.entropy[model]
        return clean.confidence[model], clean.right[model], shifted.confidence[model]

    def _by_agreement(self, method: str, without: int | None) -> np.ndarray:
        by = aline_s if method == ALINE_S else aline_d
        try:
            return by(*self.counts.shares(without))
        except OodometerError:
            return np.full(len(self.answers.models), np.nan)

    def _agreement_estimates(self, method: str, level: float) -> list[Estimate]:
        n_groups = int(self.answers.clean.group.max()) + 1
        without = np.stack([self._by_agreement(method, group) for group in range(n_groups)])
        # On the scale of the line, where an interval can't leave [0, 1].
        places = zip(to_scale(self.values(method), "probit"), to_scale(without, "probit").T, strict=True)
        n, bounds = self.answers.shifted.n_images, (-np.inf, np.inf)
        return [
            _as_share(jackknife_interval(float(place), of_model, n=n, level=level, bounds=bounds))
            for place, of_model in places
        ]


def _as_share(on_probit: Estimate) -> Estimate:
    value, low, high = (
        None if place is None else float(from_scale(place, "probit"))
        for place in (on_probit.value, on_probit.low, on_probit.high)
    )
    assert value is not None
    return Estimate(value, low, high, on_probit.n, on_probit.interval)


def check_methods(methods: Sequence[str]) -> tuple[str, ...]:
    """The methods that are asked for, each once; all of them where none is."""
    for method in methods:
        if method not in METHODS:
            raise UsageError(f"no method named {method!r}{did_you_mean(method, METHODS)}")
    return tuple(dict.fromkeys(methods)) or tuple(METHODS)
