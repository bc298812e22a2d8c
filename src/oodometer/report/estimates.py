"""A metric on one cell, with the interval that suits it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.metrics.metric import Metric
from oodometer.stats.bootstrap import Resampling, bootstrap, bootstrap_means, draws_of_means, interval_of
from oodometer.stats.intervals import DEFAULT_INTERVAL, check_level, intervals, mean_of, share_of

BOOTSTRAPS: dict[str, Literal["percentile", "bca"]] = {"bootstrap": "percentile", "bca": "bca"}
"""Intervals that fit every metric, by name, and their method."""


@dataclass(frozen=True)
class How:
    """Which intervals are wanted.

    Args:
        interval: ``clopper-pearson`` or ``wilson``: that for shares, Student's t for other means of one score per
            image, and the bootstrap over images for everything else. ``bootstrap`` or ``bca``: that for everything.
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
    resampling: Resampling = field(init=False)

    def __post_init__(self) -> None:
        check_level(self.level)
        known = [*intervals.names(), *BOOTSTRAPS]
        if self.interval not in known:
            raise UsageError(f"no interval named {self.interval!r}{did_you_mean(self.interval, known)}")
        method = BOOTSTRAPS.get(self.interval, "percentile")
        object.__setattr__(self, "resampling", Resampling(self.draws, self.level, method, self.seed))

    @property
    def resamples_all(self) -> bool:
        """Whether every interval is a bootstrap."""
        return self.interval in BOOTSTRAPS or self.by is not None


def estimate_of(metric: Metric, columns: tuple[np.ndarray, ...], how: How, clusters: np.ndarray | None) -> Estimate:
    """The metric of these columns with its interval.

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
        return bootstrap(columns, metric.of, resampling=how.resampling, clusters=clusters)
    scores = np.asarray(metric.of(*columns))
    if how.resamples_all:
        return bootstrap_means(scores, resampling=how.resampling, clusters=clusters)
    if metric.kind == "share":
        return share_of(int(scores.sum()), len(scores), interval=how.interval, level=how.level)
    return mean_of(scores, level=how.level)


@dataclass(frozen=True)
class SharedDraws:
    """Means over images, several at once: all of them over the same resampled images.

    Args:
        means: (1 + D, C): the means over all images, then those of each draw.
        n: The number of images.
    """

    means: np.ndarray
    n: int
    resampling: Resampling
    name: str

    def estimate(self, values: np.ndarray) -> Estimate:
        """The interval of a number that is a function of the means, (1 + D,); its first entry is the number."""
        return interval_of(values[1:], float(values[0]), n=self.n, resampling=self.resampling, name=self.name)


def shared_draws(scores: np.ndarray, how: How, clusters: np.ndarray | None = None) -> SharedDraws:
    """The means of each column of the scores, (N, C), over all images and over each resample of them."""
    # Functions of many means get percentile intervals: BCa would need them with each image left out as well.
    resampling = replace(how.resampling, method="percentile")
    draws = draws_of_means(scores, resampling=resampling, clusters=clusters)
    means = scores.mean(axis=0, dtype=np.float64, keepdims=True)
    name = "bootstrap" if clusters is None else "cluster bootstrap"
    return SharedDraws(np.concatenate([means, draws]), len(scores), resampling, name)
