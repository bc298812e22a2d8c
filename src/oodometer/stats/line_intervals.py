"""How far a line may lie from the true one: because its models are few, and because all of them saw the same images.

Percentiles over resampled models (`slope_of`, `intercept_of` and `band` in ``lines``, as the papers have them) are too
narrow with few models, and do not know that the images move all models together. Here the models count by Student's t
with the residuals of the line (the larger of the plain and the HC3 variance), and the images by the lines through the
accuracies on resampled images.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.core.random import key_words
from oodometer.stats.bootstrap import Resampling, draws_of_means
from oodometer.stats.intervals import check_level
from oodometer.stats.lines import Line, lines_in_draws, on_scale
from oodometer.stats.scales import from_scale, to_scale

STEP = 1e-5
"""On a scale, for the slope of its inverse."""
IMAGE_DRAWS = 200
"""Resamples of the images for a variance, which they tell to some 10 %; quantiles would need more."""


@dataclass(frozen=True)
class LineSpread:
    """How far a line or plane may lie from the true one, on its scale: P numbers, the intercept before the slopes.

    Args:
        by_models: Their covariance over models, (P, P); ``free`` degrees of freedom.
        by_uneven_models: The same if models may scatter differently along the line (HC3); the larger counts.
        by_images: Mean products of the distances of lines through resampled images from the line, (P, P), the bias that
            noise in clean accuracies gives to a slope included; None where the images are not known.
    """

    by_models: np.ndarray
    by_uneven_models: np.ndarray
    free: int
    by_images: np.ndarray | None

    def half_width(self, of: np.ndarray, level: float) -> np.ndarray:
        """Half an interval of each combination ``of`` the P numbers, (G, P) -> (G,)."""
        from scipy.special import ndtri, stdtrit

        check_level(level)
        upper = (1 + level) / 2
        variance = np.maximum(_along(self.by_models, of), _along(self.by_uneven_models, of))
        half = stdtrit(self.free, upper) * np.sqrt(variance)
        if self.by_images is None:
            return np.asarray(half)
        return np.asarray(np.hypot(half, ndtri(upper) * np.sqrt(_along(self.by_images, of))))

    def estimate(self, value: float, at: int, n: int, level: float) -> Estimate:
        """The number at this place with its interval; n counts models."""
        return self.combined(value, np.eye(len(self.by_models))[at], n, level)

    def combined(self, value: float, of: np.ndarray, n: int, level: float) -> Estimate:
        """A number that moves as this combination of the P numbers does, (P,), with its interval; n counts models."""
        half = float(self.half_width(of[None], level)[0])
        over = "models alone" if self.by_images is None else "models and images"
        return Estimate(value, value - half, value + half, n, f"student-t over {over} {100 * level:g}%")


def spread_of_models(u: np.ndarray, v: np.ndarray, *, by_images: np.ndarray | None = None) -> LineSpread:
    """The spread of the least-squares line of ``v`` (n,) on ``u`` (n,) or plane on (n, K), both on their scale.

    >>> u, v = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.2, 1.8, 3.2])
    >>> print(spread_of_models(u, v).estimate(1.02, 1, 4, 0.95))
    1.0200 [0.4639, 1.5761]  n=4
    """
    table = np.column_stack([np.ones(len(v)), u])
    inverse = np.linalg.inv(table.T @ table)
    residuals = v - table @ (inverse @ (table.T @ v))
    free = len(v) - table.shape[1]
    # A model that alone determines a slope lies on the line.
    alone = np.maximum(1 - ((table @ inverse) * table).sum(axis=1), 1e-9)
    pulls = (table @ inverse) * (residuals / alone)[:, None]
    return LineSpread(inverse * float(residuals @ residuals) / free, pulls.T @ pulls, free, by_images)


def line_spread(x: np.ndarray, y: np.ndarray, line: Line, *, by_images: np.ndarray | None = None) -> LineSpread:
    """The spread of a line through models of these shares, (M,) both."""
    u, v, _ = on_scale(x, y, line.scale)
    return spread_of_models(u, v, by_images=by_images)


def moved_by_images(
    right_x: np.ndarray, right_y: np.ndarray, line: Line, *, same_images: bool, resampling: Resampling
) -> np.ndarray | None:
    """How far resampling the images moves a line, as mean products (2, 2) of intercept and slope.

    None where fewer than half of the resamples determine a line.

    Args:
        right_x: Whether each model of the line was right on each clean image, (M, Nx), or in which share of conditions.
        right_y: The same under the shift, (M, Ny).
        line: Through these models.
        same_images: Whether the columns of both are the same photographs, which are resampled together then.
    """
    x, y = image_draws(right_x, right_y, same_images=same_images, resampling=resampling)
    lines = lines_in_draws(x, y, line.scale)
    moved = np.stack([lines.intercepts - line.intercept, lines.slopes - line.slope], axis=1)
    moved = moved[np.isfinite(moved).all(axis=1)]
    return moved.T @ moved / len(moved) if 2 * len(moved) >= len(x) else None


def image_draws(
    right_x: np.ndarray, right_y: np.ndarray, *, same_images: bool, resampling: Resampling
) -> tuple[np.ndarray, np.ndarray]:
    """The accuracies of all models on the same resampled images, clean and under the shift, (D, M) both."""
    few = Resampling(max(IMAGE_DRAWS, int(2 / (1 - resampling.level)) + 1), resampling.level, seed=resampling.seed)
    other = few if same_images else other_images(few)
    return draws_of_means(right_x.T, resampling=few), draws_of_means(right_y.T, resampling=other)


def other_images(resampling: Resampling) -> Resampling:
    """The same resampling with a seed of its own, for images of another set."""
    seed = int(key_words("images of the other set", seed=resampling.seed)[0])
    return Resampling(resampling.draws, resampling.level, resampling.method, seed)


def band_of(line: Line, spread: LineSpread, at: np.ndarray, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Between which shares the true line lies at each share ``at`` (G,), place by place: low (G,) and high (G,)."""
    places = to_scale(np.atleast_1d(np.asarray(at, dtype=np.float64)), line.scale)
    ends = np.isinf(places)
    inside = np.where(ends, 0.0, places)
    half = spread.half_width(np.stack([np.ones_like(inside), inside], axis=1), level)
    middle = line.intercept + line.slope * inside
    # At 0 and 1 all rising lines of a logit or probit scale meet.
    low, high = (np.where(ends, line.at(at), from_scale(middle + part, line.scale)) for part in (-half, half))
    return low, high


def rise_of(line: Line, spread: LineSpread, start: float, stop: float, *, level: float = 0.95) -> Estimate:
    """How much the line rises from one clean accuracy to another, for each point between them, with its interval.

    On the linear scale it is the slope anywhere; on the others the line is bent in accuracies, and this is its mean
    slope there, whose interval is that of the line at both ends, linearised.

    >>> x, y = np.array([0.5, 0.6, 0.7, 0.8]), np.array([0.4, 0.52, 0.58, 0.7])
    >>> line = Line("linear", slope=0.96, intercept=-0.074, r2=0.98, n=4, left_out=0)
    >>> print(rise_of(line, line_spread(x, y, line), 0.6, 0.8))
    0.9600 [0.5628, 1.3572]  n=4
    """
    places = to_scale(np.array([start, stop]), line.scale)
    on_line = line.intercept + line.slope * places
    values = from_scale(on_line, line.scale)
    steps = (from_scale(on_line + STEP, line.scale) - from_scale(on_line - STEP, line.scale)) / (2 * STEP)
    by_line = (steps[1] * np.array([1, places[1]]) - steps[0] * np.array([1, places[0]])) / (stop - start)
    return spread.combined(float((values[1] - values[0]) / (stop - start)), by_line, line.n, level)


def _along(products: np.ndarray, of: np.ndarray) -> np.ndarray:
    return np.asarray(((of @ products) * of).sum(axis=1))
