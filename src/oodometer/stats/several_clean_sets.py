"""Effective robustness against several clean sets at once.

Models that were trained on different data share no clean set: what is clean for one is a shift for another, and ρ on
one clean set favours the models that were trained elsewhere. Shi et al. (NeurIPS 2023) predict the shifted accuracy
from the accuracies on several clean sets, by least squares on a scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.random import rng_for
from oodometer.stats.bootstrap import DEFAULT, Resampling
from oodometer.stats.effective_robustness import (
    Sizes,
    check_percentile,
    effective_robustness,
    estimate_of,
    posterior_draws,
    sizes_of,
    widening,
)
from oodometer.stats.lines import BLOCK, resampled_counts
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
        return _shares(np.array(self.slopes), self.intercept, x, self.scale)


@dataclass(frozen=True)
class PlaneDraws:
    """Planes through resampled models.

    Args:
        scale: ``linear``, ``logit`` or ``probit``.
        slopes: Of each draw, (D, K).
        intercepts: Of each draw, (D,).
        undefined: How many draws held too few different models to determine a plane; they were drawn again.
    """

    scale: Scale
    slopes: np.ndarray
    intercepts: np.ndarray
    undefined: int

    def at(self, x: np.ndarray) -> np.ndarray:
        """The share (D,) that each plane expects at the shares ``x``: (K,) for all of them, or (D, K)."""
        return _shares(self.slopes, self.intercepts, x, self.scale)


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


def bootstrap_planes(
    x: np.ndarray, y: np.ndarray, *, scale: Scale = "logit", draws: int = 1000, seed: int = 0
) -> PlaneDraws:
    """The planes through models resampled with replacement.

    >>> x = np.array([[0.5, 0.6], [0.6, 0.6], [0.7, 0.9], [0.8, 0.7], [0.9, 0.8]])
    >>> planes = bootstrap_planes(x, 0.5 * x[:, 0] + 0.3 * x[:, 1] + 0.1, scale="linear", draws=10)
    >>> planes.slopes.std(axis=0).round(6).tolist()
    [0.0, 0.0]
    """
    if draws < 1:
        raise OodometerError(f"{draws} draws: at least one is needed, and 1000 for an interval")
    u, v, _ = _on_scale(x, y, scale)
    centre = u.mean(axis=0)
    # On axes on which the models scatter alike the smallest determinant tells which draws determine no plane.
    q, r = np.linalg.qr(u - centre)
    spread = np.sqrt(len(v))
    rng, solved = rng_for("bootstrap over models", seed=seed), np.empty((draws, 1 + u.shape[1]))
    done = undefined = 0
    while done < draws:
        counts = resampled_counts(len(v), min(BLOCK, draws - done), rng)
        planes = _weighted_planes(counts, q * spread, v)
        undefined += len(counts) - len(planes)
        solved[done : done + len(planes)] = planes
        done += len(planes)
    slopes = np.linalg.solve(r, solved[:, 1:].T).T * spread
    return PlaneDraws(scale, slopes, solved[:, 0] - slopes @ centre, undefined)


def _weighted_planes(counts: np.ndarray, axes: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Intercept and slopes (d, 1 + K) of the planes through models that count (D, M) times each, where there is one."""
    design = np.column_stack([np.ones(len(v)), axes])
    products = (design[:, :, None] * design[:, None, :]).reshape(len(v), -1)
    normal = (counts @ products).reshape(len(counts), design.shape[1], -1) / len(v)
    determined = np.linalg.det(normal) > 1e-9
    right = counts @ (design * v[:, None]) / len(v)
    return np.asarray(np.linalg.solve(normal[determined], right[determined, :, None])[:, :, 0])


def rho_from_several_counts(
    x: np.ndarray,
    y: np.ndarray,
    n_x: Sizes,
    n_y: Sizes,
    baseline: np.ndarray,
    *,
    scale: Scale = "logit",
    resampling: Resampling = DEFAULT,
) -> tuple[Estimate, ...]:
    """ρ of every model against several clean sets, with intervals that carry the images and the plane.

    As `rho_from_counts` does it for one clean set; the images of the sets are taken to be different ones.

    Args:
        x: Accuracy of each model on each clean set, shares, (M, K).
        y: Its accuracy under the shift, (M,).
        n_x: The number of images of each clean set; None where it is not known.
        n_y: The number of images behind ``y``, one for all models or one each; None where it is not known.
        baseline: Which models the plane goes through, (M,) bool.
        scale: On which the plane is flat.
        resampling: Draws, level and seed.
    """
    x, y, chosen = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), np.asarray(baseline)
    if chosen.shape != y.shape or chosen.dtype != bool:
        raise OodometerError(f"baseline: expected True or False for each of {len(y)} models")
    check_percentile(resampling)
    _check_table(x, y)
    plane = fit_plane(x[chosen], y[chosen], scale=scale)
    planes = _widened(plane, bootstrap_planes(x[chosen], y[chosen], scale=scale, **_how(resampling)), resampling.level)
    sizes_x, sizes_y = sizes_of(n_x, x.shape[1]), sizes_of(n_y, len(y))
    rng, draws = rng_for("accuracy of each model", seed=resampling.seed), resampling.draws
    found = []
    for model, value in enumerate(effective_robustness(x, y, plane)):
        if np.isnan(sizes_x).any() or np.isnan(sizes_y[model]):
            drawn, n, name = y[model] - planes.at(x[model]), None, "plane only"
        else:
            cells = zip(x[model], sizes_x, strict=True)
            x_draws = np.stack([posterior_draws(share, size, draws, rng) for share, size in cells], axis=1)
            y_draws = posterior_draws(y[model], sizes_y[model], draws, rng)
            drawn, n, name = y_draws - planes.at(x_draws), int(sizes_y[model]), "plane and images"
        found.append(estimate_of(float(value), drawn, n, name=name, level=resampling.level))
    return tuple(found)


def _how(resampling: Resampling) -> dict[str, int]:
    return {"draws": resampling.draws, "seed": resampling.seed}


def _widened(plane: Plane, planes: PlaneDraws, level: float) -> PlaneDraws:
    """The drawn planes as far from the plane as its few models leave it unsure."""
    farther, slopes = widening(plane.n, len(plane.slopes) + 1, level), np.array(plane.slopes)
    return PlaneDraws(
        plane.scale,
        slopes + farther * (planes.slopes - slopes),
        plane.intercept + farther * (planes.intercepts - plane.intercept),
        planes.undefined,
    )


def _shares(slopes: np.ndarray, intercept: np.ndarray | float, x: np.ndarray, scale: Scale) -> np.ndarray:
    """The planes at ``x``, mapped back from the scale."""
    u = to_scale(x, scale)
    if u.ndim == 0 or u.shape[-1] != slopes.shape[-1]:
        raise OodometerError(f"shares of shape {u.shape}: expected one column for each of {slopes.shape[-1]} sets")
    with np.errstate(invalid="ignore"):
        value = intercept + (u * slopes).sum(axis=-1)
    if (np.isnan(value) & ~np.isnan(u).any(axis=-1)).any():
        raise OodometerError(
            f"a model is at exactly 0 % on one clean set and 100 % on another: the {scale} plane has no value there; "
            "leave the model out"
        )
    return from_scale(value, scale)


def _on_scale(x: np.ndarray, y: np.ndarray, scale: Scale) -> tuple[np.ndarray, np.ndarray, int]:
    """The models that have a place on the scale; an error where they determine no plane."""
    u, v = to_scale(x, scale), to_scale(y, scale)
    _check_table(u, v)
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


def _check_table(x: np.ndarray, y: np.ndarray) -> None:
    if x.ndim != 2 or y.shape != x.shape[:1] or x.shape[1] == 0:
        raise OodometerError(f"x has shape {x.shape} and y {y.shape}; expected (models, sets) and (models,)")
    if np.isnan(x).any() or np.isnan(y).any():
        raise OodometerError("some models are not measured on all the sets; leave them out")
