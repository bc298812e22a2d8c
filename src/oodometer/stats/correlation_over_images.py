"""Correlations of accuracies over models, where the images behind the accuracies are known.

All models see the same images, and a resample of them moves all accuracies. That does two things which Fisher's formula
does not know: it adds to how unsure a correlation is, and it hides a part of it, since noise in both accuracies makes
them go together less than they do. The interval is Fisher's with the variance over images added, and its end away from
0 is moved by what the noise hides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import DEFAULT, Resampling
from oodometer.stats.correlation import Kind, correlation_value, correlations_in_draws, formula_variance
from oodometer.stats.line_intervals import image_draws


class OverImages(NamedTuple):
    """The accuracies of M models, and in D resamples of the images; clean and under the shift.

    Args:
        x, y: On all images, (M,).
        x_draws, y_draws: On each resample, (D, M).
    """

    x: np.ndarray
    y: np.ndarray
    x_draws: np.ndarray
    y_draws: np.ndarray


def over_images(
    right_x: np.ndarray, right_y: np.ndarray, *, same_images: bool, resampling: Resampling = DEFAULT
) -> OverImages:
    """The accuracies of models that were right on these images, (M, Nx) and (M, Ny), as of `moved_by_images`."""
    draws = image_draws(right_x, right_y, same_images=same_images, resampling=resampling)
    return OverImages(right_x.mean(axis=1), right_y.mean(axis=1), *draws)


def correlation_over_images(kind: Kind, models: OverImages, *, level: float = 0.95) -> Estimate:
    """A correlation of the accuracies of at least four models, with an interval over models and images; n: models.

    Rank correlations of 1 have an interval too: they are taken as half a swap of neighbours away from it.
    """
    from scipy.special import ndtri

    n, value = len(models.x), correlation_value(kind, models.x, models.y)
    variance, name = formula_variance(kind, value, n)
    if not np.isfinite(variance):
        return Estimate(value, None, None, n, f"none: {n} models are too few for {name}")
    most = 1 - _half_step(kind, n)
    drawn = correlations_in_draws(kind, models.x_draws, models.y_draws)
    scores = np.arctanh(np.clip(drawn[np.isfinite(drawn)], -most, most))
    middle = float(np.arctanh(np.clip(value, -most, most)))
    half = float(ndtri((1 + level) / 2)) * np.sqrt(variance + scores.var())
    # Away from 0, and not less than what is seen. What is hidden is freed at the ends, where a little noise hides more
    # than in the middle, and at the value, which for ranks is the further of both at times.
    times = hidden_share(models)
    whole = _unhidden(kind, _unbiased(kind, value, models), times)
    with np.errstate(divide="ignore"):
        hidden = float(np.arctanh(whole))
    seen = np.tanh([middle - half, middle + half])
    lows = (np.tanh(min(middle, hidden) - half), _unhidden(kind, float(seen[0]), times), value)
    highs = (np.tanh(max(middle, hidden) + half), _unhidden(kind, float(seen[1]), times), value)
    ends = (float(min(lows)), float(max(highs)))
    return Estimate(value, *ends, n, f"{name} over models and images {100 * level:g}%")


def hidden_share(models: OverImages) -> float:
    """By how much Pearson's correlation would be larger without the noise of the images; infinite where all is noise.

    The covariance of the accuracies is that of the true ones plus that of their noise, which the resamples tell.

    >>> rng = np.random.default_rng(0)
    >>> x = np.arange(4.0) / 10
    >>> noise = rng.normal(scale=0.05, size=(2, 20_000, 4))
    >>> round(hidden_share(OverImages(x, x, x + noise[0], x + noise[1])), 2)  # 0.0167 / (0.0167 - 0.0025)
    1.18
    """
    of_x, of_y, together = (
        covariance(a, b) - np.mean(covariance(a_draws - a, b_draws - b))
        for a, b, a_draws, b_draws in (
            (models.x, models.x, models.x_draws, models.x_draws),
            (models.y, models.y, models.y_draws, models.y_draws),
            (models.x, models.y, models.x_draws, models.y_draws),
        )
    )
    seen = float(covariance(models.x, models.y))
    if of_x <= 0 or of_y <= 0:
        return np.inf
    scale = np.sqrt(covariance(models.x, models.x) * covariance(models.y, models.y) / (of_x * of_y))
    return float(max(together / seen * scale, 1.0)) if seen else 1.0


def covariance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Over the last axis."""
    a, b = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
    return np.asarray((a * b).sum(axis=-1) / (a.shape[-1] - 1))


def _unhidden(kind: Kind, value: float, times: float) -> float:
    """The correlation if Pearson's were so many times as large; rank correlations by what they are of normal values."""
    if not value:
        return 0.0
    if kind == "pearson":
        return float(np.clip(value * times, -1, 1))
    if kind == "spearman":
        return float(6 / np.pi * np.arcsin(np.clip(2 * np.sin(np.pi * value / 6) * times, -1, 1) / 2))
    return float(2 / np.pi * np.arcsin(np.clip(np.sin(np.pi * value / 2) * times, -1, 1)))


def _unbiased(kind: Kind, value: float, models: OverImages) -> float:
    """Without the bias of Spearman's correlation, whose mean over samples is ((n − 2) r + 3 τ) / (n + 1).

    Hoeffding, Annals of Mathematical Statistics 19, 1948; Pearson's has hardly any, and Kendall's none.
    """
    if kind != "spearman":
        return value
    n = len(models.x)
    return float(np.clip(((n + 1) * value - 3 * correlation_value("kendall", models.x, models.y)) / (n - 2), -1, 1))


def _half_step(kind: Kind, n: int) -> float:
    """Half of what one swap of neighbours takes from a rank correlation of 1."""
    return {"pearson": 1e-12, "spearman": 6 / (n**3 - n), "kendall": 2 / (n * n - n)}[kind]
