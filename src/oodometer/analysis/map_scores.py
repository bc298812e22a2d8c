"""Mean average precision where images have several labels, as on DeepFashion Remixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from oodometer.analysis.average_precision import centred, ranked
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score, about, or_left_out
from oodometer.core.errors import OodometerError, StoreError
from oodometer.metrics.average_precision import DFR_SHIFTS, class_precision, ood_mean
from oodometer.metrics.ood_detection import Area
from oodometer.stats.bootstrap import Resampling, interval_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index

AREAS: dict[str, tuple[Area, str]] = {
    "map": ("average-precision", "average precision of each label"),
    "map:trapezoid": (
        "trapezoid",
        "trapezoid area under each label's precision-recall curve, as in the published DeepFashion Remixed numbers",
    ),
}
"""Metric to the area under the curve of each label, and its name."""

OOD = {"map-ood": "map", "map-ood:trapezoid": "map:trapezoid"}
"""The mean over the shifts of DeepFashion Remixed, of which metric."""

DFR = "dfr"
"""Before the names of these shifts."""


def map_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """The mAP of every cell whose images have several labels; and its mean over the shifts of DeepFashion Remixed.

    The interval is a bootstrap over images or groups of them, centred on the value, whatever is asked for.
    """
    several = [cell for cell in cells if index.images(cell).other_labels is not None]
    if not several:
        raise OodometerError("no data with several labels per image (in a manifest, the column labels)")
    resampling = replace(asked.how.resampling, method="percentile")
    if asked.wants(*AREAS):
        for cell in several:
            found = _of_cell(index, cell, asked, resampling)
            names = tuple(name for name in AREAS if asked.wants(name))
            yield from or_left_out(found, names, f"{cell.condition_name} of {cell.data.title}")
    if asked.wants(*OOD):
        names = tuple(name for name in OOD if asked.wants(name))
        yield from or_left_out(_ood(index, several, asked, resampling), names)


def _of_cell(index: Index, cell: Cell, asked: Asked, resampling: Resampling) -> Iterator[Score | LeftOut]:
    found = ranked(index, cell, asked.how.by)
    of_cell = about(index, [cell], missing=found.missing)
    n_unused = int((~found.targets.any(axis=0)).sum())
    without = f"; {n_unused} of {cell.n_classes} labels left out, which no image has" if n_unused else ""
    for metric, (area, said) in AREAS.items():
        if asked.wants(metric):
            convention = f"{said}; mean weighted by the images that have the label{without}"
            yield of_cell.score(metric, found.estimate(area, resampling), convention)


def _ood(index: Index, cells: Sequence[Cell], asked: Asked, resampling: Resampling) -> Iterator[Score]:
    """The mean over the eight shifts, each resampled on its own."""
    shifts = _eight(cells)
    of_shift = {name: ranked(index, cell, asked.how.by) for name, cell in shifts.items()}
    n = sum(len(one.scores) for one in of_shift.values())
    missing = sum(one.missing for one in of_shift.values())
    of_shifts = about(index, list(shifts.values()), missing=missing, data=DFR)
    for metric, of in OOD.items():
        if not asked.wants(metric):
            continue
        area, said = AREAS[of]
        values = {name: class_precision(one.scores, one.targets, area=area).mean() for name, one in of_shift.items()}
        draws = np.mean(
            [
                one.draws(area, replace(resampling, seed=len(of_shift) * resampling.seed + place))
                for place, one in enumerate(of_shift.values())
            ],
            axis=0,
        )
        name, value = next(iter(of_shift.values())).draws_are_of, ood_mean(values)
        estimate = interval_of(centred(draws, value), value, n=n, resampling=resampling, name=name)
        convention = f"plain mean of {of} over the eight shifts of DeepFashion Remixed; {said}"
        yield of_shifts.score(metric, estimate, convention, condition=DFR)


def _eight(cells: Sequence[Cell]) -> dict[str, Cell]:
    found: dict[str, Cell] = {}
    for name in DFR_SHIFTS:
        of_name = [cell for cell in cells if cell.condition_name == f"{DFR}/{name}"]
        if len(of_name) > 1:
            raise StoreError(f"{DFR}/{name} was run on {len(of_name)} data sets; keep each in a store of its own")
        if of_name:
            found[name] = of_name[0]
    missing = [name for name in DFR_SHIFTS if name not in found]
    if missing:
        raise OodometerError(f"the mean is over eight shifts, run with --on {DFR}; missing: {', '.join(missing)}")
    return found
