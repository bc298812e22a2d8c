"""What clean accuracy leads to expect: a line, two lines with a knee, or a plane; and ρ of every model beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from oodometer.analysis.points import Point, Points
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.effective_robustness import RhoDraws, rho_draws_from_counts, rho_draws_from_images
from oodometer.stats.line_intervals import LineSpread, band_of, line_spread, moved_by_images, spread_of_models
from oodometer.stats.lines import Line, fit_line
from oodometer.stats.scales import Scale, from_scale, to_scale
from oodometer.stats.several_clean_sets import Plane, fit_plane, rho_from_several_counts
from oodometer.stats.two_piece import fit_two_piece

BAND_PLACES = 41
"""Clean accuracies at which the band is given."""


@dataclass(frozen=True)
class Piece:
    """One line of the baseline, or its plane, on the scale; intervals over models, and over images where known.

    Args:
        slopes: One for each clean set.
        r2: The share of the variance, on the scale, that it explains.
        n: How many models it goes through.
        left_out: How many more are at exactly 0 % or 100 % and have no place on the scale.
    """

    slopes: tuple[Estimate, ...]
    intercept: Estimate
    r2: float
    n: int
    left_out: int


@dataclass(frozen=True)
class Fitted:
    """The baseline.

    Args:
        kind: ``line``, ``two lines`` with a knee, or ``plane`` over several clean sets.
        r2, n, left_out: As of a piece, over all of them.
        slope, intercept: Of a line; None for the other kinds, which have them in their pieces.
        knee: The clean accuracy at which the second of two lines takes over.
        pieces: The line; the two of them; or the plane.
    """

    kind: str
    scale: Scale
    r2: float
    n: int
    left_out: int
    slope: Estimate | None
    intercept: Estimate | None
    knee: float | None
    pieces: tuple[Piece, ...]


class Drawn(NamedTuple):
    """The baseline, ρ of every model, and between which accuracies a line lies at each clean accuracy."""

    fitted: Fitted
    rho: tuple[Estimate, ...]
    band: tuple[tuple[float, float, float], ...]


def draw_line(
    points: Points, baseline: np.ndarray, scale: Scale, resampling: Resampling, *, band_level: float | None = None
) -> Drawn:
    """One line through the baseline models, (M,) bool; ``band_level`` is that of the band, where it is another."""
    x, y = _accuracies(points)
    line = fit_line(x[baseline, 0], y[baseline], scale=scale)
    every = np.arange(len(y))
    rho = _rho(points, every, baseline, scale, resampling)  # before the spread, whose draws are the first of these
    spread = _spread(points, every, baseline, line, resampling)
    return Drawn(_one_line(line, spread, resampling.level), rho, _band(x, line, spread, band_level or resampling.level))


class LineAlone(NamedTuple):
    """The baseline as a line, with how far it may lie from the true one."""

    fitted: Fitted
    line: Line
    spread: LineSpread


def line_through(points: Points, baseline: np.ndarray, scale: Scale, resampling: Resampling) -> LineAlone:
    """The same line by itself, without ρ of the models."""
    x, y = _accuracies(points)
    line = fit_line(x[baseline, 0], y[baseline], scale=scale)
    spread = _spread(points, np.arange(len(y)), baseline, line, resampling)
    return LineAlone(_one_line(line, spread, resampling.level), line, spread)


def _one_line(line: Line, spread: LineSpread, level: float) -> Fitted:
    piece = _piece(line, spread, level)
    return Fitted("line", line.scale, line.r2, line.n, line.left_out, piece.slopes[0], piece.intercept, None, (piece,))


def draw_two_lines(
    points: Points,
    baseline: np.ndarray,
    knee: float,
    scale: Scale,
    resampling: Resampling,
    *,
    band_level: float | None = None,
) -> Drawn:
    """A line on each side of the knee; each model is judged by the line of its side."""
    x, y = _accuracies(points)
    both = fit_two_piece(x[baseline, 0], y[baseline], knee, scale=scale)
    pieces: list[Piece] = []
    rho: dict[int, Estimate] = {}
    bands: list[tuple[float, float, float]] = []
    for side, line in ((x[:, 0] <= knee, both.below), (x[:, 0] > knee, both.above)):
        models = np.flatnonzero(side)
        spread = _spread(points, models, baseline, line, resampling)
        pieces.append(_piece(line, spread, resampling.level))
        rho |= dict(zip(models.tolist(), _rho(points, models, baseline, scale, resampling), strict=True))
        bands += _band(x[models], line, spread, band_level or resampling.level)
    fitted = Fitted("two lines", scale, both.r2, both.n, both.left_out, None, None, knee, tuple(pieces))
    return Drawn(fitted, tuple(rho[at] for at in range(len(y))), tuple(bands))


def draw_plane(points: Points, baseline: np.ndarray, scale: Scale, resampling: Resampling) -> Drawn:
    """A plane over several clean sets."""
    x, y = _accuracies(points)
    plane = fit_plane(x[baseline], y[baseline], scale=scale)
    u, v = to_scale(x[baseline], scale), to_scale(y[baseline], scale)
    placed = np.isfinite(u).all(axis=1) & np.isfinite(v)
    spread = spread_of_models(u[placed], v[placed])
    intercept, *slopes = (
        spread.estimate(value, at, plane.n, resampling.level)
        for at, value in enumerate((plane.intercept, *plane.slopes))
    )
    piece = Piece(tuple(slopes), intercept, plane.r2, plane.n, plane.left_out)
    fitted = Fitted("plane", scale, plane.r2, plane.n, plane.left_out, None, None, None, (piece,))
    return Drawn(fitted, _rho_of_plane(points, plane, baseline, resampling), ())


def lines_of(fitted: Fitted, places: Sequence[tuple[float, float, float]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each line the band (P, 3) that `Drawn` has, and what the line expects there, (P,); none of a plane."""
    if not places:
        return []
    drawn = []
    for piece, part in zip(fitted.pieces, np.array_split(np.array(places), len(fitted.pieces)), strict=True):
        expected = piece.slopes[0].value * to_scale(part[:, 0], fitted.scale) + piece.intercept.value
        drawn.append((part, from_scale(expected, fitted.scale)))
    return drawn


def expected_at(fitted: Fitted, clean: float) -> float:
    """What a line expects at a clean accuracy, a share; of two lines that of its side."""
    piece = fitted.pieces[-1 if fitted.knee is not None and clean > fitted.knee else 0]
    on_scale = piece.slopes[0].value * to_scale(np.array(clean), fitted.scale) + piece.intercept.value
    return float(from_scale(on_scale, fitted.scale))


def _accuracies(points: Points) -> tuple[np.ndarray, np.ndarray]:
    """On the clean sets (M, K) and under the shift (M,)."""
    x = np.array([[one.value for one in point.x] for point in points.models])
    return x, np.array([point.y.value for point in points.models])


def _piece(line: Line, spread: LineSpread, level: float) -> Piece:
    slope, intercept = (
        spread.estimate(value, at, line.n, level) for at, value in ((1, line.slope), (0, line.intercept))
    )
    return Piece((slope,), intercept, line.r2, line.n, line.left_out)


def _spread(points: Points, models: np.ndarray, baseline: np.ndarray, line: Line, resampling: Resampling) -> LineSpread:
    """How far the line through those of the models (m,) that are in the baseline may lie from the true one."""
    x, y = _accuracies(points)
    chosen = models[baseline[models]]
    moved = None
    if points.right_x is not None and points.right_y is not None:
        moved = moved_by_images(
            points.right_x[chosen],
            points.right_y[chosen],
            line,
            same_images=points.same_images,
            resampling=resampling,
        )
    return line_spread(x[chosen, 0], y[chosen], line, by_images=moved)


def _band(x: np.ndarray, line: Line, spread: LineSpread, level: float) -> tuple[tuple[float, float, float], ...]:
    """Where a line may lie, over the range of the models that it judges, of clean accuracies (m, 1)."""
    places = np.linspace(x[:, 0].min(), x[:, 0].max(), BAND_PLACES)
    low, high = band_of(line, spread, places, level=level)
    return tuple(zip(places.tolist(), low.tolist(), high.tolist(), strict=True))


def _rho(
    points: Points, models: np.ndarray, baseline: np.ndarray, scale: Scale, resampling: Resampling
) -> tuple[Estimate, ...]:
    """ρ of some models (m,) beside the line through those of them that are in the baseline."""
    found = rho_draws(points, models, baseline, scale, resampling).estimates()
    if points.right_x is not None and points.right_y is not None:
        return found
    # Of a mAP, n is that of the images, not that of a share which would be known as well.
    return tuple(replace(rho, n=rho.n and points.models[at].y.n) for rho, at in zip(found, models, strict=True))


def rho_draws(
    points: Points, models: np.ndarray, baseline: np.ndarray, scale: Scale, resampling: Resampling
) -> RhoDraws:
    """ρ of some models (m,) in draws of the images and of the line through those of them that are in the baseline."""
    if points.right_x is not None and points.right_y is not None:
        return rho_draws_from_images(
            points.right_x[models],
            points.right_y[models],
            baseline[models],
            same_images=points.same_images,
            scale=scale,
            resampling=resampling,
        )
    x, y = _accuracies(points)
    some = [points.models[at] for at in models]
    n_x, n_y = ([points.n_behind(one, resampling.level) for one in side] for side in _sides(some))
    return rho_draws_from_counts(
        x[models, 0], y[models], n_x, n_y, baseline[models], scale=scale, resampling=resampling
    )


def _sides(points: Sequence[Point]) -> tuple[list[Estimate], list[Estimate]]:
    return [one.x[0] for one in points], [one.y for one in points]


def _rho_of_plane(points: Points, plane: Plane, baseline: np.ndarray, resampling: Resampling) -> tuple[Estimate, ...]:
    x, y = _accuracies(points)
    sizes = [tuple(points.n_behind(one, resampling.level) for one in point.x) for point in points.models]
    n_y = [points.n_behind(point.y, resampling.level) for point in points.models]

    def with_sizes(n_x: Sequence[int | None]) -> tuple[Estimate, ...]:
        return rho_from_several_counts(x, y, n_x, n_y, baseline, scale=plane.scale, resampling=resampling)

    # The sizes of the clean sets are usually those of all models.
    found = {n_x: with_sizes(n_x) for n_x in dict.fromkeys(sizes)}
    return tuple(found[n_x][at] for at, n_x in enumerate(sizes))
