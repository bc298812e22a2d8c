"""Intervals of the smooth calibration error, which a bootstrap gets wrong as it does those in bins.

The same test is inverted as for bins (``calibration_interval``): a true error is in the interval if the number seen
would not surprise under it. What would be seen is simulated: gaps at places of confidence, each with the noise of the
images near it. An error is at least s where the gaps smoothed with the bandwidth s are at least s, so no simulated
answers need a bandwidth of their own.

How a true error lies on the range of confidences is not known: it is taken to lie as the gaps seen do, and to be
as large as the noise everywhere, once too sure and once not sure enough. The interval holds all three answers.
"""

from __future__ import annotations

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.core.random import rng_for
from oodometer.metrics.calibration_interval import (
    FEWEST_IMAGES,
    LARGEST,
    design_effect,
    estimate_between,
    rises_to_zero,
)
from oodometer.metrics.reliability import checked_answers
from oodometer.metrics.smooth_calibration import (
    errors_at,
    middles,
    own_bandwidths,
    smooth_calibration_error,
    smoothed,
    spread_out,
)

ENOUGH_FOR_A_MEDIAN = 200
FEWEST_DRAWS, MOST_DRAWS = 500, 1000
DRAWN = 1 << 18
"""Simulated sets of answers times places of confidence: fewer sets where the places are many."""

PLACES_TO_A_BANDWIDTH = 3
FEWEST_PLACES, MOST_PLACES = 64, 1024


def smooth_calibration_estimate(
    confidence: np.ndarray,
    right: np.ndarray,
    *,
    level: float = 0.95,
    clusters: np.ndarray | None = None,
    seed: int = 0,
) -> Estimate:
    """The smooth calibration error with its interval; without one, why there is none.

    Args:
        clusters: The video, class... of each image, where images of a group are not independent.
        seed: Of the simulation.

    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.random(2000)
    >>> print(smooth_calibration_estimate(confidence, rng.random(2000) < confidence))
    0.0252 [0.0000, 0.0360]  n=2000
    """
    confidence, right = checked_answers(confidence, right)
    value, n = smooth_calibration_error(confidence, right), len(right)
    if n < FEWEST_IMAGES:
        return Estimate(value, None, None, n, f"none: fewer than {FEWEST_IMAGES} images")
    spread = 1.0 if clusters is None else design_effect(confidence, right, clusters)
    ends = smooth_calibration_interval(confidence, right, value=value, level=level, spread=spread, seed=seed)
    return estimate_between(value, ends, n=n, level=level, clustered=clusters is not None)


def smooth_calibration_interval(
    confidence: np.ndarray, right: np.ndarray, *, value: float, level: float = 0.95, spread: float = 1.0, seed: int = 0
) -> tuple[float, float]:
    """Between which values the true smooth error lies: that of all images there are.

    Args:
        value: The error of these.
        spread: By how much the gaps vary more than those of independent images do, as variances.
        seed: Of the simulation.
    """
    simulation = _Simulation(confidence, right, value, spread, seed)
    tail = (1 - level) / 2
    usual = max(value, simulation.median_if_calibrated())
    lows, highs = [value], [value]
    for shape in simulation.shapes:
        lows.append(simulation.error_where(shape, value, 1 - tail, value))
        highs.append(simulation.error_where(shape, usual, tail))
    return min(lows), max(highs)


class _Simulation:
    """Gaps that images of these confidences would show, if the true ones were of some shape and size."""

    def __init__(self, confidence: np.ndarray, right: np.ndarray, value: float, spread: float, seed: int) -> None:
        n = len(right)
        wanted = PLACES_TO_A_BANDWIDTH / max(value, 1e-6)
        places = int(np.clip(1 << int(np.ceil(np.log2(wanted))), FEWEST_PLACES, MOST_PLACES))
        self._middles = middles(places)
        self._share = spread_out(confidence, np.ones(n), places)[0] / n
        self._seen = spread_out(confidence, confidence.astype(np.float64) - right, places)[0] / n
        drawn = rng_for("smooth calibration", seed=seed).normal(
            size=(int(np.clip(DRAWN // places, FEWEST_DRAWS, MOST_DRAWS)), places)
        )
        # Single precision is more than the simulation has, at twice the speed.
        self._noise = (drawn * np.sqrt(spread / n)).astype(np.float32)
        self._if_calibrated: dict[tuple[float, float] | None, float] = {}
        self._bandwidth = max(value, 1 / places)

    @property
    def shapes(self) -> list[np.ndarray]:
        """True gaps at each place, whose mean size over the images is 1, (P,) each."""
        density = np.maximum(smoothed(self._share[None], self._bandwidth)[0], 1e-12)
        seen = smoothed(self._seen[None], self._bandwidth)[0] / density
        noise = np.sqrt(self._middles * (1 - self._middles) / density)
        sizes = [(shape, float(np.abs(shape) @ self._share)) for shape in (seen, noise, -noise)]
        return [shape / size for shape, size in sizes if size > 0]

    def median_if_calibrated(self) -> float:
        """The error that a calibrated model stays below in half of all cases."""
        gaps = self._gaps(self._middles, 0.0)
        return float(np.median(own_bandwidths(gaps[:ENOUGH_FOR_A_MEDIAN])))

    def error_where(self, shape: np.ndarray, seen: float, share: float, if_never: float | None = None) -> float:
        """The true error of a shape under which this share of errors is below the one that was seen; 0 if none is.

        Args:
            if_never: What it is if so few are below it under no error of this shape; None: the largest such error.
        """

        def beyond(times: float) -> float:
            known = (seen, share) if times == 0 else None  # of a calibrated model: the same for all shapes
            if known in self._if_calibrated:
                return self._if_calibrated[known]
            found = float(np.quantile(errors_at(self._gaps(shape, times), seen), share)) - seen
            if known is not None:
                self._if_calibrated[known] = found
            return found

        times = rises_to_zero(beyond, seen)
        return if_never if times > LARGEST and if_never is not None else self._true_error(shape, times)

    def _true_error(self, shape: np.ndarray, times: float) -> float:
        return 0.0 if times == 0 else float(own_bandwidths((self._true_gaps(shape, times) * self._share)[None])[0])

    def _true_gaps(self, shape: np.ndarray, times: float) -> np.ndarray:
        """Those that leave accuracies between 0 and 1."""
        return np.asarray(self._middles - np.clip(self._middles - times * shape, 0.0, 1.0))

    def _gaps(self, shape: np.ndarray, times: float) -> np.ndarray:
        """Simulated sums of gaps at each place over all images, (D, P)."""
        true = self._true_gaps(shape, times)
        accuracy = self._middles - true
        gaps = self._noise * np.sqrt(accuracy * (1 - accuracy) * self._share).astype(np.float32)
        gaps += (true * self._share).astype(np.float32)
        return np.asarray(gaps)
