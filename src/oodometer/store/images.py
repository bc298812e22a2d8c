"""What a store knows about images: their ids, classes and columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.core.labels import LabelSpace
from oodometer.store.prediction_parquet import values_of
from oodometer.store.store import COLUMN, Store, images_problem


@dataclass(frozen=True)
class Images:
    """The images of a data set, by position.

    Args:
        ids: (N,) of text.
        labels: In the data's own classes, (N,); -1 where there is none.
        space: These classes.
        columns: What travels along with each image: video, frame, selection frequency...
        other_labels: Where images have several labels, those of each besides ``labels``, N of them.
    """

    ids: np.ndarray
    labels: np.ndarray
    space: LabelSpace
    columns: dict[str, np.ndarray]
    other_labels: tuple[tuple[int, ...], ...] | None = None


def read_images(store: Store, digest: str) -> Images:
    """The images of the data of that digest."""
    table = _table(store, digest)
    columns = {
        name.removeprefix(COLUMN): values_of(table[name]) for name in table.column_names if name.startswith(COLUMN)
    }
    others = table["other_labels"].to_pylist() if "other_labels" in table.column_names else None
    about = table.schema.metadata
    return Images(
        ids=values_of(table["id"]),
        labels=values_of(table["label"]),
        space=LabelSpace(about[b"space"].decode(), tuple(json.loads(about[b"classes"]))),
        columns=columns,
        other_labels=None if others is None else tuple(tuple(some) for some in others),
    )


def contents_of(store: Store, digest: str) -> tuple[list[str], list[bytes], list[int]]:
    """The id, the digest of the content, and the place in its source of each image of the data of that digest."""
    table = _table(store, digest)
    return table["id"].to_pylist(), table["content"].to_pylist(), table["row"].to_pylist()


def _table(store: Store, digest: str) -> Any:
    found = store.images_table(digest)
    if found is None:
        raise StoreError(images_problem(store, digest))
    return found[1]
