"""The mAP of cells whose images have several labels, and its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.analysis.common_images import Joined, clusters_of, joined
from oodometer.analysis.intervals import IntervalOptions, counts_of, n_groups
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.estimate import Estimate
from oodometer.metrics.average_precision import class_precision, mean_average_precisions
from oodometer.metrics.ood_detection import Area
from oodometer.stats.bootstrap import Resampling, interval_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index


@dataclass(frozen=True)
class Ranked:
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
        """The name of the intervals."""
        return "centred bootstrap" if self.clusters is None else "centred cluster bootstrap"

    def draws(self, area: Area, resampling: Resampling) -> np.ndarray:
        """The mAP of each resample of the images, (D,)."""
        blocks = counts_of(len(self.scores), resampling, self.clusters)
        found = [mean_average_precisions(self.scores, self.targets, block, area=area) for block in blocks]
        return np.concatenate(found)

    def estimate(self, area: Area, resampling: Resampling) -> Estimate:
        """The mAP with its interval: a bootstrap over images or groups of them, centred on the value."""
        resampling = replace(resampling, method="percentile")
        value = class_precision(self.scores, self.targets, area=area).mean()
        draws = centred(self.draws(area, resampling), value)
        return interval_of(
            draws,
            value,
            n=len(self.scores),
            resampling=resampling,
            name=self.draws_are_of,
            groups=n_groups(self.clusters),
            bounds=(0.0, 1.0),
        )


def ranked(index: Index, cell: Cell, by: str | None = None, *, only: np.ndarray | None = None) -> Ranked:
    """The kept logits of a cell, and which of the answered classes each of its images has.

    Args:
        by: A column of the data, or ``class``: images of a group are resampled together.
        only: The positions of the images that count; by default all of them.
    """
    images = index.images(cell)
    if cell.n_units is not None:
        raise OodometerError("images that are judged in groups have no ranking of their own")
    # Of an unfinished run too: the logits of what is there.
    if not index.entry(cell).logits_of_all_rows:
        raise OodometerError("the logits were not kept, and mAP ranks the images by them; run it with --keep logits")
    if cell.answers is None or images.other_labels is None:
        raise OodometerError("the store does not know which answer is which label; run it again in a new store")
    rows = index.read(cell, logits=True)
    assert rows.logits is not None
    counts = images.labels[rows.image] >= 0
    labelled = np.flatnonzero(counts if only is None else counts & np.isin(rows.image, only))
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
    return Ranked(rows.logits[labelled].astype(np.float64), targets, clusters, cell.n_rows - len(rows))


def on_common_images(index: Index, cells: Sequence[Cell], how: IntervalOptions) -> tuple[list[Estimate], Joined]:
    """The mAP of each cell, on the images that all of them have."""
    common = joined(index, cells, lambda rows: rows.image)
    estimates = [
        ranked(index, cell, how.by, only=images).estimate("average-precision", how.resampling)
        for cell, images in zip(cells, common.values, strict=True)
    ]
    return estimates, common


def centred(draws: np.ndarray, value: float) -> np.ndarray:
    """The draws, moved so that their mean is the value, within 0 and 1.

    An image that is drawn twice helps itself in the ranking, so that the mAP of resamples is too large. The mean over
    eight shifts is as far off as each, and varies less: as they are, the draws may all lie above the value.

    >>> centred(np.array([0.5, 0.7]), 0.5).tolist()
    [0.4, 0.6]
    """
    defined = draws[np.isfinite(draws)]
    return np.clip(draws + (value - defined.mean()), 0, 1) if len(defined) else draws
