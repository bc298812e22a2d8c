"""pm-k: frames of videos, of which all near the anchor must be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.metrics.video import pm_scores
from oodometer.report.asked import Asked
from oodometer.report.scores import Score, score_of
from oodometer.stats.intervals import intervals, share_of
from oodometer.store.cells import Cell
from oodometer.store.images import images_of
from oodometer.store.store import Store

COLUMNS = ("anchor", "offset")


def video_scores(store: Store, cells: Sequence[Cell], asked: Asked) -> Iterator[Score]:
    """pm-0 and pm-k of every cell whose data have the columns anchor and offset; k is the largest offset there."""
    interval = asked.how.interval if asked.how.interval in intervals.names() else "clopper-pearson"
    some = False
    for cell in cells:
        columns = images_of(store, cell).columns
        if not set(COLUMNS) <= set(columns):
            continue
        some = True
        rows = store.read(cell)
        anchor, offset = (columns[name][rows.image] for name in COLUMNS)
        for k in sorted({0, int(np.abs(offset).max())}):
            found = pm_scores(rows.rank == 0, anchor, offset, k=k)
            estimate = share_of(int(found.right.sum()), len(found.right), interval=interval, level=asked.how.level)
            convention = f"share of anchors of which every frame within {k} is right; n counts anchors"
            yield score_of(store, [cell], f"pm-{k}", estimate, convention=convention)
    if not some:
        raise OodometerError("pm-k: no data with the columns anchor and offset, which say which frames belong together")
