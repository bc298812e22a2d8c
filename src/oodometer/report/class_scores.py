"""The accuracy of each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.predictions import Predictions
from oodometer.metrics.per_class import class_accuracies
from oodometer.report.asked import Asked
from oodometer.report.scores import Score, score_of
from oodometer.stats.intervals import intervals, share_of
from oodometer.store.cells import Cell
from oodometer.store.images import Images, images_of
from oodometer.store.store import Store


def class_scores(store: Store, cells: Sequence[Cell], asked: Asked) -> Iterator[Score]:
    """Top-1 accuracy of every class that occurs, as ``per-class[NAME]``."""
    interval = asked.how.interval if asked.how.interval in intervals.names() else "wilson"
    some = False
    for cell in cells:
        rows = store.read(cell)
        labelled = rows.rank >= 0
        if not labelled.any():
            continue
        some = True
        found = class_accuracies(rows.label[labelled], rows.rank[labelled])
        names = class_names(images_of(store, cell), rows)
        for index, right, n in zip(*(one.tolist() for one in found), strict=True):
            estimate = share_of(right, n, interval=interval, level=asked.how.level)
            metric = f"per-class[{names[index]}]"
            yield score_of(store, [cell], metric, estimate, convention="top-1 of the images of this class")
    if not some:
        raise OodometerError(f"{cells[0].model_name}: no labelled images, so no class has an accuracy")


def class_names(images: Images, rows: Predictions) -> dict[int, str]:
    """What the data call each class that occurs; models may number the same classes in another order."""
    labels, places = np.unique(rows.label, return_index=True)
    own = images.labels[rows.image[places]]
    return {int(label): images.space.classes[at] for label, at in zip(labels, own, strict=True) if label >= 0}
