"""The accuracy of each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from oodometer.analysis.common_images import clusters_of
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import Score, about
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import Predictions
from oodometer.metrics.per_class import class_accuracies
from oodometer.stats.bootstrap import bootstrap_means
from oodometer.stats.intervals import share_of
from oodometer.store.cells import Cell
from oodometer.store.images import Images
from oodometer.store.index import Index

CONVENTION = "top-1 of the images of this class"


def class_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score]:
    """Top-1 accuracy of every class that occurs, as ``per-class[NAME]``.

    Shares of counts are not resampled: their interval is exact, or Wilson's. With ``by`` it is a cluster bootstrap of
    the groups in the class.
    """
    some = False

    @cache
    def share(right: int, n: int) -> Estimate:
        return share_of(right, n, interval=asked.how.of_counts, level=asked.how.level)

    for cell in cells:
        rows = index.read(cell)
        labelled = rows.rank >= 0
        if not labelled.any():
            continue
        some = True
        images = index.images(cell)
        label, rank = rows.label[labelled], rows.rank[labelled]
        names = class_names(images, rows)
        groups = clusters_of(images, rows, asked.how.by)[labelled] if asked.how.by else None
        of_cell = about(index, [cell], missing=cell.n_rows - len(rows))
        for label_index, right, n in zip(*(one.tolist() for one in class_accuracies(label, rank)), strict=True):
            of_class = label == label_index if groups is not None else None
            estimate = (
                share(right, n) if groups is None else by_groups(rank[of_class] == 0, groups[of_class], asked.how)
            )
            yield of_cell.score(f"per-class[{names[label_index]}]", estimate, CONVENTION)
    if not some:
        raise OodometerError(f"{cells[0].model_name}: no labelled images, so no class has an accuracy")


def by_groups(right: np.ndarray, groups: np.ndarray, how: IntervalOptions) -> Estimate:
    """The share of True, (N,), with the interval of a bootstrap of the groups; none where there is one group."""
    if len(np.unique(groups)) < 2:
        return Estimate(float(right.mean()), None, None, len(right), "none: all images are in one cluster")
    return bootstrap_means(right, resampling=how.resampling, clusters=groups)


def class_names(images: Images, rows: Predictions) -> dict[int, str]:
    """What the data call each class that occurs; models may number the same classes in another order.

    A class that stands for several of the data's is called by its number.
    """
    pairs = np.unique(np.stack([rows.label, images.labels[rows.image]], axis=1), axis=0)
    labels, first, times = np.unique(pairs[:, 0], return_index=True, return_counts=True)
    return {
        int(label): images.space.classes[pairs[at, 1]] if n == 1 else str(label)
        for label, at, n in zip(labels, first, times, strict=True)
        if label >= 0
    }
