"""How often conformal sets calibrated on clean images hold the true class under each condition, and how large they are.

A random half of the images of the clean side calibrates, and never judges: neither as they are, nor as the corrupted
images made of them. The rest of them, and all other images, judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.analysis.common_images import clusters_of
from oodometer.analysis.fitted_on import cell_to_fit_on
from oodometer.analysis.intervals import IntervalOptions, share_estimate
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.named import model_of
from oodometer.analysis.score_table import LeftOut, Score, about, or_left_out
from oodometer.analysis.temperature_scaling import Scaled
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import Predictions, taken
from oodometer.core.random import rng_for
from oodometer.metrics.conformal import (
    adaptive_scores,
    adaptive_sizes,
    conformal_threshold,
    coverage_by_chance,
    least_likely_scores,
    least_likely_sizes,
)
from oodometer.metrics.metric import Metric, columns_of
from oodometer.stats.bootstrap import bootstrap_means
from oodometer.stats.intervals import mean_of
from oodometer.store.cells import Cell
from oodometer.store.images import Images
from oodometer.store.index import Index

COVERAGE, SIZE, ADAPTIVE = "conformal-coverage", "conformal-set-size", ":aps"
UNLESS_NAMED = "clean"
LOG_PROBABILITY = Metric(COVERAGE, "", ("label_log_probability",), least_likely_scores)
"""What coverage is made of, of the least likely class that is let in."""

WORDS = {"": "classes above one probability (THR)", ADAPTIVE: "classes up to a summed probability (APS)"}


@dataclass(frozen=True)
class Judged:
    """The images of a cell that judge its sets.

    Args:
        rows: Of these images, each with a label.
        threshold: Of the score, from ``n_calibrating`` images of the cell ``clean``.
        clusters: The group of each image, where groups are resampled.
        missing: Images of the condition that have no row.
    """

    cell: Cell
    rows: Predictions
    threshold: float
    n_calibrating: int
    clean: Cell
    clusters: np.ndarray | None
    missing: int


class Conformal:
    """Thresholds of one model's cells, each found once, and what sets do elsewhere.

    Args:
        cells: Of the model, among them the clean ones.
        adaptive: ``ADAPTIVE``; empty: THR.
    """

    def __init__(self, index: Index, cells: Sequence[Cell], asked: Asked, adaptive: str = "") -> None:
        self._index = index
        self._cells = cells
        self._asked = asked
        self._adaptive = adaptive
        self._scaled = Scaled(index, cells, asked.options.temperature)
        self._thresholds: dict[str, tuple[float, int]] = {}

    def judged(self, cell: Cell, *, with_logits: bool = False) -> Judged:
        """The images of a cell that judge; with logits where the size of their sets is asked for."""
        clean = self.clean_of(cell)
        threshold, n_calibrating = self._threshold(clean)
        rows = self._read(cell, with_logits=with_logits)
        kept = np.flatnonzero(~self._calibrating(clean, cell, rows) & (rows.rank >= 0))
        if not len(kept):
            raise OodometerError("no labelled images beside those that calibrate, so it is undefined")
        by = self._asked.how.by
        clusters = clusters_of(self._index.images(cell), rows, by)[kept] if by else None
        missing = cell.n_rows - len(rows)
        return Judged(cell, taken(rows, kept), threshold, n_calibrating, clean, clusters, missing)

    def covered(self, judged: Judged) -> np.ndarray:
        """Whether the set of each image holds its class, (N,)."""
        return np.asarray(self._scores(judged.cell, judged.rows) <= judged.threshold)

    def sizes(self, judged: Judged) -> np.ndarray:
        """How many classes the set of each image has, (N,)."""
        logits = np.asarray(judged.rows.logits)
        if self._adaptive:
            return adaptive_sizes(logits, judged.threshold, self._uniform(judged.cell, judged.rows))
        return least_likely_sizes(logits, judged.threshold)

    def note(self, cell: Cell) -> str:
        """What was done to the logits."""
        return self._scaled.note(cell)

    def clean_of(self, cell: Cell) -> Cell:
        """Where the sets of a cell are calibrated: the standard side of its shift, or what the user named."""
        own = [one for one in self._cells if model_of(one) == model_of(cell)]
        named = self._asked.options.calibrate_on
        if named is None:
            sides = {one.standard.key for one in self._index.shifts if one.shifted.key == cell.condition.key}
            standard = [one for one in own if one.condition.key in sides and one.classes == cell.classes]
            if len(standard) == 1:
                return standard[0]
            is_standard = any(one.standard.key == cell.condition.key for one in self._index.shifts)
            if is_standard or cell.condition_name == UNLESS_NAMED:
                return cell
        clean = cell_to_fit_on(
            self._index, own, cell, named or UNLESS_NAMED, "its conformal sets should be calibrated (--calibrate-on)"
        )
        if clean.classes != cell.classes:
            raise StoreError(
                f"{self._index}: {cell.model_name} answers {cell.condition_name} over other classes than "
                f"{clean.condition_name}, so that its sets can't be calibrated there; run the clean images of these "
                "classes"
            )
        return clean

    def _threshold(self, clean: Cell) -> tuple[float, int]:
        """The threshold, and how many images it is from."""
        if clean.key not in self._thresholds:
            rows = self._read(clean)
            some = taken(rows, np.flatnonzero(self._calibrating(clean, clean, rows) & (rows.rank >= 0)))
            found = conformal_threshold(self._scores(clean, some), alpha=self._asked.options.alpha)
            self._thresholds[clean.key] = found, len(some)
        return self._thresholds[clean.key]

    def _read(self, cell: Cell, *, with_logits: bool = False) -> Predictions:
        if not with_logits and not self._adaptive:
            return self._scaled.read(cell)
        what = "a summed probability (APS)" if self._adaptive else "the size of a set of classes"
        _, logits = self._scaled.with_logits(cell, what)
        return replace(self._scaled.read(cell), logits=logits)

    def _scores(self, cell: Cell, rows: Predictions) -> np.ndarray:
        """Of every row; each has a label."""
        if self._adaptive and len(rows):
            return adaptive_scores(np.asarray(rows.logits), rows.label, self._uniform(cell, rows))
        return least_likely_scores(*columns_of(LOG_PROBABILITY, rows))

    def _uniform(self, cell: Cell, rows: Predictions) -> np.ndarray:
        """A random number of each image: that of its place in the data, the same for every model and corruption."""
        n = len(self._index.images(cell).ids)
        return np.asarray(rng_for("conformal sets", seed=self._asked.how.seed).random(n)[rows.image])

    def _calibrating(self, clean: Cell, cell: Cell, rows: Predictions) -> np.ndarray:
        """Which rows are of images that calibrate, (N,)."""
        chosen = calibrating_half(self._index.images(clean), self._asked.how.seed)
        if clean.data.digest == cell.data.digest:
            return np.asarray(chosen[rows.image])
        ids = set(self._index.images(clean).ids[chosen].tolist())
        return np.array([one in ids for one in self._index.images(cell).ids[rows.image].tolist()], dtype=bool)


def calibrating_half(images: Images, seed: int) -> np.ndarray:
    """A random half of the images of a data set, the same for every model, (N,) of True and False."""
    n = len(images.ids)
    chosen = np.zeros(n, dtype=bool)
    chosen[rng_for("conformal calibration", seed=seed).permutation(n)[: n // 2]] = True
    return chosen


def conformal_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """Coverage and mean set size of every cell of a model."""
    for adaptive in ("", ADAPTIVE):
        names = [name for name in (COVERAGE + adaptive, SIZE + adaptive) if asked.wants(name)]
        conformal = Conformal(index, cells, asked, adaptive)
        for cell in cells if names else ():
            for name in names:
                found = _of_cell(index, conformal, cell, name, asked)
                yield from or_left_out(found, (name,))


def _of_cell(index: Index, conformal: Conformal, cell: Cell, name: str, asked: Asked) -> Iterator[Score]:
    of_size = name.startswith(SIZE)
    judged = conformal.judged(cell, with_logits=of_size)
    if of_size:
        estimate = size_estimate(conformal.sizes(judged), cell.n_classes, asked.how, judged.clusters)
    else:
        estimate = share_estimate(conformal.covered(judged), asked.how, judged.clusters)
    adaptive = ADAPTIVE if name.endswith(ADAPTIVE) else ""
    convention = convention_of(judged, asked.options.alpha, adaptive) + conformal.note(cell)
    yield about(index, [cell], missing=judged.missing).score(name, estimate, convention)


def size_estimate(
    sizes: np.ndarray, n_classes: int, how: IntervalOptions, clusters: np.ndarray | None = None
) -> Estimate:
    """The mean size of sets with its interval."""
    bounds = (0.0, float(n_classes))
    if how.resamples_all:
        return bootstrap_means(sizes, resampling=how.resampling, clusters=clusters, bounds=bounds)
    return mean_of(sizes, level=how.level, bounds=bounds)


def convention_of(judged: Judged, alpha: float, adaptive: str = "") -> str:
    """What was promised, from which images; and what the interval takes as it is."""
    low, high = coverage_by_chance(judged.n_calibrating, alpha=alpha)
    return (
        f"{100 * (1 - alpha):g} % promised, {WORDS[adaptive]}; threshold from {judged.n_calibrating} images of "
        f"{judged.clean.condition_name}, judged on others; the interval takes it as given (by chance of these images "
        f"{100 * low:.1f} to {100 * high:.1f} % without a shift)"
    )
