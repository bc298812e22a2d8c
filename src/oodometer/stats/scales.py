"""The axes on which a line through models is straight: linear, logit and probit."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from oodometer.core.errors import OodometerError, UsageError, did_you_mean

Scale = Literal["linear", "logit", "probit"]

SCALES: tuple[Scale, ...] = get_args(Scale)


def to_scale(shares: np.ndarray | float, scale: Scale) -> np.ndarray:
    """Shares on a scale; 0 and 1 lie at −∞ and ∞ on the logit and probit scales, and "not measured" stays NaN.

    >>> to_scale([0.0, 0.5, 0.75], "logit").round(4).tolist()
    [-inf, 0.0, 1.0986]
    """
    from scipy.special import logit, ndtri

    check_scale(scale)
    values = np.asarray(shares, dtype=np.float64)
    if ((values < 0) | (values > 1)).any():
        worst = values.flat[np.nanargmax(np.abs(values - 0.5))]
        raise OodometerError(f"{worst:g} is no share between 0 and 1; divide percentages by 100")
    return np.asarray({"linear": np.copy, "logit": logit, "probit": ndtri}[scale](values))


def from_scale(values: np.ndarray | float, scale: Scale) -> np.ndarray:
    """The shares that lie at these values of a scale; the linear scale does not end at 0 and 1.

    >>> from_scale([-np.inf, 0.0, 1.0986], "logit").round(4).tolist()
    [0.0, 0.5, 0.75]
    """
    from scipy.special import expit, ndtr

    check_scale(scale)
    values = np.asarray(values, dtype=np.float64)
    return np.asarray({"linear": np.copy, "logit": expit, "probit": ndtr}[scale](values))


def check_scale(scale: str) -> None:
    """An error unless there is such a scale."""
    if scale not in SCALES:
        raise UsageError(f"no scale named {scale!r}{did_you_mean(scale, SCALES)}")
