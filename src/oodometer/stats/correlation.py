"""Correlations over models, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling, interval_of, resample_counts
from oodometer.stats.intervals import check_level
from oodometer.stats.rank_interval import rank_bounds

FEWEST_MODELS = 4
"""With fewer, Fisher's z has no variance."""

By = Literal["simulation", "formula", "bootstrap"]
Kind = Literal["pearson", "spearman", "kendall"]
Weighted = Callable[[np.ndarray], np.ndarray]
"""How often each model counts, (D, M) -> the correlation of each row, (D,); NaN where it is undefined."""


class CorrelationMatrix(NamedTuple):
    """The correlation of each column of one table with each of another, and over how many models, both (A, B)."""

    r: np.ndarray
    n: np.ndarray


def pearson(x: np.ndarray, y: np.ndarray, *, level: float = 0.95, by: By = "formula", seed: int = 0) -> Estimate:
    """Pearson's correlation of two values of the same models; n is the number of models.

    Args:
        x: One value for each model, (M,).
        y: The other.
        level: Of the interval.
        by: ``formula`` takes Fisher's z with variance 1 / (n - 3), right for values that scatter like normal ones
            around a line; ``bootstrap`` resamples the models (BCa, 2,000 draws).
        seed: Of the bootstrap.

    >>> print(pearson(np.arange(8), np.array([1, 0, 3, 2, 5, 4, 7, 9])))
    0.9291 [0.6501, 0.9874]  n=8
    """
    return _estimate("pearson", *_checked(x, y, level), level, by=by, seed=seed)


def spearman(x: np.ndarray, y: np.ndarray, *, level: float = 0.95, by: By = "simulation", seed: int = 0) -> Estimate:
    """Spearman's rank correlation of two values of the same models; equals take the mean of their ranks.

    ``simulation`` inverts a test, see `rank_bounds`; ``formula`` is Fisher's z with variance (1 + r^2 / 2) / (n - 3)
    (Bonett & Wright, Psychometrika 65, 2000), too narrow where the ranks nearly agree. For the rest see `pearson`.

    >>> x, y = np.arange(8), np.array([1, 0, 3, 2, 5, 4, 7, 9])
    >>> print(spearman(x, y))
    0.9286 [0.5529, 0.9990]  n=8
    >>> print(spearman(x, y, by="formula"))
    0.9286 [0.5366, 0.9909]  n=8
    """
    return _estimate("spearman", *_checked(x, y, level), level, by=by, seed=seed)


def kendall(x: np.ndarray, y: np.ndarray, *, level: float = 0.95, by: By = "simulation", seed: int = 0) -> Estimate:
    """Kendall's tau-b of two values of the same models.

    ``simulation`` inverts a test, see `rank_bounds`; ``formula`` is Fisher's z with variance 0.437 / (n - 4) (Fieller,
    Hartley & Pearson, Biometrika 44, 1957), too narrow where the ranks nearly agree. For the rest see `pearson`.

    >>> x, y = np.arange(8), np.array([1, 0, 3, 2, 5, 4, 7, 9])
    >>> print(kendall(x, y))
    0.7857 [0.2769, 0.9596]  n=8
    >>> print(kendall(x, y, by="formula"))
    0.7857 [0.3904, 0.9364]  n=8
    """
    return _estimate("kendall", *_checked(x, y, level), level, by=by, seed=seed)


def pearson_matrix(x: np.ndarray, y: np.ndarray, *, fewest: int = FEWEST_MODELS) -> CorrelationMatrix:
    """Pearson's correlation of every column of one table with every column of another, models in rows.

    Each pair takes the models that have both values. Where these are fewer than ``fewest``, or one of the columns does
    not vary over them, r is NaN: not measured. Their number is in n.

    Args:
        x: (M, A), NaN where a model was not measured.
        y: (M, B), likewise.
        fewest: Models that a pair needs.

    >>> r, n = pearson_matrix(np.arange(5.0)[:, None], np.array([[0, 1], [2, 1], [1, 1], [3, 1], [np.nan, 1]]))
    >>> r.round(2).tolist(), n.tolist()
    ([[0.8, nan]], [[4, 5]])
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise OodometerError(f"tables of shapes {x.shape} and {y.shape}: expected the same models in the rows of both")
    if fewest < 2:
        raise OodometerError(f"fewest {fewest}: a correlation needs 2 models or more")
    pairs = [_with_each(column, y, fewest) for column in x.T]
    shape = (x.shape[1], y.shape[1])
    return CorrelationMatrix(
        np.array([r for r, _ in pairs]).reshape(shape), np.array([n for _, n in pairs], dtype=np.int64).reshape(shape)
    )


def weighted_pearson(x: np.ndarray, y: np.ndarray) -> Weighted:
    """Pearson's correlation as a function of how often each model counts."""
    x, y = _standard(x), _standard(y)

    def of(times: np.ndarray) -> np.ndarray:
        return _correlation(times, np.broadcast_to(x, times.shape), np.broadcast_to(y, times.shape))

    return of


def weighted_spearman(x: np.ndarray, y: np.ndarray) -> Weighted:
    """Spearman's correlation as a function of how often each model counts."""

    def of(times: np.ndarray) -> np.ndarray:
        return _correlation(times, _mid_ranks(x, times), _mid_ranks(y, times))

    return of


def weighted_kendall(x: np.ndarray, y: np.ndarray) -> Weighted:
    """Kendall's tau-b as a function of how often each model counts."""
    order_x, order_y = np.sign(x[:, None] - x), np.sign(y[:, None] - y)

    def pairs(times: np.ndarray, table: np.ndarray) -> np.ndarray:
        found: np.ndarray = ((times @ table) * times).sum(axis=1)
        return found

    def of(times: np.ndarray) -> np.ndarray:
        times = times.astype(np.float64)
        untied = pairs(times, order_x**2) * pairs(times, order_y**2)
        return pairs(times, order_x * order_y) / np.sqrt(np.where(untied > 0, untied, np.nan))

    return of


def _estimate(kind: Kind, x: np.ndarray, y: np.ndarray, level: float, *, by: By, seed: int) -> Estimate:
    """The correlation with its interval."""
    n, value = len(x), correlation_value(kind, x, y)
    if by == "bootstrap":
        weighted = {"pearson": weighted_pearson, "spearman": weighted_spearman, "kendall": weighted_kendall}[kind](x, y)
        resampling = Resampling(draws=2000, level=level, method="bca", seed=seed)
        draws = np.concatenate([weighted(times) for times in resample_counts(n, resampling)])
        without_each = 1 - np.eye(n, dtype=np.int64)
        return interval_of(draws, value, n=n, resampling=resampling, jackknife=lambda: weighted(without_each))
    if by == "simulation" and kind != "pearson":
        return Estimate(value, *rank_bounds(kind, value, n, level), n, f"inverted rank test {100 * level:g}%")
    if by == "formula":
        return _by_formula(kind, value, n, level)
    known = "bootstrap, formula" if kind == "pearson" else "bootstrap, formula, simulation"
    raise OodometerError(f"no interval of {kind}'s correlation by {by!r}; known: {known}")


def _by_formula(kind: Kind, value: float, n: int, level: float) -> Estimate:
    variance, name = formula_variance(kind, value, n)
    if abs(value) > 1 - 1e-12:
        return Estimate(value, None, None, n, f"none: {name} has no interval at {value:g}")
    if not np.isfinite(variance):
        return Estimate(value, None, None, n, f"none: {n} models are too few for {name}")
    low, high = _bounds(np.array(value), np.array(variance), level)
    return Estimate(value, float(low), float(high), n, f"{name} {100 * level:g}%")


def correlation_value(kind: Kind, x: np.ndarray, y: np.ndarray) -> float:
    """The correlation alone, of values (M,) that vary; quick for many models too.

    >>> correlation_value("kendall", np.arange(4.0), np.array([0.0, 2.0, 1.0, 3.0]))
    0.6666666666666666
    """
    if kind == "kendall":
        above_x, above_y = x[:, None] > x, y[:, None] > y
        same, swapped = np.count_nonzero(above_x & above_y), np.count_nonzero(above_x & above_y.T)
        return float((same - swapped) / np.sqrt(np.count_nonzero(above_x) * np.count_nonzero(above_y)))
    if kind == "spearman":
        x, y = (_mid_ranks(values, np.ones((1, len(values))))[0] for values in (x, y))
    return float(np.clip(np.mean(_standard(x) * _standard(y)), -1.0, 1.0))


def correlations_in_draws(kind: Kind, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The correlation of each row of values, (D, M) both; NaN where they do not vary.

    >>> correlations_in_draws("spearman", np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])).round(6).tolist()
    [0.5]
    """
    varies = (np.ptp(x, axis=1) > 0) & (np.ptp(y, axis=1) > 0)
    found = np.full(len(x), np.nan)
    some_x, some_y = x[varies], y[varies]
    if kind == "kendall":
        found[varies] = [correlation_value(kind, *row) for row in zip(some_x, some_y, strict=True)]
        return found
    if kind == "spearman":
        some_x, some_y = _ranks_of_rows(some_x), _ranks_of_rows(some_y)
    standard = [
        (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True) for values in (some_x, some_y)
    ]
    found[varies] = np.clip((standard[0] * standard[1]).mean(axis=1), -1.0, 1.0)
    return found


def _ranks_of_rows(values: np.ndarray) -> np.ndarray:
    """The rank of each value in its row, equals taking the mean of theirs, (D, M)."""
    order = np.argsort(values, axis=1)
    in_order = np.take_along_axis(values, order, axis=1)
    begins = np.ones(values.shape, dtype=bool)
    begins[:, 1:] = in_order[:, 1:] != in_order[:, :-1]
    group = np.cumsum(begins) - 1
    places = np.tile(np.arange(1.0, values.shape[1] + 1), len(values))
    mean_place = np.bincount(group, weights=places) / np.bincount(group)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, mean_place[group].reshape(values.shape), axis=1)
    return ranks


def formula_variance(kind: Kind, r: float, n: int) -> tuple[float, str]:
    """The variance of the correlation's atanh by formula, infinite for too few models, and the formula's name."""
    return {"pearson": _fisher, "spearman": _bonett_wright, "kendall": _fieller}[kind](r, n)


def over_models_alone(estimate: Estimate) -> Estimate:
    """The same, with an interval that says what it does not carry: the noise which all models share by their images."""
    if estimate.low is None:
        return estimate
    name, _, level = estimate.interval.rpartition(" ")
    return replace(estimate, interval=f"{name} over models alone {level}")


def _fisher(_: float, n: int) -> tuple[float, str]:
    return 1 / (n - 3), "fisher z"


def _bonett_wright(r: float, n: int) -> tuple[float, str]:
    return (1 + r * r / 2) / (n - 3), "bonett-wright"


def _fieller(_: float, n: int) -> tuple[float, str]:
    return 0.437 / (n - 4) if n > 4 else np.inf, "fieller"


def _bounds(r: np.ndarray, variance: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds that are symmetric on the scale of atanh."""
    from scipy.special import ndtri

    half = float(ndtri((1 + level) / 2)) * np.sqrt(variance)
    return np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)


def _checked(x: np.ndarray, y: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Both as float64, fit for a correlation."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    check_level(level)
    if x.ndim != 1 or x.shape != y.shape:
        raise OodometerError(f"values of shapes {x.shape} and {y.shape}: expected one of each for each model")
    if len(x) < FEWEST_MODELS:
        raise OodometerError(f"{len(x)} models: a correlation needs {FEWEST_MODELS} or more")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise OodometerError("some values are NaN or infinite: leave these models out of the correlation")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise OodometerError("all models have the same value: the correlation is undefined")
    return x, y


def _standard(values: np.ndarray) -> np.ndarray:
    """Values of mean 0 and deviation 1: no correlation changes by it, and sums of squares stay precise."""
    scaled: np.ndarray = (values - values.mean()) / values.std()
    return scaled


def _correlation(times: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's correlation in each row where the values count so many times, all (D, M) -> (D,)."""
    share = times / times.sum(axis=1, keepdims=True)
    x = x - (share * x).sum(axis=1, keepdims=True)
    y = y - (share * y).sum(axis=1, keepdims=True)
    of_x, of_y = (share * x * x).sum(axis=1), (share * y * y).sum(axis=1)
    # Values are of order 1 or more here: what rounding leaves of a constant is far below.
    varies = np.minimum(of_x, of_y) > 1e-20
    found: np.ndarray = (share * x * y).sum(axis=1) / np.sqrt(np.where(varies, of_x * of_y, np.nan))
    return found


def _mid_ranks(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The rank of each model among all that count, equals taking the mean of theirs, (D, M)."""
    _, code = np.unique(values, return_inverse=True)
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    of_value = np.add.reduceat(times[:, order], starts, axis=1)
    mid: np.ndarray = np.cumsum(of_value, axis=1) - (of_value - 1) / 2
    return mid[:, code]


def _with_each(column: np.ndarray, table: np.ndarray, fewest: int) -> tuple[list[float], list[int]]:
    """The correlation of one column with each of a table over the models that have both, and their number, (B,)."""
    pairs = [_of_pair(column, other, fewest) for other in table.T]
    return [r for r, _ in pairs], [n for _, n in pairs]


def _of_pair(x: np.ndarray, y: np.ndarray, fewest: int) -> tuple[float, int]:
    # Of the models that count alone, so that the last digit does not depend on which others are asked about.
    both = ~np.isnan(x) & ~np.isnan(y)
    n, x, y = int(both.sum()), x[both], y[both]
    if n < fewest or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan, n
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x * x).sum()) * np.sqrt((y * y).sum())
    return float(np.clip((x * y).sum() / scale, -1.0, 1.0)), n
