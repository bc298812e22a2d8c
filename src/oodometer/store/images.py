"""What a store knows about the images of a cell: their ids, classes and columns."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.core.labels import LabelSpace
from oodometer.store.cells import Cell
from oodometer.store.prediction_parquet import table_of
from oodometer.store.store import COLUMN, Store


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


def images_of(store: Store, cell: Cell) -> Images:
    """The images of the cell's data set."""
    try:
        table = table_of(store.files.read(store.images_path(cell)))
        columns = {
            name.removeprefix(COLUMN): table[name].to_numpy() for name in table.column_names if name.startswith(COLUMN)
        }
        others = table["other_labels"].to_pylist() if "other_labels" in table.column_names else None
        return Images(
            ids=table["id"].to_numpy(),
            labels=table["label"].to_numpy(),
            space=_space(table.schema.metadata),
            columns=columns,
            other_labels=None if others is None else tuple(tuple(some) for some in others),
        )
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise StoreError(f"{store.images_file(cell)}: missing or damaged; remove it and run again") from error


def contents_of(store: Store, data: str) -> tuple[list[str], list[bytes], list[int]]:
    """The id, the digest of the content, and the place in its source of each image of the data of that digest."""
    place = f"datasets/{data}.parquet"
    try:
        table = table_of(store.files.read(place))
        return table["id"].to_pylist(), table["content"].to_pylist(), table["row"].to_pylist()
    except (ValueError, KeyError, TypeError, OSError) as error:
        where = store.files.locate(place)
        raise StoreError(f"{where}: missing or damaged; remove it and run again") from error


class ImageTables:
    """The images of every data set of a store, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[str, Images] = {}

    def of(self, cell: Cell) -> Images:
        """The images of the cell's data set."""
        digest = str(cell.condition["data"])
        if digest not in self._read:
            self._read[digest] = images_of(self._store, cell)
        return self._read[digest]


def space_of(store: Store, cell: Cell) -> LabelSpace:
    """The classes of the cell's data set."""
    import pyarrow.parquet as pq

    try:
        return _space(pq.read_schema(io.BytesIO(store.files.read(store.images_path(cell)))).metadata)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise StoreError(f"{store.images_file(cell)}: missing or damaged; remove it and run again") from error


def _space(about: dict[bytes, bytes]) -> LabelSpace:
    return LabelSpace(about[b"space"].decode(), tuple(json.loads(about[b"classes"])))
