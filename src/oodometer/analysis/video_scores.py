"""pm-k: frames of videos, of which all near the anchor must be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from oodometer.analysis.common_images import clusters_of
from oodometer.analysis.intervals import share_estimate
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score, about, or_left_out
from oodometer.core.errors import OodometerError
from oodometer.core.predictions import Predictions
from oodometer.metrics.video import pm_scores
from oodometer.store.cells import Cell
from oodometer.store.images import Images
from oodometer.store.index import Index

COLUMNS = ("anchor", "offset")


def video_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """pm-0 and pm-k of every cell whose data have the columns anchor and offset; k is the largest offset there."""
    some = False
    for cell in cells:
        images = index.images(cell)
        if set(COLUMNS) <= set(images.columns):
            some = True
            found = (_of_cell if cell.n_units is None else _of_judged)(index, cell, images, asked)
            yield from or_left_out(found, ("pm-k",), f"{cell.condition_name} of {cell.data.title}")
    if not some:
        raise OodometerError("no data with the columns anchor and offset, which say which frames belong together")


def _of_cell(index: Index, cell: Cell, images: Images, asked: Asked) -> Iterator[Score]:
    all_rows = index.read(cell)
    if not np.issubdtype(images.columns["offset"].dtype, np.integer):
        raise OodometerError("the column offset has to hold whole numbers: frames after the anchor")
    judged = _judged(images, all_rows)
    if not judged.any():
        raise OodometerError("every anchor has a frame without an answer or a label, so pm-k is undefined")
    of_rows = judged[all_rows.image]
    anchor, offset = (images.columns[name][all_rows.image][of_rows] for name in COLUMNS)
    right = all_rows.rank[of_rows] == 0
    clusters = None
    if asked.how.by:
        # The group of an anchor is that of its own frame; pm_scores gives the anchors in ascending order.
        own = offset == 0
        groups = clusters_of(images, all_rows, asked.how.by)[of_rows][own]
        clusters = groups[np.argsort(anchor[own], kind="stable")]
    of_cell = about(index, [cell], missing=cell.n_images - len(all_rows))
    for k in sorted({0, int(np.abs(offset).max())}):
        found = pm_scores(right, anchor, offset, k=k)
        yield of_cell.score(f"pm-{k}", share_estimate(found.right, asked.how, clusters), _convention(k))


def _of_judged(index: Index, cell: Cell, images: Images, asked: Asked) -> Iterator[Score]:
    """Of a cell whose rows are anchors already, each as its worst frame."""
    rows = index.read(cell)
    labelled = rows.rank >= 0
    if not labelled.any():
        raise OodometerError("every anchor has a frame without an answer or a label, so pm-k is undefined")
    clusters = clusters_of(images, rows, asked.how.by)[labelled] if asked.how.by else None
    k = int(np.abs(images.columns["offset"]).max())
    of_cell = about(index, [cell], missing=cell.n_rows - len(rows))
    yield of_cell.score(f"pm-{k}", share_estimate(rows.rank[labelled] == 0, asked.how, clusters), _convention(k))


def _convention(k: int) -> str:
    return f"share of anchors of which every frame within {k} is right; n counts anchors"


def _judged(images: Images, rows: Predictions) -> np.ndarray:
    """The images of anchors that have an answer and a label for every frame, (N,) bool.

    An anchor of which a frame is broken or not yet run would be judged by the others, which is easier.
    """
    answered = np.zeros(len(images.ids), dtype=bool)
    answered[rows.image[rows.rank >= 0]] = True
    _, codes = np.unique(images.columns["anchor"], return_inverse=True)
    return np.asarray(np.bincount(codes[~answered], minlength=int(codes.max()) + 1)[codes] == 0)
