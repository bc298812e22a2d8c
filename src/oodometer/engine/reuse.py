"""Rows that the store has already: of the same images in another subset, or of a cell that lacks some images.

--images 100, then --images 200: the hundred are not asked for again
an image that could not be read once is tried again; the others are not
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from oodometer.core.condition import Condition
from oodometer.core.dataset import Dataset
from oodometer.core.errors import StoreError
from oodometer.core.predictions import Predictions, concatenate, taken
from oodometer.store.cells import Cell
from oodometer.store.folder import Entry
from oodometer.store.images import contents_of
from oodometer.store.index import Index

Range = tuple[int, int]


def known_rows(
    index: Index, cell: Cell, condition: Condition, *, keep_logits: bool, try_again: bool = True
) -> tuple[Predictions | None, tuple[Range, ...]]:
    """Rows of this cell's images that need not be asked for, and the ranges of positions that are done.

    Nothing is reused where images are judged as one, since the store then has the rows of groups alone.

    Args:
        try_again: Whether the images that a complete cell lacks are to be done; not after they were tried.
    """
    own = index.by_key.get(cell.key)
    covered = [] if own is None else own.covered(keep_logits=keep_logits)
    if cell.condition.unit is not None:
        return None, tuple(covered)
    if own is not None and own.complete and covered:
        if not try_again:
            return None, tuple(covered)
        return _to_try_again(index, own, condition.dataset, keep_logits=keep_logits)
    if cell.condition.attack is not None:  # what it found out about itself is known for whole parts alone
        return None, tuple(covered)
    rows = [
        known
        for entry in _siblings(index, cell)
        if not keep_logits or entry.has_logits
        if (known := _at_new_places(index, entry, condition.dataset, keep_logits=keep_logits)) is not None
    ]
    return (_each_image_once(concatenate(rows)) if rows else None), tuple(covered)


def _to_try_again(
    index: Index, own: Entry, dataset: Dataset, *, keep_logits: bool
) -> tuple[Predictions | None, tuple[Range, ...]]:
    """Of a complete cell: nothing to do, unless images that it has no row of can be read now."""
    done = ((0, own.cell.n_images),)
    if own.n_rows == own.cell.n_images:
        return None, done
    rows = index.read(own.cell, logits=keep_logits)
    lacking = np.setdiff1d(np.arange(own.cell.n_images), rows.image)
    readable = [place for place in lacking.tolist() if place not in dataset.scan().broken]
    return (rows, ()) if readable else (None, done)


def _siblings(index: Index, cell: Cell) -> list[Entry]:
    """Cells of the same model on the same condition of the same data, but of other images."""
    wanted = _without_images(cell)
    return [
        entry
        for entry in index.answered
        if entry.cell.model_name == cell.model_name
        and entry.cell.condition_name == cell.condition_name
        and entry.cell.key != cell.key
        and _without_images(entry.cell) == wanted
    ]


def _without_images(cell: Cell) -> tuple[Any, ...]:
    return (
        cell.model.identity,
        {**cell.condition.identity, "data": (cell.data.name, cell.data.part)},
        cell.precision,
        cell.classes,
        cell.answers,
    )


def _at_new_places(index: Index, entry: Entry, dataset: Dataset, *, keep_logits: bool) -> Predictions | None:
    """The rows of images that both have, by id, content and label, at the positions of the new data."""
    try:
        ids, contents, _ = contents_of(index.store, entry.cell.data.digest)
        labels = index.images(entry.cell).labels.tolist()
        rows = index.read(entry.cell, logits=keep_logits)
    except StoreError:  # what is damaged is asked for again
        return None
    if index.images(entry.cell).space.classes != dataset.space.classes:
        return None
    old = {image: place for place, image in enumerate(zip(ids, contents, labels, strict=True))}
    new = zip(dataset.ids, dataset.scan().contents, dataset.labels.tolist(), strict=True)
    place_of = {old[image]: place for place, image in enumerate(new) if image in old and image[1]}
    kept = [at for at, image in enumerate(rows.image.tolist()) if image in place_of]
    if not kept:
        return None
    moved = np.array([place_of[image] for image in rows.image[kept].tolist()], dtype=np.int32)
    return replace(taken(rows, np.array(kept)), image=moved)


def _each_image_once(rows: Predictions) -> Predictions:
    _, first = np.unique(rows.image, return_index=True)
    return taken(rows, first)
