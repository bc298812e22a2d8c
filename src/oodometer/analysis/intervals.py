"""Metrics of one cell, each with the interval that suits it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from oodometer.core.errors import OodometerError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.metrics.calibration_error import BINNINGS
from oodometer.metrics.calibration_interval import (
    calibration_estimate,
)
from oodometer.metrics.metric import Metric
from oodometer.metrics.per_class import class_accuracies, effective_images
from oodometer.metrics.smooth_calibration_interval import smooth_calibration_estimate
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


def estimate_of_its_own(
    metric: Metric, columns: tuple[np.ndarray, ...], how: IntervalOptions, clusters: np.ndarray | None
) -> Estimate | None:
    """A metric that has an interval of its own; None: it has not."""
    if metric.name in BINNINGS:
        confidence, rank = columns
        value = float(metric.of(*columns))
        return calibration_estimate(metric.name, confidence, rank == 0, value=value, level=how.level, clusters=clusters)
    if metric.name == "smooth-ece":
        confidence, rank = columns
        return smooth_calibration_estimate(confidence, rank == 0, level=how.level, clusters=clusters, seed=how.seed)
    if metric.name == "balanced":
        label, rank = columns
        return _balanced(label, rank, how, clusters)
    if metric.name == "worst-class" and not how.resamples_all:
        classes = class_accuracies(*columns)
        return least_share_of(classes.right, classes.n, level=how.level)
    return None


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
    return SharedDraws(np.concatenate([means, draws]), len(scores), resampling, name_of(clusters), n_groups(clusters))


def n_groups(clusters: np.ndarray | None) -> int | None:
    """How many groups there are, if any."""
    return None if clusters is None else len(np.unique(clusters))


def name_of(clusters: np.ndarray | None) -> str:
    """What the interval is called."""
    return "bootstrap" if clusters is None else "cluster bootstrap"
