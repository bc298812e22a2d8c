"""Two models on the images that both saw: one test, by name, and the interval that goes with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Protocol, get_args

import numpy as np

from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.sampled import difference_when_stopped, first_stopped, p_value_when_stopped, stopped
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.core.sample import Sample
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.corrections import CORRECTIONS, Correction
from oodometer.stats.effective_robustness import tau_from_counts
from oodometer.stats.intervals import check_level
from oodometer.stats.paired import (
    PairedCounts,
    mcnemar_exact,
    mcnemar_mid_p,
    mean_paired_difference,
    mean_paired_p,
    paired_difference,
)
from oodometer.stats.paired_bootstrap import PairedBootstrap
from oodometer.stats.ties import p_of_shares
from oodometer.store.cells import Cell
from oodometer.store.index import Index

PairTest = Literal["exact", "mid-p", "bootstrap", "bootstrap-by-class"]

EXACT, MID_P, PAIRED_T = "exact McNemar", "mid-p McNemar", "paired t"
UNPAIRED_Z = "unpaired z"
BETTING = "betting, valid whenever it was stopped"
"""What tests are called in a row."""

NO_ANSWERS = "accuracies alone are known: no answers to pair"


@dataclass(frozen=True)
class CompareOptions:
    """How models are compared.

    Args:
        test: Of two models on the same images: ``exact`` (McNemar), ``mid-p`` (the same, less cautious), ``bootstrap``
            over images, or ``bootstrap-by-class``, for which classes are resampled whole. Where how many images there
            are depends on what was seen (``run --until``), it is a confidence sequence whatever is asked for; of means
            over a family the first two are the paired t test over images.
        correct: For the number of comparisons: ``holm`` (no error at all), ``benjamini-hochberg`` (few errors among
            what is found), ``bonferroni`` or ``none``.
        level: Of the intervals and of what is told apart.
        draws: Of each bootstrap.
        seed: The same seed gives the same resamples.
    """

    test: PairTest = "exact"
    correct: Correction = "holm"
    level: float = 0.95
    draws: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        for said, known, what in (
            (self.test, get_args(PairTest), "test"),
            (self.correct, CORRECTIONS, "correction"),
        ):
            if said not in known:
                raise UsageError(f"no {what} {said!r}{did_you_mean(said, known)}; there are {', '.join(known)}")

    @property
    def resamples(self) -> bool:
        """Whether the test is a bootstrap."""
        return self.test.startswith("bootstrap")

    @property
    def by_class(self) -> bool:
        """Whether classes are resampled whole."""
        return self.test == "bootstrap-by-class"

    def resampling(self, level: float) -> Resampling:
        """Of a bootstrap whose interval has this level."""
        return Resampling(self.draws, level, seed=self.seed)


DEFAULT = CompareOptions()

SMALLEST = 1e-300
"""The smallest p-value that is told: floats end at 1e-308."""


@dataclass(frozen=True)
class Judged:
    """What a test says about two models.

    Args:
        test: Its name.
        p_value: Two-sided, of "both are equally accurate"; NaN where it can't be told.
        difference_at: The accuracy of the second minus that of the first, with its interval at a level.
        n: Images.
    """

    test: str
    p_value: float
    difference_at: Callable[[float], Estimate]
    n: int


@dataclass(frozen=True)
class PairAnswers:
    """Two models on common images.

    Args:
        right: Whether each is right on each image, or the share of conditions in which it is, (2, N).
        labels: Of these images, (N,).
        sample: Whose first images these are, in the order in which they were drawn, where how many there are depends
            on what was seen.
        ids: Of these images, where they were read for this pair.
    """

    right: np.ndarray
    labels: np.ndarray
    sample: Sample | None = None
    ids: np.ndarray | None = None


def answers_of_pair(index: Index, a: Sequence[Cell], b: Sequence[Cell]) -> PairAnswers:
    """Two models on the images that both saw under each of several conditions; their cells are in the same order."""
    sample = first_stopped([*a, *b])
    _check_order([*a, *b])
    common = right_on_common(index, [*a, *b])
    sides = common.values[: len(a)], common.values[len(a) :]
    rows = [np.mean(side, axis=0) if len(side) > 1 else side[0] for side in sides]
    return PairAnswers(np.stack(rows), common.labels, sample, common.ids)


def _check_order(cells: Sequence[Cell]) -> None:
    """An error where samples that were stopped have images in common by chance alone."""
    if len({(sample.order, sample.seed, sample.of) for cell in cells if (sample := stopped(cell))}) > 1:
        names = " and ".join(dict.fromkeys(cell.model_name for cell in cells))
        raise StoreError(
            f"{names} on {cells[0].condition_name}: their samples were stopped, and drawn in different orders; run "
            "both with one --seed"
        )


@dataclass(frozen=True)
class Resampled:
    """Models on the same images, resampled once for all pairs of them.

    Args:
        right: (M, N).
        labels: (N,).
    """

    right: np.ndarray
    labels: np.ndarray
    options: CompareOptions
    _drawn: dict[float, PairedBootstrap] = field(default_factory=dict, repr=False, compare=False)

    def judged(self, a: int, b: int) -> Judged:
        """The models at two places."""
        drawn = self._at(self.options.level)
        name = "bootstrap over images" if drawn.groups is None else f"bootstrap over {drawn.groups} classes"
        p_value = drawn.p_value(a, b)
        return Judged(name, p_value, lambda level: self._at(level).difference(a, b), self.right.shape[1])

    def _at(self, level: float) -> PairedBootstrap:
        if level not in self._drawn:
            clusters = self.labels if self.options.by_class else None
            self._drawn[level] = PairedBootstrap(self.right, clusters, self.options.resampling(level))
        return self._drawn[level]


def judged(answers: PairAnswers, options: CompareOptions) -> Judged:
    """The test that is asked for, or the one that is valid for these answers."""
    a, b = answers.right
    n = len(a)
    if answers.sample is not None:
        return judged_when_stopped(a, b, answers.sample)
    if options.resamples:
        return Resampled(answers.right, answers.labels, options).judged(0, 1)
    if a.dtype == bool:
        return judged_counts(PairedCounts.of(a, b), options)
    differences = b - a
    value = float(differences.mean())
    sd = float(differences.std(ddof=1)) if n > 1 and np.ptp(differences) > 0 else 0.0
    return judged_mean(value, sd, n)


def judged_counts(counts: PairedCounts, options: CompareOptions) -> Judged:
    """McNemar's test, exact unless mid-p is asked for, with Tango's interval."""
    mid = options.test == "mid-p"
    p_value = mcnemar_mid_p(counts) if mid else mcnemar_exact(counts)
    return Judged(MID_P if mid else EXACT, p_value, lambda level: paired_difference(counts, level=level), counts.n)


def judged_mean(value: float, sd: float, n: int) -> Judged:
    """The paired t test over images, each with the mean of its differences."""
    return Judged(
        PAIRED_T, mean_paired_p(value, sd, n), lambda level: mean_paired_difference(value, sd, n, level=level), n
    )


def judged_alone(a: Estimate, b: Estimate) -> Judged:
    """Two accuracies of which nobody knows on which images the models agree, as if each were on other images.

    Raises:
        StoreError: Of one of them it is not known of how many images it is.
    """
    if a.n is None or b.n is None:
        raise StoreError(NO_ANSWERS)
    p_value = float(p_of_shares(np.array([a.value, b.value]), np.array([a.n, b.n], dtype=np.float64))[0, 1])
    sizes = a.n, b.n
    return Judged(
        UNPAIRED_Z,
        p_value,
        lambda level: tau_from_counts(b.value, a.value, sizes[1], sizes[0], level=level),
        min(sizes),
    )


def judged_when_stopped(a: np.ndarray, b: np.ndarray, sample: Sample) -> Judged:
    """A bet against "both are equally accurate", with the confidence sequence of the difference.

    Args:
        a, b: Each in [0, 1], in the order in which the images were drawn, (n,).
    """
    p_value = p_value_when_stopped(b, a, sample)
    return Judged(BETTING, p_value, lambda level: difference_when_stopped(b, a, sample, level=level), len(a))


# In words


def verdict_of(model_b: str, difference: float, p_value: float, level: float) -> str:
    """What a test says at this level of model B."""
    if not p_value <= 1 - level:  # NaN: nothing can be told
        return "no difference shown"
    return f"{model_b} is {'better' if difference > 0 else 'worse'}"


def p_text(p_value: float) -> str:
    """A p-value behind its "p"; what is too small for a float is not nought.

    >>> p_text(0.1094), p_text(0.0), p_text(float("nan"))
    ('= 0.109', '< 1e-300', 'unknown')
    """
    if np.isnan(p_value):
        return "unknown"
    return f"= {p_value:.3g}" if p_value >= SMALLEST else f"< {SMALLEST:g}"


class WithPValue(Protocol):
    """What has a p-value."""

    @property
    def test(self) -> str:
        """Which test."""
        ...

    @property
    def p_value(self) -> float | None:
        """Of it alone."""
        ...

    @property
    def p_adjusted(self) -> float | None:
        """For the number of comparisons."""
        ...

    @property
    def correction(self) -> str:
        """How, in words."""
        ...


def p_line(tested: WithPValue) -> str:
    """A test and its p-value, and what that is after correction, where there is one."""
    p_value = float("nan") if tested.p_value is None else tested.p_value
    more = "" if tested.p_adjusted is None else f", {p_text(tested.p_adjusted)} {tested.correction}"
    return f"{tested.test} p {p_text(p_value)}{more}"


def plain_values(comparison: Any) -> dict[str, Any]:
    """The fields of a comparison but its private ones, as plain values; what can't be told is None, not NaN."""
    values = asdict(replace(comparison, _judged=None))
    return {
        key: None if isinstance(value, float) and np.isnan(value) else value
        for key, value in values.items()
        if not key.startswith("_")
    }
