"""Mean average precision where images have several labels, as on DeepFashion Remixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.analysis.common_images import clusters_of
from oodometer.analysis.intervals import counts_of
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score, about, or_left_out
from oodometer.core.errors import OodometerError, StoreError
from oodometer.metrics.average_precision import (
    DFR_SHIFTS,
    class_precision,
    mean_average_precisions,
    ood_mean,
)
from oodometer.metrics.ood_detection import Area
from oodometer.stats.bootstrap import Resampling, interval_of
from oodometer.store.cells import Cell
from oodometer.store.images import Images
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


@dataclass(frozen=True)
class _Ranked:
    """Images with a score for every label, and which labels each has.

    Args:
        scores, targets: (N, C) both, of the images that have labels.
        clusters: The group of each, where groups are resampled.
        missing: Images of the cell that have no answer.
    """

    scores: np.ndarray
    targets: np.ndarray
    clusters: np.ndarray | None
    missing: int

    @property
    def draws_are_of(self) -> str:
        return "centred bootstrap" if self.clusters is None else "centred cluster bootstrap"

    def draws(self, area: Area, resampling: Resampling) -> np.ndarray:
        """The mAP of each resample of the images, (D,)."""
        blocks = counts_of(len(self.scores), resampling, self.clusters)
        found = [mean_average_precisions(self.scores, self.targets, block, area=area) for block in blocks]
        return np.concatenate(found)


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
            found = _of_cell(index, cell, index.images(cell), asked, resampling)
            names = tuple(name for name in AREAS if asked.wants(name))
            yield from or_left_out(found, names, f"{cell.condition_name} of {cell.data.title}")
    if asked.wants(*OOD):
        names = tuple(name for name in OOD if asked.wants(name))
        yield from or_left_out(_ood(index, several, asked, resampling), names)


def _of_cell(
    index: Index, cell: Cell, images: Images, asked: Asked, resampling: Resampling
) -> Iterator[Score | LeftOut]:
    ranked = _ranked(index, cell, images, asked.how.by)
    of_cell = about(index, [cell], missing=ranked.missing)
    for metric, (area, said) in AREAS.items():
        if asked.wants(metric):
            found = class_precision(ranked.scores, ranked.targets, area=area)
            draws, n = centred(ranked.draws(area, resampling), found.mean()), len(ranked.scores)
            estimate = interval_of(draws, found.mean(), n=n, resampling=resampling, name=ranked.draws_are_of)
            without = (
                f"; {len(found.left_out)} of {cell.n_classes} labels left out, which no image has"
                if found.left_out
                else ""
            )
            yield of_cell.score(metric, estimate, f"{said}; mean weighted by the images that have the label{without}")


def _ood(index: Index, cells: Sequence[Cell], asked: Asked, resampling: Resampling) -> Iterator[Score]:
    """The mean over the eight shifts, each resampled on its own."""
    shifts = _eight(cells)
    ranked = {name: _ranked(index, cell, index.images(cell), asked.how.by) for name, cell in shifts.items()}
    n = sum(len(one.scores) for one in ranked.values())
    missing = sum(one.missing for one in ranked.values())
    of_shifts = about(index, list(shifts.values()), missing=missing, data=DFR)
    for metric, of in OOD.items():
        if not asked.wants(metric):
            continue
        area, said = AREAS[of]
        values = {name: class_precision(one.scores, one.targets, area=area).mean() for name, one in ranked.items()}
        draws = np.mean(
            [
                one.draws(area, replace(resampling, seed=len(ranked) * resampling.seed + place))
                for place, one in enumerate(ranked.values())
            ],
            axis=0,
        )
        name, value = next(iter(ranked.values())).draws_are_of, ood_mean(values)
        estimate = interval_of(centred(draws, value), value, n=n, resampling=resampling, name=name)
        convention = f"plain mean of {of} over the eight shifts of DeepFashion Remixed; {said}"
        yield of_shifts.score(metric, estimate, convention, condition=DFR)


def centred(draws: np.ndarray, value: float) -> np.ndarray:
    """The draws, moved so that their mean is the value, within 0 and 1.

    An image that is drawn twice helps itself in the ranking, so that the mAP of resamples is too large. The mean over
    eight shifts is as far off as each, and varies less: as they are, the draws may all lie above the value.

    >>> centred(np.array([0.5, 0.7]), 0.5).tolist()
    [0.4, 0.6]
    """
    defined = draws[np.isfinite(draws)]
    return np.clip(draws + (value - defined.mean()), 0, 1) if len(defined) else draws


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


def _ranked(index: Index, cell: Cell, images: Images, by: str | None) -> _Ranked:
    """The kept logits of a cell, and which of the answered classes each of its images has."""
    if cell.n_units is not None:
        raise OodometerError("images that are judged in groups have no ranking of their own")
    # Of an unfinished run too: the logits of what is there.
    if not index.entry(cell).logits_of_all_rows:
        raise OodometerError("the logits were not kept, and mAP ranks the images by them; run it with --keep logits")
    if cell.answers is None or images.other_labels is None:
        raise OodometerError("the store does not know which answer is which label; run it again in a new store")
    rows = index.read(cell, logits=True)
    assert rows.logits is not None
    labelled = np.flatnonzero(images.labels[rows.image] >= 0)
    at = rows.image[labelled]
    targets = np.zeros((len(at), cell.n_classes), dtype=bool)
    places = np.asarray(cell.answers)
    for row, image in enumerate(at.tolist()):
        targets[row, places[[images.labels[image], *images.other_labels[image]]]] = True
    if not len(at) or not targets[np.arange(len(at)), rows.label[labelled]].all():
        raise StoreError("the labels of its images are not those that were answered; run it again in a new store")
    clusters = None
    if by is not None:
        # By class means by the first label: that of the rows is the one that the model likes best.
        clusters = images.labels[at] if by == "class" else clusters_of(images, rows, by)[labelled]
    return _Ranked(rows.logits[labelled].astype(np.float64), targets, clusters, cell.n_rows - len(rows))
