"""All metrics of one cell that are asked for, and what they share: columns, sorting, draws, bins."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from oodometer.analysis.intervals import (
    IntervalOptions,
    counts_of,
    estimate_of,
    estimate_of_its_own,
    n_groups,
    name_of,
)
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import Predictions
from oodometer.metrics.calibration_error import BINNINGS, Bins, bins_of, bins_of_many, error_of
from oodometer.metrics.calibration_interval import (
    calibration_interval,
    calibration_intervals,
    estimate_between,
    why_no_interval,
)
from oodometer.metrics.generalized_risk import influences_on_generalized_risk
from oodometer.metrics.metric import Metric, columns_of, metrics
from oodometer.metrics.resampled import OF_ANSWERS, OF_CLASSES, resampled_answers, resampled_classes
from oodometer.metrics.selective import influences_on_area, influences_on_areas, influences_on_risk
from oodometer.stats.bootstrap import interval_of

MANY_IMAGES = 10_000
"""From here on the interval of an area under a curve is the normal one, which a bootstrap would give in minutes."""

AREAS = frozenset({"aurra", "aurc"})
"""Those that are found of many cells at once."""

INFLUENCES: Mapping[str, Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]]] = {
    "augrc": influences_on_generalized_risk,
    "risk@80%": influences_on_risk,
}
"""Others of many images, whose value and influences are found cell by cell."""

SORTING = ("aurra", "aurc", "rms-calibration", "rms-calibration:published", "adaptive-ece")
"""Metrics that sort the images by confidence: quicker where these are sorted already, and the same."""

IMAGES_AT_ONCE = 100_000
"""Of cells of as many images each, how many answers are sorted together: what lies in a processor's cache."""


class CellEstimates:
    """Metrics of the rows of one cell; those that are resampled share the sorting and the draws.

    Args:
        wanted: All that will be asked for.
        clusters: The group of each row, where groups are resampled.
    """

    def __init__(
        self, rows: Predictions, wanted: Sequence[Metric], how: IntervalOptions, clusters: np.ndarray | None = None
    ) -> None:
        self._rows = rows
        self._names = [metric.name for metric in wanted]
        self._how = how
        self._clusters = clusters
        self._draws: dict[str, np.ndarray] = {}
        self._known_columns: dict[tuple[str, ...], tuple[np.ndarray, ...]] = {}
        self._sorted: tuple[np.ndarray, ...] = ()
        self._calibration_bins: dict[str, Bins] = {}
        self._calibration_ends: dict[str, tuple[float, float]] = {}
        self._area: tuple[float, float] | None = None

    def of(self, metric: Metric) -> Estimate:
        """The metric with its interval."""
        clusters = self._clusters
        columns = self._columns(metric)
        if clusters is not None and len(columns[0]) < len(self._rows):
            clusters = clusters[self._rows.rank >= 0]
        # Not for what is resampled: models on the same images are resampled alike, image by image.
        in_order = self._by_confidence(columns) if clusters is None and metric.name in SORTING else columns
        if clusters is None and metric.name in BINNINGS:
            return self._calibration(metric.name, *in_order)
        if metric.name in AREAS and self._many_images(len(columns[0])):
            return self._area_estimate(metric, *in_order)
        if metric.name in INFLUENCES and self._many_images(len(columns[0])):
            confidence, rank = columns
            value, influences = INFLUENCES[metric.name](confidence, rank == 0)
            return self._normal_estimate(metric, value, float(influences.std()), rank == 0)
        own = estimate_of_its_own(metric, in_order, self._how, clusters)
        if own is not None:
            return own
        if metric.name not in (*OF_ANSWERS, *OF_CLASSES) or self._how.resampling.method == "bca":
            return estimate_of(metric, columns, self._how, clusters)
        value = float(metric.of(*columns))
        if metric.name not in self._draws:
            counts = counts_of(len(columns[0]), self._how.resampling, clusters)
            if metric.name in OF_ANSWERS:
                confidence, rank = columns
                names = [name for name in self._names if name in OF_ANSWERS]
                self._draws.update(resampled_answers(names, confidence, rank == 0, counts))
            else:
                names = [name for name in self._names if name in OF_CLASSES]
                label, rank = columns
                self._draws.update(resampled_classes(names, label, rank, counts))
        return interval_of(
            self._draws[metric.name],
            value,
            n=len(columns[0]),
            resampling=self._how.resampling,
            name=name_of(clusters),
            groups=n_groups(clusters),
            bounds=metric.bounds,
        )

    def _many_images(self, n: int) -> bool:
        """Whether areas under curves of so many images have the normal interval."""
        return n >= MANY_IMAGES and not self._how.resamples_all

    def _area_estimate(self, metric: Metric, confidence: np.ndarray, rank: np.ndarray) -> Estimate:
        """An area with the normal interval that its images' influences give."""
        right = rank == 0
        if self._area is None:
            area, influences = influences_on_area(confidence, right)
            self._area = area, float(influences.std())
        area, deviation = self._area
        return self._normal_estimate(metric, area if metric.name == "aurra" else 1 - area, deviation, right)

    def _normal_estimate(self, metric: Metric, value: float, deviation: float, right: np.ndarray) -> Estimate:
        """A value with its normal interval, from the deviation of the images' influences."""
        from scipy.special import ndtri

        n = len(right)
        if right.all() or not right.any():
            return Estimate(value, None, None, n, "none: all images are answered alike")
        half = float(ndtri((1 + self._how.level) / 2) * deviation / np.sqrt(n))
        low, high = np.clip([value - half, value + half], *metric.bounds).tolist()
        return Estimate(value, low, high, n, f"infinitesimal jackknife {100 * self._how.level:g}%")

    def _calibration(self, name: str, confidence: np.ndarray, rank: np.ndarray) -> Estimate:
        """A calibration error with its interval."""
        bins = self._calibration_bins.get(name) or bins_of(name, confidence, rank == 0)
        norm, n = BINNINGS[name][1], len(rank)
        value = error_of(bins, norm)
        if why := why_no_interval(name, n):
            return Estimate(value, None, None, n, f"none: {why}")
        level = self._how.level
        ends = self._calibration_ends.get(name) or calibration_interval(bins, norm, level=level)
        return estimate_between(value, ends, n=n, level=level)

    @staticmethod
    def prepare(many: Sequence[CellEstimates]) -> None:
        """Sort the answers of many cells, and find what will be asked for of calibration and areas, some cells at once.

        Threads of Python wait for one another between two operations. On several cells at once operations take longer,
        and so the threads wait less; where something is undefined, `of` will say so.
        """
        alike: dict[int, list[CellEstimates]] = {}
        for cell in many:
            with contextlib.suppress(OodometerError):
                if cell._clusters is None and not cell._sorted and (names := cell._sorting):
                    alike.setdefault(len(cell._columns(metrics.get(names[0]))[0]), []).append(cell)
        for n, cells in alike.items():
            at_once = max(1, IMAGES_AT_ONCE // n)
            for start in range(0, len(cells), at_once):
                CellEstimates._sort(cells[start : start + at_once])
        CellEstimates._find_calibration_intervals(many)

    @staticmethod
    def _sort(cells: Sequence[CellEstimates]) -> None:
        """Sort the answers of cells of as many images each, and find what is asked for of them."""
        columns = [cell._columns(metrics.get(cell._sorting[0])) for cell in cells]
        confidence, rank = by_confidence(*(np.stack(values) for values in zip(*columns, strict=True)))
        for cell, *in_order in zip(cells, confidence, rank, strict=True):
            cell._sorted = tuple(in_order)
        good = np.flatnonzero((confidence[:, 0] >= 0) & (confidence[:, -1] <= 1)).tolist()
        if not good:
            return
        confidence, right = confidence[good], rank[good] == 0
        for name in BINNINGS:
            if any(name in cell._names for cell in cells):
                with contextlib.suppress(OodometerError):
                    for at, bins in zip(good, bins_of_many(name, confidence, right), strict=True):
                        cells[at]._calibration_bins[name] = bins
        if any(cell._many_images(confidence.shape[1]) and not AREAS.isdisjoint(cell._names) for cell in cells):
            areas, influences = influences_on_areas(confidence[:, ::-1], right[:, ::-1])
            for at, area, deviation in zip(good, areas.tolist(), influences.std(axis=1).tolist(), strict=True):
                cells[at]._area = area, deviation

    @staticmethod
    def _find_calibration_intervals(many: Sequence[CellEstimates]) -> None:
        """Search for the intervals of the calibration errors of many cells at once, which is much quicker."""
        for name, (_, norm) in BINNINGS.items():
            cells = [cell for cell in many if name in cell._calibration_bins]
            cells = [cell for cell in cells if not why_no_interval(name, int(cell._calibration_bins[name].n))]
            if cells:
                bins = [cell._calibration_bins[name] for cell in cells]
                for cell, ends in zip(cells, calibration_intervals(bins, norm, level=cells[0]._how.level), strict=True):
                    cell._calibration_ends[name] = ends

    @property
    def _sorting(self) -> list[str]:
        """Names of what will be asked for of images that are sorted by confidence."""
        return [name for name in self._names if name in SORTING or name in BINNINGS]

    def _columns(self, metric: Metric) -> tuple[np.ndarray, ...]:
        """Those that the metric wants; an error where it is undefined."""
        if metric.columns not in self._known_columns:
            self._known_columns[metric.columns] = columns_of(metric, self._rows)
        return self._known_columns[metric.columns]

    def _by_confidence(self, columns: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Confidence and rank, sorted once for all metrics of `SORTING`."""
        if not self._sorted:
            self._sorted = by_confidence(*columns)
        return self._sorted


def by_confidence(confidence: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The confidences, float32 (N,), in order, and of each whether it is right: a rank of 0 or 1.

    Bits of positive numbers are in the order of the numbers. So one sort of whole numbers, each with the answer as its
    last bit, does the work of a sort of pairs in a tenth of the time.

    >>> confidence, rank = by_confidence(np.array([0.75, 0.5, 1.0], dtype=np.float32), np.array([0, 3, 1]))
    >>> confidence.tolist(), rank.tolist()
    ([0.5, 0.75, 1.0], [1, 0, 1])
    """
    bits = np.ascontiguousarray(confidence, dtype=np.float32).view(np.uint32)
    # Of minus nought the sign is lost, and with it nothing.
    both = np.sort((bits << np.uint32(1)) | (rank != 0))
    return (both >> np.uint32(1)).view(np.float32), (both & np.uint32(1)).astype(np.int32)
