"""Accuracy where any of several labels counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oodometer.core.errors import OodometerError
from oodometer.metrics.multi_label import any_label_top_1, any_label_top_5, label_sets_for, read_label_sets
from oodometer.report.asked import Asked
from oodometer.report.estimates import How
from oodometer.report.scores import Score, score_of
from oodometer.stats.intervals import share_of
from oodometer.store.cells import Cell
from oodometer.store.images import images_of
from oodometer.store.store import Store


def label_set_scores(store: Store, cells: Sequence[Cell], asked: Asked) -> Iterator[Score]:
    """Top-1 and top-5 accuracy of every cell whose images are in the file of label sets."""
    if asked.options.label_sets is None:
        raise OodometerError("top-1:any, top-5:any: need the acceptable labels of each image; give --label-sets FILE")
    share = How(level=asked.how.level)
    for cell in cells:
        known = read_label_sets(asked.options.label_sets, n_classes=cell.n_classes)
        rows = store.read(cell)
        sets = label_sets_for(images_of(store, cell).ids[rows.image].tolist(), known)
        for metric, answers, judge in (
            ("top-1:any", rows.prediction, any_label_top_1),
            ("top-5:any", rows.top5, any_label_top_5),
        ):
            if asked.wants(metric):
                found = judge(answers, sets)
                estimate = share_of(
                    int(found.right.sum()), len(found.right), interval=share.interval, level=share.level
                )
                convention = f"any of the labels in the file; {found.n_left_out} images without any left out"
                yield score_of(store, [cell], metric, estimate, convention=convention)
