"""Effective robustness in resamples of the images: the same photographs are resampled for every shift that has them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from oodometer.analysis.line_rules import NO_KNEE, RobustnessOptions, knee_of
from oodometer.analysis.points import Points
from oodometer.core.errors import OodometerError
from oodometer.stats.line_intervals import IMAGE_DRAWS
from oodometer.stats.lines import fit_line, lines_in_draws
from oodometer.stats.photographs import means_in_draws
from oodometer.stats.scales import from_scale, to_scale
from oodometer.stats.two_piece import TwoPiece, fit_two_piece


def rho_values(points: Points, baseline: np.ndarray, options: RobustnessOptions) -> np.ndarray:
    """ρ of every model, (M,), without intervals: the same values as `robustness_of` gives.

    A knee that leaves too few models on a side gives way to one line, as in `robustness_by_rules`.
    """
    x = np.array([point.x[0].value for point in points.models])
    y = np.array([point.y.value for point in points.models])
    two = _two_lines(x, y, points, baseline, options)
    expected = two.at(x) if two else fit_line(x[baseline], y[baseline], scale=options.scale).at(x)
    return np.asarray(y - expected)


def rho_draws(points: Points, baseline: np.ndarray, options: RobustnessOptions) -> np.ndarray | None:
    """ρ of every model in each resample of the images, (D, M), each with a line of its own; None: images not known."""
    if points.right_x is None or points.right_y is None or points.ids_x is None or points.ids_y is None:
        return None
    seed = options.resampling.seed
    x = _means(points.right_x, "clean", points.ids_x, seed)
    # Names of photographs of two sets may be the same by chance.
    side = ("clean", points.ids_x) if points.same_images else ("shifted", points.ids_y)
    y = _means(points.right_y, *side, seed)
    if _two_lines(x[0], y[0], points, baseline, options):
        return np.stack([_rho_in_draw(a, b, points, baseline, options) for a, b in zip(x, y, strict=True)])
    lines = lines_in_draws(x[:, baseline], y[:, baseline], options.scale)
    with np.errstate(invalid="ignore"):
        places = lines.intercepts[:, None] + lines.slopes[:, None] * to_scale(x, options.scale)
        return np.asarray(y - from_scale(places, options.scale))


def _means(right: np.ndarray, side: str, ids: Sequence[str] | np.ndarray, seed: int) -> np.ndarray:
    """The accuracy of each model in each resample of these photographs, (D, M)."""
    return means_in_draws(right, [f"{side} {name}" for name in ids], IMAGE_DRAWS, seed=seed)


def _rho_in_draw(
    x: np.ndarray, y: np.ndarray, points: Points, baseline: np.ndarray, options: RobustnessOptions
) -> np.ndarray:
    line = _two_lines(x, y, points, baseline, options)
    return np.full(len(x), np.nan) if line is None else np.asarray(y - line.at(x))


def _two_lines(
    x: np.ndarray, y: np.ndarray, points: Points, baseline: np.ndarray, options: RobustnessOptions
) -> TwoPiece | None:
    """The two lines of a knee, where one is asked for and both sides have models."""
    if options.knee is None or options.knee == NO_KNEE:
        return None
    with contextlib.suppress(OodometerError):
        return fit_two_piece(x[baseline], y[baseline], knee_of(points, options.knee), scale=options.scale)
    return None
