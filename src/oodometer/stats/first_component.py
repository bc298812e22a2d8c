"""How much of the variation of several numbers of the same models one number explains."""

from __future__ import annotations

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling, interval_of, resample_counts

FEWEST_MODELS = 5
"""Over fewer, one component explains nearly everything whatever the numbers are."""

DEFAULT = Resampling(draws=2000, method="bca")


def first_component(
    values: np.ndarray, noise: np.ndarray | None = None, *, resampling: Resampling = DEFAULT
) -> Estimate:
    """The share of the variance that the first principal component explains, every column counting the same.

    With S columns it lies between 1 / S, where they have nothing to do with each other, and 1, where one number tells
    them all. What the noise of the images adds to variances and covariances is taken off first: it is no robustness.
    The interval is from resampling models.

    Args:
        values: One row per model, (M, S).
        noise: The covariance of the columns' errors in a row, the mean over models, (S, S); None: no errors.
        resampling: Of the models.

    >>> print(first_component(np.outer(np.arange(6.0), [1, 2, -1])).value)
    1.0
    """
    values = np.asarray(values, dtype=np.float64)
    n_models, n_columns = values.shape
    if n_models < FEWEST_MODELS or n_columns < 2:
        raise OodometerError(
            f"{n_models} models and {n_columns} shifts: one number can be held against several from "
            f"{FEWEST_MODELS} models and 2 shifts on"
        )
    taken_off = np.zeros((n_columns, n_columns)) if noise is None else np.asarray(noise)
    value = float(_shares(values, np.ones((1, n_models)), taken_off)[0])
    if np.isnan(value):
        raise OodometerError(
            "under one of the shifts the models differ by no more than the noise of the images explains"
        )
    draws = np.concatenate([_shares(values, times, taken_off) for times in resample_counts(n_models, resampling)])
    defined = draws[~np.isnan(draws)]
    if len(defined) < len(draws) / 2:
        return Estimate(value, None, None, n_models, "none: too few models differ beyond the noise of the images")
    return interval_of(
        defined,
        value,
        n=n_models,
        resampling=resampling,
        jackknife=lambda: _shares(values, 1.0 - np.eye(n_models), taken_off),
        name="bootstrap over models",
        bounds=(1 / n_columns, 1.0),
    )


def _shares(values: np.ndarray, times: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The share where the models count so many times, (D, M) -> (D,); NaN where a column does not vary beyond noise."""
    total = times.sum(axis=1)[:, None]
    means = times @ values / total
    centred = values[None] - means[:, None]
    covariance = np.einsum("dm,dmi,dmj->dij", times, centred, centred) / (total[..., None] - 1) - noise
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    usable = (variance > 1e-12 * np.ptp(values, axis=0) ** 2).all(axis=1)
    shares = np.full(len(times), np.nan)
    deviation = np.sqrt(variance[usable])
    correlation = covariance[usable] / (deviation[:, :, None] * deviation[:, None, :])
    # Noise that was taken off may leave more correlation than there can be.
    eigenvalues = np.clip(np.linalg.eigvalsh(np.clip(correlation, -1, 1)), 0, None)
    shares[usable] = eigenvalues[:, -1] / eigenvalues.sum(axis=1)
    return shares
