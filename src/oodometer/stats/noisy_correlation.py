"""Pearson's correlation of two values of models that are known by their images only, as effective robustness is.

The noise of the images does three things: it adds to how unsure the correlation is, it hides a part of it, and where
both values share images (the clean ones, or photographs and their corruptions) it makes them go together by itself.
Fisher's interval with the variance over images added is one of the correlation that is seen; each end is then freed of
the noise: less the noise's own covariance, divided by the share of the spread that is not noise.
"""

from __future__ import annotations

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.stats.correlation import correlation_value
from oodometer.stats.correlation_over_images import OverImages, covariance
from oodometer.stats.intervals import check_level

NAME = "fisher z over models and images"


def pearson_of_noisy(models: OverImages, *, level: float = 0.95) -> Estimate:
    """The correlation of ``x`` and ``y``, which vary, with an interval over models and images; n: models, 4 or more.

    Where the images explain all that the models differ by, there is none.
    """
    from scipy.special import ndtri

    check_level(level)
    n, value = len(models.x), correlation_value("pearson", models.x, models.y)
    noise_x, noise_y, noise = (
        float(np.mean(covariance(a, b)))
        for a, b in (
            (models.x_draws - models.x, models.x_draws - models.x),
            (models.y_draws - models.y, models.y_draws - models.y),
            (models.x_draws - models.x, models.y_draws - models.y),
        )
    )
    of_x, of_y = float(covariance(models.x, models.x)), float(covariance(models.y, models.y))
    if noise_x >= of_x or noise_y >= of_y:
        return Estimate(value, None, None, n, "none: the images explain all that the models differ by")
    scale, clean = np.sqrt(of_x * of_y), np.sqrt((of_x - noise_x) * (of_y - noise_y))
    half = float(ndtri((1 + level) / 2)) * np.sqrt(1 / (n - 3) + _variance_of_z(models))
    with np.errstate(divide="ignore"):
        seen = np.tanh(np.arctanh(value) + np.array([-half, half]))
    free = np.clip((seen * scale - noise) / clean, -1.0, 1.0)
    low, high = min(float(seen[0]), float(free[0]), value), max(float(seen[1]), float(free[1]), value)
    return Estimate(value, low, high, n, f"{NAME} {100 * level:g}%")


def _variance_of_z(models: OverImages) -> float:
    """Of the correlation's atanh, over the resamples of the images."""
    spread = np.sqrt(covariance(models.x_draws, models.x_draws) * covariance(models.y_draws, models.y_draws))
    varies = spread > 0
    drawn = covariance(models.x_draws, models.y_draws)[varies] / spread[varies]
    return float(np.arctanh(np.clip(drawn, -1 + 1e-12, 1 - 1e-12)).var())
