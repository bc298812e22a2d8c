"""The bootstrap over images: intervals of numbers that have no formula of their own.

All functions resample from the seed alone: the same seed and number of images (or clusters) give the same resamples,
whatever is computed from them. So the draws of two models on the same images are paired; for two sets of other images
take two seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.core.random import rng_for
from oodometer.stats.intervals import check_level
from oodometer.stats.kept_draws import Draws, kept_sums

MOST_UNDEFINED = 0.05
"""The largest share of draws in which a statistic may be undefined."""

JACKKNIFE_GROUPS = 200
"""The most groups that are left out, one at a time, for the acceleration of BCa."""

CELLS = 1 << 22
"""Draws times images that are held at once; some 12 bytes each."""

NEAR = 1 << 15
"""Draws times images that are counted at once: so few that they stay in the processor's cache."""

EXACT = 1 << 24
"""Sums of fewer zeros and ones are exact in single precision, at twice the speed."""

Means = Callable[[np.ndarray], np.ndarray]
"""Means (D, C) -> one number for each row, (D,)."""


@dataclass(frozen=True)
class Resampling:
    """How to resample, and which interval to make of it.

    Args:
        draws: The number of resamples.
        level: Of the interval.
        method: ``percentile``: the quantiles of the draws. ``bca``: quantiles corrected for bias and skewness (Efron,
            JASA 82, 1987), better for small samples of skewed scores.
        seed: The same seed gives the same resamples.
    """

    draws: int = 1000
    level: float = 0.95
    method: Literal["percentile", "bca"] = "percentile"
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        # With fewer, the bounds would be the extremes of the draws rather than their quantiles.
        fewest = max(100, int(np.ceil(2 / (1 - self.level) - 1e-9)))
        if self.draws < fewest:
            raise UsageError(f"{self.draws} draws: a {_percent(self.level)} bootstrap needs {fewest} or more")
        if self.method not in ("percentile", "bca"):
            raise OodometerError(f"no bootstrap method named {self.method!r}; known: bca, percentile")


DEFAULT = Resampling()


def bootstrap(
    columns: Sequence[np.ndarray],
    statistic: Callable[..., float],
    *,
    resampling: Resampling = DEFAULT,
    clusters: np.ndarray | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Estimate:
    """A statistic of all images with the interval from resampling them.

    The rows of all columns are resampled together, and stay in the order in which they came: where they come sorted,
    every resample is sorted too. A draw for which the statistic is NaN or an `OodometerError` is left out and counted
    in the interval's name; more than 5 % of them are an error. BCa leaves out each image (or cluster) in turn; where
    there are more than 200, each of 200 random groups.

    Args:
        columns: One row per image each.
        statistic: Of the columns: ``statistic(*columns)``.
        resampling: IntervalOptions.
        clusters: The class, video... of each image; whole clusters are resampled then.
        bounds: Between which the statistic lies by its nature.

    >>> scores = np.arange(100.0)
    >>> print(bootstrap([scores], np.median))
    49.5000 [39.0000, 59.0000]  n=100
    """
    arrays = [np.asarray(column) for column in columns]
    n = _length(arrays)
    codes = np.arange(n) if clusters is None else _codes(clusters, n)
    value = float(statistic(*arrays))

    def of_rows(times: np.ndarray) -> float:
        rows = np.repeat(np.arange(n), times[codes])
        try:
            return float(statistic(*(array[rows] for array in arrays)))
        except OodometerError:
            return np.nan

    units = int(codes.max()) + 1
    draws = np.array([of_rows(times) for block in resample_counts(units, resampling) for times in block])
    return interval_of(
        draws,
        value,
        n=n,
        resampling=resampling,
        jackknife=lambda: np.array([of_rows(times) for times in _leave_out(units, resampling.seed)]),
        name=_name(clusters),
        groups=None if clusters is None else units,
        bounds=bounds,
    )


def bootstrap_means(
    scores: np.ndarray,
    function: Means | None = None,
    *,
    resampling: Resampling = DEFAULT,
    clusters: np.ndarray | None = None,
    bounds: tuple[float, float] | None = None,
) -> Estimate:
    """A function of means over images, all means over the same resampled images, with its interval.

    Args:
        scores: One per image and column, (N,) or (N, C): for instance whether it was right under each condition.
        function: Means (D, C) -> (D,), one number for each row; None gives the mean of the only column.
        resampling: IntervalOptions.
        clusters: The class, video... of each image; whole clusters are resampled then.
        bounds: Between which the number lies by its nature; by default a mean between the least and greatest score.

    >>> right = np.array([[1, 1]] * 40 + [[1, 0]] * 40 + [[0, 0]] * 20)
    >>> print(bootstrap_means(right, lambda means: means[:, 0] - means[:, 1]))
    0.4000 [0.3000, 0.5000]  n=100
    """
    units = _units(scores, clusters)
    if bounds is None:
        bounds = (-np.inf, np.inf) if function else (np.min(scores), np.max(scores))
    function = function or _only_column
    n = int(units.sizes.sum())
    means = (units.sums.sum(axis=0, dtype=np.float64) / n)[None]
    return interval_of(
        function(_draws(units, resampling)),
        float(function(means)[0]),
        n=n,
        resampling=resampling,
        jackknife=lambda: np.concatenate([function(means) for means in _means_without_each(units)]),
        name=_name(clusters),
        groups=None if clusters is None else len(units.sizes),
        bounds=bounds,
    )


def draws_of_means(
    scores: np.ndarray, *, resampling: Resampling = DEFAULT, clusters: np.ndarray | None = None
) -> np.ndarray:
    """The means over the images of each resample, (D, C), for several statistics of the same draws.

    >>> draws_of_means(np.eye(3)).shape
    (1000, 3)
    """
    return _draws(_units(scores, clusters), resampling)


def interval_of(
    draws: np.ndarray,
    value: float,
    *,
    n: int,
    resampling: Resampling = DEFAULT,
    jackknife: Callable[[], np.ndarray] | None = None,
    name: str = "bootstrap",
    groups: int | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Estimate:
    """A value with the interval that its draws give, which always holds the value.

    Draws of a biased statistic may nearly all lie on one side of the value; a percentile interval then ends at the
    value, and BCa has none.

    Draws that are all equal say nothing about how far off the value may be (1,000 right of 1,000 images give them, and
    so does a single image): there is no interval then, rather than one of no width.

    Args:
        draws: The statistic on each resample, (D,); NaN where it is undefined.
        value: On all images.
        n: The number of images.
        resampling: Which interval.
        jackknife: Gives the values with each unit left out in turn; needed by BCa alone.
        name: Of the bootstrap.
        groups: How many clusters were resampled, if any: the draws of few are too close together, and are stretched.
        bounds: Between which the statistic lies by its nature.
    """
    if not np.isfinite(value):
        raise OodometerError(f"the statistic of all {n} images is {value}: there is nothing to resample")
    defined = draws[np.isfinite(draws)]
    undefined = len(draws) - len(defined)
    if undefined > MOST_UNDEFINED * len(draws):
        raise OodometerError(
            f"the statistic is undefined in {undefined} of {len(draws)} draws: too few images for a bootstrap"
        )
    hair = 1e-12 * max(1.0, abs(value))
    if np.ptp(defined) <= hair:
        return Estimate(value, None, None, n, "none: all bootstrap draws are equal")
    tail = (1 - resampling.level) / 2
    tails = np.array([tail, 1 - tail])
    if resampling.method == "bca":
        if jackknife is None:
            raise OodometerError("bca needs the values with each unit left out; use the percentile method")
        # Values within a hair of each other are equal up to rounding.
        side = np.where(np.abs(defined - value) <= hair, 0.5, defined < value)
        corrected = _bca_tails(tails, float(side.mean()), jackknife())
        if corrected is None:
            return Estimate(value, None, None, n, "none: bca is undefined for draws so far to one side of the value")
        tails, name = corrected, f"bca {name}"
    ends = value + (np.quantile(defined, tails) - value) * (1.0 if groups is None else stretch(groups, tail))
    low, high = (float(end) for end in np.clip(ends, *bounds))
    said = f" ({undefined} of {len(draws)} draws undefined)" if undefined else ""
    return Estimate(value, min(low, value), max(high, value), n, f"{name} {_percent(resampling.level)}{said}")


def stretch(groups: int, tail: float) -> float:
    """By how much the ends of an interval over so many groups lie further from the value: Student's t for the normal.

    A mean over G resampled groups has (G − 1) / G of the variance of the mean, which is itself known by G − 1 squares.

    >>> [round(stretch(groups, 0.025), 2) for groups in (5, 10, 30, 1000)]
    [1.58, 1.22, 1.06, 1.0]
    """
    from scipy.special import ndtri, stdtrit

    return float(np.sqrt(groups / (groups - 1)) * stdtrit(groups - 1, 1 - tail) / ndtri(1 - tail))


def resample_counts(units: int, resampling: Resampling = DEFAULT) -> Iterator[np.ndarray]:
    """How often each unit is drawn in each resample, in blocks (d, units) of draws.

    >>> block = next(resample_counts(5))
    >>> block.shape, bool((block.sum(axis=1) == 5).all())
    ((1000, 5), True)
    """
    rng = rng_for("bootstrap", seed=resampling.seed)
    at_once, near = max(1, CELLS // units), max(1, NEAR // units)
    for start in range(0, resampling.draws, at_once):
        block = np.empty((min(at_once, resampling.draws - start), units), dtype=np.int32)
        for row in range(0, len(block), near):
            some = block[row : row + near]
            drawn = rng.integers(units, size=some.shape) + units * np.arange(len(some))[:, None]
            some[:] = np.bincount(drawn.reshape(-1), minlength=some.size).reshape(some.shape)
        yield block


class _Units(NamedTuple):
    """What is resampled: the sums of the scores of each image or cluster, (G, C), and its size, (G,)."""

    sums: np.ndarray
    sizes: np.ndarray
    clustered: bool


def _units(scores: np.ndarray, clusters: np.ndarray | None) -> _Units:
    """The scores as units; of single precision where that is exact."""
    scores = np.asarray(scores)
    table = scores[:, None] if scores.ndim == 1 else scores
    if table.ndim != 2:
        raise OodometerError(f"scores of {scores.ndim} dimensions: expected (N,) or (N, C)")
    n = _length([table])
    if table.dtype == bool and clusters is None and n < EXACT:
        return _Units(table, np.ones(n, dtype=np.float32), clustered=False)
    if not np.isfinite(table).all():
        raise OodometerError("some scores are NaN or infinite: leave these images out, or find out where it comes from")
    if clusters is None:
        exact = n < EXACT and (table.dtype == bool or bool(((table == 0) | (table == 1)).all()))
        dtype = np.float32 if exact else np.float64
        return _Units(table.astype(dtype), np.ones(n, dtype=dtype), clustered=False)
    codes = _codes(clusters, n)
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(table[order].astype(np.float64), starts, axis=0)
    return _Units(sums, sizes.astype(np.float64), clustered=True)


def _draws(units: _Units, resampling: Resampling) -> np.ndarray:
    """The means of each resample, (D, C): with clusters a ratio of sums, since their sizes differ."""
    if not units.clustered:
        wanted = Draws(resampling.draws, resampling.seed)
        sums = kept_sums(units.sums, wanted, lambda: resample_counts(len(units.sums), resampling))
        return sums / len(units.sums)
    # The sizes as one more column: one product gives sums and sizes.
    columns = np.column_stack([units.sums, units.sizes])
    found = []
    for block in resample_counts(len(columns), resampling):
        both = block @ columns
        found.append(both[:, :-1] / both[:, -1:])
    return np.concatenate(found)


def _means_without_each(units: _Units) -> Iterator[np.ndarray]:
    """The means with each unit left out in turn, (G, C), in blocks of units."""
    sums, sizes = units.sums.sum(axis=0, dtype=np.float64), units.sizes.sum(dtype=np.float64)
    at_once = max(1, CELLS // units.sums.shape[1])
    for start in range(0, len(units.sizes), at_once):
        some = slice(start, start + at_once)
        yield (sums - units.sums[some]) / (sizes - units.sizes[some])[:, None]


def _leave_out(units: int, seed: int) -> Iterator[np.ndarray]:
    """How often each unit counts with each group left out; a group is one unit where there are few.

    Groups are drawn at random: the third and second moments of random groups are those of the single units in
    expectation, whereas groups of neighbours in sorted rows would be far apart.
    """
    groups = min(units, JACKKNIFE_GROUPS)
    member = rng_for("jackknife groups", seed=seed).permutation(units) % groups
    for group in range(groups):
        yield (member != group).astype(np.int64)


def _bca_tails(tails: np.ndarray, below: float, jackknife: np.ndarray) -> np.ndarray | None:
    """The levels of the quantiles that BCa takes, given the share of draws below the value; None: it is undefined."""
    from scipy.special import ndtr, ndtri

    deviations = jackknife.mean() - jackknife
    spread = float((deviations**2).sum()) ** 1.5
    usable = 0 < below < 1 and spread > 0
    acceleration = float((deviations**3).sum()) / (6 * spread) if usable else np.nan
    shifted = ndtri(below) + ndtri(tails)
    shrink = 1 - acceleration * shifted
    # Beyond the pole of the formula its levels would change places.
    if not (shrink > 0).all():
        return None
    found: np.ndarray = ndtr(ndtri(below) + shifted / shrink)
    return found


def _codes(clusters: np.ndarray, n: int) -> np.ndarray:
    """The clusters as numbers from 0, (N,)."""
    clusters = np.asarray(clusters)
    if clusters.shape != (n,):
        raise OodometerError(f"{n} images but clusters of shape {clusters.shape}: expected one for each image")
    names, codes = np.unique(clusters, return_inverse=True)
    if len(names) < 2:
        raise OodometerError("all images are in one cluster: a cluster bootstrap needs two or more")
    return codes


def _length(arrays: Sequence[np.ndarray]) -> int:
    """The number of images, which all columns share."""
    if not arrays:
        raise OodometerError("no columns to resample")
    lengths = {len(array) for array in arrays}
    if len(lengths) > 1:
        raise OodometerError(f"columns of different lengths: {sorted(lengths)}")
    if lengths == {0}:
        raise OodometerError("no images to resample")
    return lengths.pop()


def _only_column(means: np.ndarray) -> np.ndarray:
    if means.shape[1] != 1:
        raise OodometerError(f"scores of {means.shape[1]} columns: say which function of their means is wanted")
    return means[:, 0]


def _name(clusters: np.ndarray | None) -> str:
    return "bootstrap" if clusters is None else "cluster bootstrap"


def _percent(level: float) -> str:
    return f"{100 * level:g}%"
