"""Lines through models: accuracy under a shift against clean accuracy, and how sure the line is.

Models at exactly 0 % or 100 % have no finite logit or probit. They are left out of a fit on these scales, and the
line says how many they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.random import rng_for
from oodometer.stats.intervals import check_level
from oodometer.stats.scales import SCALES, Scale, from_scale, to_scale

FEWEST_MODELS = 3
"""Through two models a line always goes: it says nothing about how well they lie on it."""

BLOCK = 256
"""Draws at a time: few, so that the counts of a block stay in the cache of one core, which is three times as fast."""


@dataclass(frozen=True)
class Line:
    """A least-squares line on a scale.

    Args:
        scale: ``linear``, ``logit`` or ``probit``.
        slope: On that scale.
        intercept: On that scale.
        r2: The share of the variance on that scale that the line explains.
        n: How many models the line goes through.
        left_out: How many more have no place on the scale, being at exactly 0 % or 100 %.
    """

    scale: Scale
    slope: float
    intercept: float
    r2: float
    n: int
    left_out: int

    def at(self, x: np.ndarray | float) -> np.ndarray:
        """The share that the line expects at each share ``x``; a linear line may leave [0, 1].

        On the logit and probit scales a rising line goes through (0, 0) and (1, 1).
        """
        return _shares(self.slope, self.intercept, x, self.scale)


class ScaleFit(NamedTuple):
    """A line, and its root mean squared leave-one-out error in accuracy (a share)."""

    line: Line
    rmse: float


@dataclass(frozen=True)
class LineDraws:
    """Lines through resampled models.

    Args:
        scale: ``linear``, ``logit`` or ``probit``.
        slopes: Of each draw, (D,).
        intercepts: Of each draw, (D,).
        undefined: How many draws had the same clean accuracy throughout, so that no line was determined; they were
            drawn again.
    """

    scale: Scale
    slopes: np.ndarray
    intercepts: np.ndarray
    undefined: int

    def at(self, x: np.ndarray | float) -> np.ndarray:
        """The share that each line expects at the share ``x``: one for all of them, or one each, (D,)."""
        return _shares(self.slopes, self.intercepts, x, self.scale)


def fit_line(x: np.ndarray, y: np.ndarray, *, scale: Scale = "logit") -> Line:
    """The ordinary least-squares line of ``y`` on ``x`` (shares, one per model) on a scale.

    >>> fit_line([0.6, 0.7, 0.8], [0.5, 0.6, 0.7], scale="linear").at(0.9).round(6).item()
    0.8
    """
    u, v, kept = on_scale(x, y, scale)
    du, dv = u - u.mean(), v - v.mean()
    slope = float(du @ dv / (du @ du))
    residuals = dv - slope * du
    return Line(
        scale=scale,
        slope=slope,
        intercept=float(v.mean() - slope * u.mean()),
        r2=float(1 - residuals @ residuals / (dv @ dv)),
        n=len(u),
        left_out=int((~kept).sum()),
    )


def compare_scales(x: np.ndarray, y: np.ndarray) -> tuple[ScaleFit, ...]:
    """The line on each scale, the one that predicts best first.

    R² on different scales are shares of different variances and can't be compared. Each model's accuracy, predicted
    by the line through the others and mapped back from the scale, can. Models at exactly 0 % or 100 % are left out of
    all the scales, so that all are judged by the same models.

    >>> fits = compare_scales([0.1, 0.5, 0.7, 0.9], [0.05, 0.3, 0.5, 0.78])
    >>> [(fit.line.scale, round(fit.rmse, 3)) for fit in fits]
    [('logit', 0.005), ('probit', 0.023), ('linear', 0.153)]
    """
    _, _, kept = on_scale(x, y, "logit")
    x, y = np.asarray(x, dtype=np.float64)[kept], np.asarray(y, dtype=np.float64)[kept]
    fits = (_scale_fit(x, y, scale, int((~kept).sum())) for scale in SCALES)
    return tuple(sorted(fits, key=lambda fit: fit.rmse))


def _scale_fit(x: np.ndarray, y: np.ndarray, scale: Scale, left_out: int) -> ScaleFit:
    line = fit_line(x, y, scale=scale)
    u, v = to_scale(x, scale), to_scale(y, scale)
    # The diagonal of the hat matrix: the error of the line without model i is its residual over 1 − h_i.
    leverage = 1 / len(u) + (u - u.mean()) ** 2 / ((u - u.mean()) ** 2).sum()
    if leverage.max() > 1 - 1e-12:
        raise OodometerError(
            "one model alone determines the slope, so no line can be drawn without it; add models of other accuracies"
        )
    without = v - (v - line.intercept - line.slope * u) / (1 - leverage)
    rmse = np.sqrt(np.mean((from_scale(without, scale) - y) ** 2))
    return ScaleFit(Line(scale, line.slope, line.intercept, line.r2, line.n, left_out), float(rmse))


def bootstrap_lines(
    x: np.ndarray, y: np.ndarray, *, scale: Scale = "logit", draws: int = 1000, seed: int = 0
) -> LineDraws:
    """The lines through models resampled with replacement.

    In closed form: each draw is a count per model, and the sums that a line needs are counts @ moments.

    >>> lines = bootstrap_lines([0.5, 0.6, 0.7, 0.8], [0.4, 0.52, 0.58, 0.7], scale="linear", draws=2000)
    >>> np.quantile(lines.slopes, [0.025, 0.975]).round(2).tolist()
    [0.6, 1.2]
    """
    if draws < 1:
        raise OodometerError(f"{draws} draws: at least one is needed, and 1000 for an interval")
    u, v, _ = on_scale(x, y, scale)
    rng = rng_for("bootstrap over models", seed=seed)
    slopes, intercepts = np.empty(draws), np.empty(draws)
    done = undefined = 0
    while done < draws:
        counts = resampled_counts(len(u), min(BLOCK, draws - done), rng)
        counts = counts[varied(counts, u)]
        undefined += min(BLOCK, draws - done) - len(counts)
        part = slice(done, done + len(counts))
        slopes[part], intercepts[part] = weighted_lines(counts, u, v)
        done = part.stop
    return LineDraws(scale, slopes, intercepts, undefined)


def resampled_counts(n: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """How often each of ``n`` things is in each resample of ``n``, (draws, n)."""
    picked = rng.integers(n, size=(draws, n)) + n * np.arange(draws)[:, None]
    return np.bincount(picked.ravel(), minlength=draws * n).reshape(draws, n).astype(np.float64)


def varied(counts: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Which resamples hold at least two different values of ``u``, (D,) bool."""
    values, which, sizes = np.unique(u, return_inverse=True, return_counts=True)
    result = np.ones(len(counts), dtype=bool)
    # Only a resample of no more models than share a value can hold that value alone.
    few = np.flatnonzero((counts > 0).sum(axis=1) <= sizes.max())
    by_value = counts[few] @ (which[:, None] == np.arange(len(values)))
    result[few] = (by_value > 0).sum(axis=1) > 1
    return result


def weighted_lines(counts: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes and intercepts (D,) of the lines through models that count (D, M) times each."""
    # Centred first: the sums of squares would otherwise lose the digits in which the models differ.
    du, dv = u - u.mean(), v - v.mean()
    moments = np.stack([np.ones_like(du), du, dv, du * du, du * dv], axis=1)
    n, s_u, s_v, s_uu, s_uv = (counts @ moments).T
    slopes = (n * s_uv - s_u * s_v) / (n * s_uu - s_u * s_u)
    return slopes, v.mean() + (s_v - slopes * s_u) / n - slopes * u.mean()


def lines_in_draws(x: np.ndarray, y: np.ndarray, scale: Scale) -> LineDraws:
    """The line through all models in each draw of their shares, (D, M) both; NaN where none is determined.

    Models at 0 % or 100 % in a draw are left out of its line.
    """
    u, v = to_scale(x, scale), to_scale(y, scale)
    placed = np.isfinite(u) & np.isfinite(v)
    u, v, models = np.where(placed, u, 0), np.where(placed, v, 0), np.maximum(placed.sum(axis=1), 1)
    mean_u, mean_v = u.sum(axis=1) / models, v.sum(axis=1) / models
    du = np.where(placed, u - mean_u[:, None], 0)
    squares = (du * du).sum(axis=1)
    # Equal up to rounding: one image more or less moves a model by far more than this.
    alike = squares < 1e-18
    slopes = (du * v).sum(axis=1) / np.where(alike, np.nan, squares)
    return LineDraws(scale, slopes, mean_v - slopes * mean_u, int(alike.sum()))


def slope_of(line: Line, draws: LineDraws, *, level: float = 0.95) -> Estimate:
    """The slope with its percentile interval; n counts models."""
    return _estimate(line.slope, draws.slopes, line.n, level)


def intercept_of(line: Line, draws: LineDraws, *, level: float = 0.95) -> Estimate:
    """The intercept, on the line's scale, with its percentile interval; n counts models."""
    return _estimate(line.intercept, draws.intercepts, line.n, level)


def _estimate(value: float, drawn: np.ndarray, n: int, level: float) -> Estimate:
    low, high = percentiles(drawn, level)
    return Estimate(value, float(low), float(high), n, f"bootstrap over models {100 * level:g}%")


def band(draws: LineDraws, at: np.ndarray, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Between which shares the drawn lines lie at each share ``at`` (G,): low (G,) and high (G,), by percentiles."""
    places = np.atleast_1d(np.asarray(at, dtype=np.float64))
    # One place at a time: the memory of one draw per place would not be bounded.
    bounds = np.array([percentiles(draws.at(place), level) for place in places]).reshape(-1, 2)
    return bounds[:, 0], bounds[:, 1]


def percentiles(drawn: np.ndarray, level: float) -> np.ndarray:
    """The two ends of the middle share ``level`` of the draws, along the first axis."""
    check_level(level)
    return np.asarray(np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0))


def on_scale(x: np.ndarray, y: np.ndarray, scale: Scale) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The models that have a place on the scale, and which they are: u (n,), v (n,), kept (M,) bool.

    An error where they determine no line.
    """
    u, v = to_scale(x, scale), to_scale(y, scale)
    if u.ndim != 1 or u.shape != v.shape:
        raise OodometerError(f"x has shape {u.shape} and y {v.shape}; give one number of each per model")
    if np.isnan(u).any() or np.isnan(v).any():
        raise OodometerError("some models are not measured on both sets; leave them out")
    kept = np.isfinite(u) & np.isfinite(v)
    u, v = u[kept], v[kept]
    if len(u) < FEWEST_MODELS:
        lost = f" ({(~kept).sum()} at exactly 0 % or 100 % left out)" if not kept.all() else ""
        raise OodometerError(
            f"{len(u)} model{'' if len(u) == 1 else 's'}{lost}: a line needs at least {FEWEST_MODELS}; add models"
        )
    for name, values in (("clean", u), ("shifted", v)):
        if np.ptp(values) == 0:
            raise OodometerError(f"all models have the same {name} accuracy: no line is determined; add other models")
    return u, v, kept


def _shares(
    slope: np.ndarray | float, intercept: np.ndarray | float, x: np.ndarray | float, scale: Scale
) -> np.ndarray:
    """The lines at ``x``, mapped back from the scale."""
    places = to_scale(x, scale)
    with np.errstate(invalid="ignore"):
        rising = slope * places
    # A flat line is flat at 0 and 1 too, where 0 · ∞ would be undefined.
    flat = (np.asarray(slope) == 0) & np.isinf(places)
    return from_scale(np.where(flat, 0.0, rising) + intercept, scale)
