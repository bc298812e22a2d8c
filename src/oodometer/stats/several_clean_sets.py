"""Effective robustness against several clean sets at once.

Models that were trained on different data share no clean set: what is clean for one is a shift for another, and ρ on
one clean set favours the models that were trained elsewhere. Shi et al. (NeurIPS 2023) predict the shifted accuracy
from the accuracies on several clean sets, by least squares on a scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.stats.scales import Scale, from_scale, to_scale


@dataclass(frozen=True)
class Plane:
    """A least-squares plane over K clean sets, on a scale.

    Args:
        scale: ``linear``, ``logit`` or ``probit``.
        slopes: For each clean set, on the scale.
        intercept: On the scale.
        r2: The share of the variance on the scale that the plane explains; it never falls when a set is added.
        n: How many models the plane goes through.
        left_out: How many more have no place on the scale, being at exactly 0 % or 100 % on a set.
    """

    scale: Scale
    slopes: tuple[float, ...]
    intercept: float
    r2: float
    n: int
    left_out: int

    def at(self, x: np.ndarray) -> np.ndarray:
        """The shares (M,) that the plane expects of models with these shares on the clean sets, (M, K)."""
        u = to_scale(x, self.scale)
        if u.ndim == 0 or u.shape[-1] != len(self.slopes):
            raise OodometerError(f"shares of shape {u.shape}: expected one column for each of {len(self.slopes)} sets")
        with np.errstate(invalid="ignore"):
            value = self.intercept + (u * self.slopes).sum(axis=-1)
        if (np.isnan(value) & ~np.isnan(u).any(axis=-1)).any():
            raise OodometerError(
                f"a model is at exactly 0 % on one clean set and 100 % on another: the {self.scale} plane has no value "
                "there; leave the model out"
            )
        return from_scale(value, self.scale)


def fit_plane(x: np.ndarray, y: np.ndarray, *, scale: Scale = "logit") -> Plane:
    """The ordinary least-squares plane of ``y`` (M,) on ``x`` (M, K), shares, over the baseline models.

    `effective_robustness(x, y, plane)` is then what a model has beyond what all the clean sets predict.

    >>> x = np.array([[0.5, 0.6], [0.6, 0.6], [0.7, 0.9], [0.8, 0.7], [0.9, 0.8]])
    >>> plane = fit_plane(x, 0.5 * x[:, 0] + 0.3 * x[:, 1] + 0.1, scale="linear")
    >>> [round(slope, 6) for slope in plane.slopes], round(plane.intercept, 6), plane.n
    ([0.5, 0.3], 0.1, 5)
    """
    u, v, left_out = _on_scale(x, y, scale)
    du, dv = u - u.mean(axis=0), v - v.mean()
    slopes, _, rank, _ = np.linalg.lstsq(du, dv)
    if rank < u.shape[1]:
        raise OodometerError(
            "the clean sets say the same of all models: their accuracies determine no plane; leave a set out"
        )
    residuals = dv - du @ slopes
    return Plane(
        scale=scale,
        slopes=tuple(float(slope) for slope in slopes),
        intercept=float(v.mean() - u.mean(axis=0) @ slopes),
        r2=float(1 - residuals @ residuals / (dv @ dv)),
        n=len(v),
        left_out=left_out,
    )


def _on_scale(x: np.ndarray, y: np.ndarray, scale: Scale) -> tuple[np.ndarray, np.ndarray, int]:
    """The models that have a place on the scale; an error where they determine no plane."""
    u, v = to_scale(x, scale), to_scale(y, scale)
    if u.ndim != 2 or v.shape != u.shape[:1] or u.shape[1] == 0:
        raise OodometerError(f"x has shape {u.shape} and y {v.shape}; expected (models, sets) and (models,)")
    if np.isnan(u).any() or np.isnan(v).any():
        raise OodometerError("some models are not measured on all the sets; leave them out")
    kept = np.isfinite(u).all(axis=1) & np.isfinite(v)
    u, v = u[kept], v[kept]
    sets = u.shape[1]
    if sets + 2 > len(v):
        lost = f" ({(~kept).sum()} at exactly 0 % or 100 % left out)" if not kept.all() else ""
        raise OodometerError(
            f"{len(v)} models{lost} for {sets} clean sets: at least {sets + 2} are needed; add models or leave sets out"
        )
    if np.ptp(v) == 0:
        raise OodometerError("all models have the same shifted accuracy: no plane is determined; add other models")
    return u, v, int((~kept).sum())
