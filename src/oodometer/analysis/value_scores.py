"""Slices: the accuracy of each value of a column of the data, corrected for their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from oodometer.analysis.class_scores import by_groups
from oodometer.analysis.common_images import clusters_of
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score, about
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import Predictions
from oodometer.stats.intervals import corrected_level, share_of
from oodometer.store.cells import Cell
from oodometer.store.images import Images
from oodometer.store.index import Index

METRIC = "top-1"
CROSSED = "+"


def check_columns(index: Index, cells: Sequence[Cell], slices: Sequence[str]) -> None:
    """An error for a column that no data have."""
    known = {name for cell in cells for name in index.images(cell).columns}
    for name in (part for text in slices for part in columns_of(text)):
        if name not in known:
            hint = did_you_mean(name, known) if known else "; they have no columns but the class"
            raise UsageError(f"--by-value {name}: no data here have such a column{hint}")


def columns_of(text: str) -> list[str]:
    """The columns of a slice.

    >>> columns_of("camera"), columns_of("camera+country")
    (['camera'], ['camera', 'country'])
    """
    return [part.strip() for part in text.split(CROSSED)]


def value_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """Top-1 accuracy of the images of each value, as ``top-1[camera=new]``, where the data have the columns."""
    for cell in cells:
        images = index.images(cell)
        slices = [text for text in asked.options.by_value if all(name in images.columns for name in columns_of(text))]
        if slices:
            yield from _of_cell(index, cell, slices, asked.how)


def _of_cell(index: Index, cell: Cell, slices: Sequence[str], how: IntervalOptions) -> Iterator[Score | LeftOut]:
    rows, images = index.read(cell), index.images(cell)
    labelled = rows.rank >= 0
    if not labelled.any():
        yield LeftOut((METRIC,), "no labelled images, so it is undefined")
        return
    right = (rows.rank == 0)[labelled]
    values = {text: _values(images, rows, text)[labelled] for text in slices}
    each = [(text, value) for text in slices for value in np.unique(values[text]).tolist()]
    groups = clusters_of(images, rows, how.by)[labelled] if how.by else None
    corrected = replace(how, level=corrected_level(how.level, len(each)))
    of_cell = about(index, [cell], missing=cell.n_rows - len(rows))
    for text, value in each:
        of_value = values[text] == value
        estimate = _estimate(right[of_value], None if groups is None else groups[of_value], corrected)
        yield of_cell.score(f"{METRIC}[{value}]", estimate, _convention(len(each), how.level))


def _convention(n: int, level: float) -> str:
    return (
        f"[COLUMN=VALUE]: of the images of this value; intervals corrected for {n} values (Bonferroni), so that all "
        f"of a model and condition hold together at {100 * level:g}%"
    )


def _values(images: Images, rows: Predictions, text: str) -> np.ndarray:
    """What each row has in the columns of a slice, as ``camera=new`` or ``camera=new,country=us``, (N,) of text."""
    parts = [[f"{name}={value}" for value in images.columns[name][rows.image].tolist()] for name in columns_of(text)]
    return np.array([",".join(row) for row in zip(*parts, strict=True)])


def _estimate(right: np.ndarray, groups: np.ndarray | None, how: IntervalOptions) -> Estimate:
    if groups is not None:
        return by_groups(right, groups, how)
    return share_of(int(right.sum()), len(right), interval=how.of_counts, level=how.level)
