"""Lines with a knee, for sets that were filtered by one model's mistakes.

ImageNet-A holds images that a ResNet-50 got wrong. Models below its clean accuracy stay near chance there, and models
above close the gap quickly (Taori et al. 2020, section 4.1), so that one line through all is no baseline. The knee is
at the clean accuracy of the filtering model, whose own accuracy is 0 by construction: it has no logit and no probit, is
left out of the fit on these scales, and is counted in ``left_out``.

The two pieces are lines of their own: for an interval of ρ, give `rho_from_counts` the models of one side of the knee.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.stats.lines import FEWEST_MODELS, Line, fit_line, on_scale
from oodometer.stats.scales import Scale, from_scale, to_scale


@dataclass(frozen=True)
class TwoPiece:
    """Two lines of their own, one for each side of the knee; they need not meet there.

    Args:
        knee: The clean accuracy (a share) at which the second line takes over; at the knee itself the first holds.
        below: Through the models up to the knee.
        above: Through the models above it.
        r2: The share of the variance of all models, on the scale, that both lines together explain.
    """

    knee: float
    below: Line
    above: Line
    r2: float

    @property
    def n(self) -> int:
        """How many models the two lines go through."""
        return self.below.n + self.above.n

    @property
    def left_out(self) -> int:
        """How many more have no place on the scale."""
        return self.below.left_out + self.above.left_out

    def at(self, x: np.ndarray | float) -> np.ndarray:
        """The share that is expected at each share ``x``."""
        return np.where(np.asarray(x) <= self.knee, self.below.at(x), self.above.at(x))


@dataclass(frozen=True)
class Hinge:
    """One line that bends at the knee.

    Args:
        scale: ``linear``, ``logit`` or ``probit``.
        knee: The clean accuracy (a share) at which the slope changes.
        slope: Below the knee, on the scale.
        change: Of the slope, above the knee.
        intercept: Of the line below the knee, on the scale.
        r2: The share of the variance on the scale that is explained.
        n: How many models the line goes through.
        left_out: How many more have no place on the scale, being at exactly 0 % or 100 %.
    """

    scale: Scale
    knee: float
    slope: float
    change: float
    intercept: float
    r2: float
    n: int
    left_out: int

    def at(self, x: np.ndarray | float) -> np.ndarray:
        """The share that is expected at each share ``x``; at 0 and 1 the limit, except on the linear scale."""
        u, knee = to_scale(x, self.scale), float(to_scale(self.knee, self.scale))
        # Each side in its own slope: at 0 and 1 the sum of both terms would be ∞ − ∞ or 0 · ∞.
        slope = np.where(u <= knee, self.slope, self.slope + self.change)
        with np.errstate(invalid="ignore"):
            rising = np.where(slope == 0, 0.0, slope * (u - knee))
        return from_scale(self.intercept + self.slope * knee + np.where(np.isnan(u), np.nan, rising), self.scale)


def fit_two_piece(x: np.ndarray, y: np.ndarray, knee: float | None = None, *, scale: Scale = "logit") -> TwoPiece:
    """The least-squares lines below and above a knee.

    Args:
        x: Clean accuracy of each model, a share.
        y: Its accuracy under the shift.
        knee: The clean accuracy of the model that filtered the set. None searches for the split of the models with
            the least squared error on the scale, and puts the knee in the middle of that gap; on data that have no
            knee the search finds one all the same.
        scale: On which the lines are straight.

    >>> x, y = np.array([0.4, 0.5, 0.6, 0.7, 0.8, 0.9]), np.array([0.1, 0.11, 0.12, 0.3, 0.5, 0.7])
    >>> fit = fit_two_piece(x, y, 0.65, scale="linear")
    >>> round(fit.below.slope, 3), round(fit.above.slope, 3), fit.at([0.5, 0.8]).round(3).tolist()
    (0.1, 2.0, [0.11, 0.5])
    """
    u, v, _ = on_scale(x, y, scale)
    if knee is None:
        # Linear distances on the scale are what least squares sees, so the middle is taken there.
        knee = float(from_scale(_best_split(u, v), scale))
    _check_knee(knee)
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    low = x <= knee
    below = _piece(x[low], y[low], scale, f"below the knee at {knee:.4g}")
    above = _piece(x[~low], y[~low], scale, f"above the knee at {knee:.4g}")
    fitted = [line.intercept + line.slope * u for line in (below, above)]
    return TwoPiece(knee, below, above, _r2(v, np.where(u <= to_scale(knee, scale), *fitted)))


def fit_hinge(x: np.ndarray, y: np.ndarray, knee: float | None = None, *, scale: Scale = "logit") -> Hinge:
    """The least-squares line that bends at a knee without a jump.

    Args:
        x: Clean accuracy of each model, a share.
        y: Its accuracy under the shift.
        knee: The clean accuracy of the model that filtered the set. None searches for the knee with the least squared
            error on the scale; on data that have no knee the search finds one all the same.
        scale: On which the line is straight on either side.

    >>> fit = fit_hinge([0.4, 0.5, 0.6, 0.7, 0.8], [0.1, 0.1, 0.1, 0.3, 0.5], scale="linear")
    >>> round(fit.knee, 3), abs(round(fit.slope, 3)), round(fit.change, 3)
    (0.6, 0.0, 2.0)
    """
    u, v, kept = on_scale(x, y, scale)
    if knee is None:
        knee = float(from_scale(_best_bend(u, v), scale))
    _check_knee(knee)
    bend = float(to_scale(knee, scale))
    solution, fitted = _solve_hinge(u, v, bend)
    # The intercept of the design is the height at the knee.
    height, slope, change = (float(one) for one in solution)
    return Hinge(scale, knee, slope, change, height - slope * bend, _r2(v, fitted), len(u), int((~kept).sum()))


def _piece(x: np.ndarray, y: np.ndarray, scale: Scale, where: str) -> Line:
    try:
        return fit_line(x, y, scale=scale)
    except OodometerError as error:
        raise OodometerError(f"{where}: {error}") from error


def _check_knee(knee: float) -> None:
    if not 0 < knee < 1:
        raise OodometerError(f"knee {knee:g}: must lie between 0 and 1; divide percentages by 100")


def _best_split(u: np.ndarray, v: np.ndarray) -> float:
    """The middle of the gap at which two lines of their own leave the least squared error."""
    values = np.unique(u)
    splits = [(a + b) / 2 for a, b in pairwise(values[1:-1])]
    splits = [s for s in splits if min((u <= s).sum(), (u > s).sum()) >= FEWEST_MODELS]
    if not splits:
        raise OodometerError(f"{len(u)} models: two lines need at least {FEWEST_MODELS} on each side; add models")
    return float(min(splits, key=lambda s: sum(_squares(u[side], v[side]) for side in (u <= s, u > s))))


def _best_bend(u: np.ndarray, v: np.ndarray) -> float:
    """The bend that leaves the least squared error, exactly.

    Between two neighbouring models the best bend is where two lines of their own cross, if they cross in that gap, and
    at one of the two models otherwise (Hudson, JASA 61, 1966).
    """
    values = np.unique(u)
    if len(values) < 4:
        raise OodometerError(f"{len(values)} clean accuracies: a search for the knee needs at least 4; add models")
    bends = list(values[1:-1])
    for left, right in pairwise(values[1:-1]):
        (s1, i1), (s2, i2) = (np.polyfit(u[side], v[side], 1) for side in (u <= left, u >= right))
        if s1 != s2 and left < (i1 - i2) / (s2 - s1) < right:
            bends.append((i1 - i2) / (s2 - s1))
    return float(min(bends, key=lambda bend: ((v - _solve_hinge(u, v, bend)[1]) ** 2).sum()))


def _solve_hinge(u: np.ndarray, v: np.ndarray, bend: float) -> tuple[np.ndarray, np.ndarray]:
    """Height at the bend, slope below it and change of slope; and the fitted values (n,)."""
    distance = u - bend
    design = np.stack([np.ones_like(u), distance, np.maximum(distance, 0)], axis=1)
    solution, _, rank, _ = np.linalg.lstsq(design, v)
    if rank < 3:
        raise OodometerError("too few clean accuracies on one side of the knee to determine both slopes; add models")
    return solution, design @ solution


def _squares(u: np.ndarray, v: np.ndarray) -> float:
    du, dv = u - u.mean(), v - v.mean()
    return float(dv @ dv - (du @ dv) ** 2 / (du @ du))


def _r2(v: np.ndarray, fitted: np.ndarray) -> float:
    return float(1 - ((v - fitted) ** 2).sum() / ((v - v.mean()) ** 2).sum())
