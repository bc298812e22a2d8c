"""The mean over a finite set of images from few labels, with the help of what is known of all images.

Prediction-powered inference (Angelopoulos et al., Science 382, 2023; with power tuning: PPI++, 2023): proxies of the
outcome (confidence, agreement with other models) are known for every image, the outcome for the labelled ones alone. A
line from the proxies to the outcome is fitted on the labelled images; the estimate is the mean of the line over all
images. In survey sampling it is the regression estimator (Särndal, Swensson and Wretman 1992), which also knows what to
do where some images were more likely to be labelled than others. It is right whatever the proxies are worth: those that
are worth nothing get the weight 0, and gain nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.finite_share import finite_share_of
from oodometer.stats.intervals import check_level, weighted_share_of
from oodometer.stats.paired import PairedCounts, paired_difference

FEWEST_LABELS = 100
"""Below, the interval of the regression is not trusted: it is exact for large samples."""

FEWEST_OF_EACH = 15
"""Right and wrong answers that must be among the labelled: near 0 and 1 the spread of the rest is not known well
enough."""

LABELS_PER_PROXY = 20
"""With fewer, the line follows the labelled images more than the proxies."""

SAME = 1e-9


@dataclass(frozen=True)
class FromFewLabels:
    """A mean over all images of a set, from some of them.

    Args:
        estimate: With the interval that holds; n is the number of labels.
        plain: The same from the labelled images alone, without proxies.
        worth: How many labels of a plain random sample would tell as much.
        weights: Of each proxy; empty where the proxies are not used.
        why_not: Why the proxies are not used, in words; empty where they are.
        of: How many images there are in all.
    """

    estimate: Estimate
    plain: Estimate
    worth: float
    weights: tuple[float, ...]
    why_not: str
    of: int

    @property
    def n(self) -> int:
        """How many images are labelled."""
        assert self.estimate.n is not None
        return self.estimate.n

    @property
    def factor(self) -> float:
        """How many times as many labels a plain random sample would need."""
        return self.worth / self.n

    @property
    def saved(self) -> int:
        """How many labels were saved; none, where the proxies are worth nothing."""
        return max(round(self.worth) - self.n, 0)


class Labelled(NamedTuple):
    """Which images are labelled.

    Args:
        places: Of the labelled images among all, (n,).
        probabilities: With which each of these was to be among them, (n,).
        of: How many images there are in all.
    """

    places: np.ndarray
    probabilities: np.ndarray
    of: int

    @property
    def equal(self) -> bool:
        """Whether every image was equally likely."""
        return bool(np.ptp(self.probabilities) <= SAME)


def labelled_images(places: np.ndarray, of: int, probabilities: np.ndarray | None = None) -> Labelled:
    """The labelled images of so many; without probabilities a plain random sample.

    >>> labelled_images(np.array([4, 1]), 10).probabilities.tolist()
    [0.2, 0.2]
    """
    places = np.asarray(places)
    n = len(places)
    if n == 0:
        raise OodometerError("no labelled images: the mean is undefined")
    if len(np.unique(places)) != n or places.min() < 0 or places.max() >= of:
        raise OodometerError(f"the labelled images must be different ones of the {of}")
    chances = np.full(n, n / of) if probabilities is None else np.asarray(probabilities, dtype=np.float64)
    if chances.shape != (n,) or not ((chances > 0) & (chances <= 1)).all():
        raise OodometerError("every labelled image needs the probability with which it was chosen, above 0 and up to 1")
    return Labelled(places, chances, of)


def mean_from_few(
    outcomes: np.ndarray, proxies: np.ndarray, labelled: Labelled, *, level: float = 0.95
) -> FromFewLabels:
    """The mean outcome over all images.

    Args:
        outcomes: Of the labelled images, (n,): bool, whether an answer is right; whole numbers -1, 0 and 1, the
            difference between two answers; or any other numbers.
        proxies: Of all images, (N,) or (N, k): anything that may tell of the outcome.

    >>> rng = np.random.default_rng(0)
    >>> chance = rng.random(5000)
    >>> right = rng.random(5000) < chance
    >>> some = rng.permutation(5000)[:200]
    >>> found = mean_from_few(right[some], chance, labelled_images(some, 5000))
    >>> print(found.estimate)
    0.4794 [0.4272, 0.5317]  n=200
    >>> print(found.plain, round(found.worth))
    0.4900 [0.4204, 0.5600]  n=200 330
    """
    check_level(level)
    kind, (least, most) = _kind_of(outcomes)
    values = np.asarray(outcomes, dtype=np.float64)
    known = np.asarray(proxies, dtype=np.float64).reshape(labelled.of, -1)
    _check(values, known, labelled)
    if len(values) == labelled.of:
        whole = plain_mean(outcomes, labelled, level=level)
        return FromFewLabels(whole, whole, float(labelled.of), (), "all images are labelled", labelled.of)
    plain = plain_mean(outcomes, labelled, level=level)
    worth_plain = _worth_of_plain(values, labelled, level)
    used = np.flatnonzero(np.ptp(known[labelled.places], axis=0) > SAME)
    why_not = _too_few(values, kind) or _unusable(len(used), len(values))
    if not why_not:
        fitted = regression(values, known[:, used], labelled)
        half = fitted.half_width(level)
        worth = _worth(values, labelled, half, level)
        if worth <= worth_plain:
            why_not = "the proxies tell nothing about the outcome"
    if why_not:
        return FromFewLabels(plain, plain, worth_plain, (), why_not, labelled.of)
    weights = np.zeros(known.shape[1])
    weights[used] = fitted.slopes
    value = min(max(fitted.mean, least), most)
    low, high = max(fitted.mean - half, least), min(fitted.mean + half, most)
    estimate = Estimate(value, low, high, len(values), f"prediction-powered {100 * level:g}%")
    return FromFewLabels(estimate, plain, worth, tuple(weights.tolist()), "", labelled.of)


class Regression(NamedTuple):
    """A line from proxies to outcomes, and its mean over all images.

    Args:
        mean: Over all images.
        variance: Of that mean.
        free: Degrees of freedom that are left.
        slopes: Of each proxy, (k,).
    """

    mean: float
    variance: float
    free: int
    slopes: np.ndarray

    def half_width(self, level: float) -> float:
        """Of the interval, by Student's t."""
        from scipy.special import stdtrit

        return float(stdtrit(self.free, (1 + level) / 2)) * float(np.sqrt(self.variance))


def regression(values: np.ndarray, proxies: np.ndarray, labelled: Labelled) -> Regression:
    """The regression estimator of the mean, with proxies of all images (N, k); k may be 0.

    The variance is that of the residuals, each as if the line had been fitted without it (the jackknife's, so that a
    line with many proxies is no surer than it should be), and weighted as the mean weighs them.
    """
    here = np.column_stack([np.ones(len(values)), proxies[labelled.places]])
    there = np.concatenate([[1.0], proxies.mean(axis=0)])
    times = 1 / labelled.probabilities
    # By singular values, since proxies may nearly be the same.
    directions, sizes, turned = np.linalg.svd(here * np.sqrt(times)[:, None], full_matrices=False)
    kept = sizes > sizes[0] * SAME
    directions, inverse = directions[:, kept], turned[kept].T / sizes[kept]
    line = inverse @ (directions.T @ (values * np.sqrt(times)))
    leverage = (directions**2).sum(axis=1)
    weights = times * (here @ (inverse @ (inverse.T @ there)))
    residuals = (values - here @ line) / np.maximum(1 - leverage, SAME)
    variance = float(((1 - labelled.probabilities) * (weights * residuals) ** 2).sum())
    return Regression(float(there @ line), variance, len(values) - int(kept.sum()), line[1:])


def plain_mean(outcomes: np.ndarray, labelled: Labelled, *, level: float = 0.95) -> Estimate:
    """The mean from the labelled images alone, with the exact interval where there is one; as `mean_from_few`.

    >>> print(plain_mean(np.array([True] * 150 + [False] * 50), labelled_images(np.arange(200), 5000)))
    0.7500 [0.6854, 0.8072]  n=200
    """
    kind, (least, most) = _kind_of(outcomes)
    values, n = np.asarray(outcomes, dtype=np.float64), len(outcomes)
    if n == labelled.of:
        mean = float(values.mean())
        return Estimate(mean, mean, mean, n, "all images are labelled")
    if labelled.equal and kind == "share":
        return finite_share_of(int(values.sum()), n, of=labelled.of, level=level)
    if kind == "difference" and (labelled.equal or not values.any()):
        size = n if labelled.equal else int(_effective(labelled))
        lost, won = int((values < 0).sum()), int((values > 0).sum())
        found = paired_difference(PairedCounts(size - lost - won, lost, won, 0), level=level)
        return replace(found, n=n)
    if np.ptp(values) == 0:
        value = float(values[0])
        if kind == "share":
            return weighted_share_of(value, _effective(labelled), n=n, level=level)
        return Estimate(value, None, None, n, "none: all outcomes are equal")
    fitted = regression(values, np.zeros((labelled.of, 0)), labelled)
    if kind == "share":
        effective = fitted.mean * (1 - fitted.mean) / fitted.variance if fitted.variance else n
        return weighted_share_of(fitted.mean, min(effective, n), n=n, level=level)
    half = fitted.half_width(level)
    low, high = max(fitted.mean - half, least), min(fitted.mean + half, most)
    return Estimate(fitted.mean, low, high, n, f"student-t {100 * level:g}%")


Kind = Literal["share", "difference", "number"]


def _kind_of(outcomes: np.ndarray) -> tuple[Kind, tuple[float, float]]:
    """What the outcomes are, by their type, and what their mean can be."""
    values = np.asarray(outcomes)
    if values.dtype == bool:
        return "share", (0.0, 1.0)
    if np.issubdtype(values.dtype, np.integer):
        if not np.isin(values, (-1, 0, 1)).all():
            raise OodometerError("whole numbers must be -1, 0 or 1, a difference of two answers; give others as floats")
        return "difference", (-1.0, 1.0)
    return "number", (-np.inf, np.inf)


def _check(values: np.ndarray, known: np.ndarray, labelled: Labelled) -> None:
    if values.shape != labelled.places.shape:
        raise OodometerError(f"outcomes of shape {values.shape} for {len(labelled.places)} labelled images")
    if not np.isfinite(values).all():
        raise OodometerError("some outcomes are NaN or infinite: their mean is undefined")
    if not np.isfinite(known).all():
        raise OodometerError("some proxies are NaN or infinite; a proxy must be known for every image")


def _too_few(values: np.ndarray, kind: Kind) -> str:
    """Why so few labels do not carry a line, in words; empty where they do."""
    if len(values) < FEWEST_LABELS:
        return f"fewer than {FEWEST_LABELS} labels"
    rarer = int(min(values.sum(), len(values) - values.sum())) if kind == "share" else int((values != 0).sum())
    if kind != "number" and rarer < FEWEST_OF_EACH:
        what = {"share": "right or wrong ones", "difference": "images on which they differ"}[kind]
        return f"fewer than {FEWEST_OF_EACH} {what} among the labelled"
    return "all outcomes are equal" if np.ptp(values) == 0 else ""


def _unusable(n_proxies: int, n: int) -> str:
    """Why there is no line through so many proxies, in words; empty where there is."""
    if n_proxies == 0:
        return "the proxies are the same for all images"
    return f"fewer than {LABELS_PER_PROXY} labels for each proxy" if n < LABELS_PER_PROXY * n_proxies else ""


def _effective(labelled: Labelled) -> float:
    """As many equal images as the labelled ones are worth where nothing is known of the outcomes (Kish 1965)."""
    times = 1 / labelled.probabilities
    return float(times.sum() ** 2 / (times**2).sum())


def _worth_of_plain(values: np.ndarray, labelled: Labelled, level: float) -> float:
    """How many equally likely labels are worth the labelled ones, without proxies."""
    if labelled.equal:
        return float(len(values))
    if np.ptp(values) == 0 or len(values) < 2:
        return _effective(labelled)
    fitted = regression(values, np.zeros((labelled.of, 0)), labelled)
    return _worth(values, labelled, fitted.half_width(level), level)


def _worth(values: np.ndarray, labelled: Labelled, half: float, level: float) -> float:
    """How many labels of a plain random sample of this finite set have an interval of this half width."""
    from scipy.special import ndtri

    times = 1 / labelled.probabilities
    mean = float((times * values).sum() / times.sum())
    spread = float((times * (values - mean) ** 2).sum() / times.sum()) * len(values) / (len(values) - 1)
    return spread / ((half / float(ndtri((1 + level) / 2))) ** 2 + spread / labelled.of)
