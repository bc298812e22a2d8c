"""Metrics of one cell, each with the interval that suits it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from oodometer.core.errors import OodometerError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import Predictions
from oodometer.metrics.calibration_error import BINNINGS
from oodometer.metrics.calibration_interval import calibration_estimate
from oodometer.metrics.metric import Metric, columns_of
from oodometer.metrics.per_class import class_accuracies, effective_images
from oodometer.metrics.resampled import OF_ANSWERS, OF_CLASSES, resampled_answers, resampled_classes
from oodometer.metrics.selective import influences_on_area
from oodometer.stats.bootstrap import (
    Resampling,
    bootstrap,
    bootstrap_means,
    draws_of_means,
    interval_of,
    resample_counts,
)
from oodometer.stats.intervals import (
    DEFAULT_INTERVAL,
    check_level,
    intervals,
    least_share_of,
    mean_of,
    share_of,
    weighted_share_of,
)

BOOTSTRAPS: dict[str, Literal["percentile", "bca"]] = {"bootstrap": "percentile", "bca": "bca"}
"""Intervals that fit every metric, by name, and their method."""

FEWEST_GROUPS = 10
"""Of fewer groups a bootstrap says little: three were given [0.65, 1.00] where nothing is known."""

MANY_IMAGES = 10_000
"""From here on the interval of an area under a curve is the normal one, which a bootstrap would give in minutes."""

SORTING = ("aurra", "aurc", "rms-calibration", "rms-calibration:published", "adaptive-ece")
"""Metrics that sort the images by confidence: quicker where these are sorted already, and the same."""

KEPT_COUNTS = 1 << 22
"""Counts of a bootstrap that are kept for the next cell of as many images; more are drawn again each time."""


@dataclass(frozen=True)
class IntervalOptions:
    """Which intervals are wanted.

    Args:
        interval: ``clopper-pearson`` or ``wilson``: that for shares, Student's t for other means of one score per
            image, and the bootstrap over images for what has none of its own. ``bootstrap`` or ``bca``: that for
            everything but calibration errors, which resampling gets wrong.
        level: Of the interval.
        draws: Of the bootstrap.
        by: ``class``, or a column of the data (video, ...): images of a group are drawn together, and every interval
            is a cluster bootstrap.
        seed: Of the bootstrap.
    """

    interval: str = DEFAULT_INTERVAL
    level: float = 0.95
    draws: int = 1000
    by: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        known = [*intervals.names(), *BOOTSTRAPS]
        if self.interval not in known:
            raise UsageError(f"no interval named {self.interval!r}{did_you_mean(self.interval, known)}")

    @cached_property
    def resampling(self) -> Resampling:
        """Of what is resampled; an error where the draws are too few for the level."""
        return Resampling(self.draws, self.level, BOOTSTRAPS.get(self.interval, "percentile"), self.seed)

    @property
    def resamples_all(self) -> bool:
        """Whether every interval is a bootstrap."""
        return self.interval in BOOTSTRAPS or self.by is not None

    @property
    def of_counts(self) -> str:
        """The interval of a share that is never resampled."""
        return DEFAULT_INTERVAL if self.interval in BOOTSTRAPS else self.interval


def few_groups(n: int, by: str, where: str) -> list[str]:
    """A warning, if there are too few groups to resample.

    >>> few_groups(3, "camera", "val")
    ['--by camera: 3 groups in val; a bootstrap of fewer than 10 groups is often too narrow']
    """
    if n >= FEWEST_GROUPS:
        return []
    groups = "1 group" if n == 1 else f"{n} groups"
    return [f"--by {by}: {groups} in {where}; a bootstrap of fewer than {FEWEST_GROUPS} groups is often too narrow"]


class CellEstimates:
    """Metrics of the rows of one cell; those that are resampled share the sorting and the draws.

    Args:
        metrics: All that will be asked for.
        clusters: The group of each row, where groups are resampled.
    """

    def __init__(
        self, rows: Predictions, metrics: Sequence[Metric], how: IntervalOptions, clusters: np.ndarray | None = None
    ) -> None:
        self._rows = rows
        self._names = [metric.name for metric in metrics]
        self._how = how
        self._clusters = clusters
        self._draws: dict[str, np.ndarray] = {}
        self._sorted: tuple[np.ndarray, ...] = ()

    def of(self, metric: Metric) -> Estimate:
        """The metric with its interval."""
        clusters = self._clusters
        columns = columns_of(metric, self._rows)
        if clusters is not None and len(columns[0]) < len(self._rows):
            clusters = clusters[self._rows.rank >= 0]
        # Not for what is resampled: models on the same images are resampled alike, image by image.
        in_order = self._by_confidence(columns) if clusters is None and metric.name in SORTING else columns
        own = _of_its_own(metric, in_order, self._how, clusters)
        if own is not None:
            return own
        if metric.name not in (*OF_ANSWERS, *OF_CLASSES) or self._how.resampling.method == "bca":
            return estimate_of(metric, columns, self._how, clusters)
        value = float(metric.of(*columns))
        if metric.name not in self._draws:
            counts = counts_of(len(columns[0]), self._how.resampling, clusters)
            if metric.name in OF_ANSWERS:
                confidence, rank = columns
                names = [name for name in self._names if name in OF_ANSWERS]
                self._draws.update(resampled_answers(names, confidence, rank == 0, counts))
            else:
                names = [name for name in self._names if name in OF_CLASSES]
                label, rank = columns
                self._draws.update(resampled_classes(names, label, rank, counts))
        return interval_of(
            self._draws[metric.name],
            value,
            n=len(columns[0]),
            resampling=self._how.resampling,
            name=_name(clusters),
            groups=n_groups(clusters),
            bounds=metric.bounds,
        )

    def _by_confidence(self, columns: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Confidence and rank, sorted once for all metrics of `SORTING`."""
        if not self._sorted:
            self._sorted = by_confidence(*columns)
        return self._sorted


def by_confidence(confidence: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The confidences, float32 (N,), in order, and of each whether it is right: a rank of 0 or 1.

    Bits of positive numbers are in the order of the numbers. So one sort of whole numbers, each with the answer as its
    last bit, does the work of a sort of pairs in a tenth of the time.

    >>> confidence, rank = by_confidence(np.array([0.75, 0.5, 1.0], dtype=np.float32), np.array([0, 3, 1]))
    >>> confidence.tolist(), rank.tolist()
    ([0.5, 0.75, 1.0], [1, 0, 1])
    """
    bits = np.ascontiguousarray(confidence, dtype=np.float32).view(np.uint32)
    # Of minus nought the sign is lost, and with it nothing.
    both = np.sort((bits << np.uint32(1)) | (rank != 0))
    return (both >> np.uint32(1)).view(np.float32), (both & np.uint32(1)).astype(np.int32)


def _of_its_own(
    metric: Metric, columns: tuple[np.ndarray, ...], how: IntervalOptions, clusters: np.ndarray | None
) -> Estimate | None:
    """A metric that has an interval of its own; None: it has not."""
    if metric.name in BINNINGS:
        confidence, rank = columns
        value = float(metric.of(*columns))
        return calibration_estimate(metric.name, confidence, rank == 0, value=value, level=how.level, clusters=clusters)
    if metric.name in ("aurra", "aurc") and not how.resamples_all and len(columns[0]) >= MANY_IMAGES:
        confidence, rank = columns
        return _of_many_images(metric, confidence, rank, how.level)
    if metric.name == "balanced":
        label, rank = columns
        return _balanced(label, rank, how, clusters)
    if metric.name == "worst-class" and not how.resamples_all:
        classes = class_accuracies(*columns)
        return least_share_of(classes.right, classes.n, level=how.level)
    return None


def _of_many_images(metric: Metric, confidence: np.ndarray, rank: np.ndarray, level: float) -> Estimate:
    """An area with the normal interval that its images' influences give."""
    from scipy.special import ndtri

    value, n = float(metric.of(confidence, rank)), len(rank)
    if len(np.unique(rank == 0)) == 1:
        return Estimate(value, None, None, n, "none: all images are answered alike")
    half = float(ndtri((1 + level) / 2) * influences_on_area(confidence, rank == 0).std() / np.sqrt(n))
    low, high = np.clip([value - half, value + half], *metric.bounds).tolist()
    return Estimate(value, low, high, n, f"infinitesimal jackknife {100 * level:g}%")


def _balanced(label: np.ndarray, rank: np.ndarray, how: IntervalOptions, clusters: np.ndarray | None) -> Estimate:
    """The mean of the class accuracies: a share in which each image counts by the size of its class."""
    classes = class_accuracies(label, rank)
    if not how.resamples_all:
        value = float(classes.accuracy.mean())
        return weighted_share_of(value, effective_images(classes), n=len(label), level=how.level)
    weights = 1 / classes.n[np.searchsorted(classes.label, label)]
    # Weights stay those of all images: in a resample a class of one image would always be as it is, or left out.
    scores = np.stack([weights * (rank == 0), weights], axis=1)
    return bootstrap_means(
        scores,
        lambda means: means[:, 0] / means[:, 1],
        resampling=how.resampling,
        clusters=clusters,
        bounds=(0.0, 1.0),
    )


def estimate_of(
    metric: Metric, columns: tuple[np.ndarray, ...], how: IntervalOptions, clusters: np.ndarray | None
) -> Estimate:
    """The metric of these columns with its interval, whatever the metric.

    Args:
        columns: Those that the metric wants, of the images that it is defined for.
        clusters: The group of each of these images, where groups are resampled.
    """
    if metric.kind == "whole":
        if "confidence" in metric.columns:
            # Sorted once, and so is every resample of them: what sorts by confidence is then linear in each draw.
            order = np.argsort(columns[metric.columns.index("confidence")], kind="stable")
            columns = tuple(column[order] for column in columns)
            clusters = clusters if clusters is None else clusters[order]
        return bootstrap(columns, metric.of, resampling=how.resampling, clusters=clusters, bounds=metric.bounds)
    scores = _scores(metric, columns)
    if metric.kind == "share":
        return share_estimate(scores, how, clusters)
    if how.resamples_all:
        return bootstrap_means(scores, resampling=how.resampling, clusters=clusters)
    return mean_of(scores, level=how.level, bounds=metric.bounds)


def _scores(metric: Metric, columns: tuple[np.ndarray, ...]) -> np.ndarray:
    """One score per image, also where the metric is somebody's own."""
    scores = np.asarray(metric.of(*columns))
    if scores.shape != (len(columns[0]),):
        raise OodometerError(
            f"{metric.name}: gave an array of shape {scores.shape} for {len(columns[0])} images; a metric of kind "
            f"{metric.kind!r} gives one score for each"
        )
    if metric.kind == "share" and not ((scores == 0) | (scores == 1)).all():
        raise OodometerError(f"{metric.name}: gave scores other than 0 and 1; make it of kind 'mean'")
    return scores


def share_estimate(right: np.ndarray, how: IntervalOptions, clusters: np.ndarray | None) -> Estimate:
    """The share of True, (N,), with its interval."""
    if how.resamples_all:
        return bootstrap_means(right, resampling=how.resampling, clusters=clusters)
    return share_of(int(right.sum()), len(right), interval=how.interval, level=how.level)


def counts_of(n: int, resampling: Resampling, clusters: np.ndarray | None) -> Iterable[np.ndarray]:
    """How often each image is drawn in each resample, in blocks (d, N): with its group where groups are drawn."""
    if clusters is not None:
        return _cluster_counts(clusters, resampling)
    return _kept_counts(n, resampling) if n * resampling.draws <= KEPT_COUNTS else resample_counts(n, resampling)


@lru_cache(maxsize=4)
def _kept_counts(n: int, resampling: Resampling) -> tuple[np.ndarray, ...]:
    return tuple(resample_counts(n, resampling))


def _cluster_counts(clusters: np.ndarray, resampling: Resampling) -> Iterator[np.ndarray]:
    groups, codes = np.unique(clusters, return_inverse=True)
    if len(groups) < 2:
        raise OodometerError("all images are in one cluster: a cluster bootstrap needs two or more")
    step = max(KEPT_COUNTS // len(clusters), 1)
    for block in resample_counts(len(groups), resampling):
        for start in range(0, len(block), step):
            yield block[start : start + step, codes]


@dataclass(frozen=True)
class SharedDraws:
    """Means over images, several at once: all of them over the same resampled images.

    Args:
        means: (1 + D, C): the means over all images, then those of each draw.
        n: The number of images.
        name: Of the bootstrap.
        groups: How many groups were resampled, if any.
    """

    means: np.ndarray
    n: int
    resampling: Resampling
    name: str
    groups: int | None = None

    def estimate(self, values: np.ndarray, *, least: float = -np.inf) -> Estimate:
        """The interval of a number that is a function of the means, (1 + D,); its first entry is the number.

        Args:
            least: What the number can't lie below.
        """
        value = float(values[0])
        return interval_of(
            values[1:],
            value,
            n=self.n,
            resampling=self.resampling,
            name=self.name,
            groups=self.groups,
            bounds=(least, np.inf),
        )


def shared_draws(scores: np.ndarray, how: IntervalOptions, clusters: np.ndarray | None = None) -> SharedDraws:
    """The means of each column of the scores, (N, C), over all images and over each resample of them."""
    # Functions of many means get percentile intervals: BCa would need them with each image left out as well.
    resampling = replace(how.resampling, method="percentile")
    draws = draws_of_means(scores, resampling=resampling, clusters=clusters)
    means = scores.mean(axis=0, dtype=np.float64, keepdims=True)
    return SharedDraws(np.concatenate([means, draws]), len(scores), resampling, _name(clusters), n_groups(clusters))


def n_groups(clusters: np.ndarray | None) -> int | None:
    """How many groups there are, if any."""
    return None if clusters is None else len(np.unique(clusters))


def _name(clusters: np.ndarray | None) -> str:
    return "bootstrap" if clusters is None else "cluster bootstrap"
