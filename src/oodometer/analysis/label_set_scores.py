"""Accuracy where any of several labels counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from oodometer.analysis.common_images import clusters_of
from oodometer.analysis.intervals import share_estimate
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score, about, or_left_out
from oodometer.core.errors import OodometerError
from oodometer.core.predictions import Predictions
from oodometer.metrics.multi_label import LabelSet, any_label_top_1, any_label_top_5, label_sets_for, read_label_sets
from oodometer.store.cells import Cell
from oodometer.store.images import Images
from oodometer.store.index import Index

TOP_1, TOP_5 = "top-1:any", "top-5:any"


def label_set_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """Top-1 and top-5 accuracy of every cell whose images are in the file of label sets."""
    path = asked.options.label_sets
    if path is None:
        raise OodometerError("need the acceptable labels of each image; give --label-sets FILE")

    @cache
    def known(n_classes: int) -> Mapping[str, LabelSet]:
        return read_label_sets(path, n_classes=n_classes)

    for cell in cells:
        rows = index.read(cell)
        for metric in (TOP_1, TOP_5):
            if asked.wants(metric):
                found = _scores(index, cell, metric, (rows, index.images(cell), known), asked)
                yield from or_left_out(found, (metric,), f"{cell.condition_name} of {cell.data.title}")


def _scores(
    index: Index,
    cell: Cell,
    metric: str,
    found: tuple[Predictions, Images, Callable[[int], Mapping[str, LabelSet]]],
    asked: Asked,
) -> Iterator[Score]:
    rows, images, known = found
    _check_order(rows, images)
    sets = label_sets_for(images.ids[rows.image].tolist(), known(cell.n_classes))
    judged = any_label_top_1(rows.prediction, sets) if metric == TOP_1 else any_label_top_5(rows.top5, sets)
    clusters = clusters_of(images, rows, asked.how.by)[judged.counted] if asked.how.by else None
    convention = f"any of the labels in the file; {judged.n_left_out} images without any left out"
    of_cell = about(index, [cell], missing=cell.n_rows - len(rows))
    yield of_cell.score(metric, share_estimate(judged.right, asked.how, clusters), convention)


def _check_order(rows: Predictions, images: Images) -> None:
    """An error unless the model numbers the classes as the data do, which is what the file is about."""
    labelled = rows.label >= 0
    if not np.array_equal(rows.label[labelled], images.labels[rows.image[labelled]]):
        raise OodometerError(
            "the model numbers the classes in another order than the data, and so the file of label sets"
        )
