"""What the store says about the images of a cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.core.errors import StoreError
from oodometer.core.labels import LabelSpace
from oodometer.core.predictions import from_logits
from oodometer.store.cells import Cell
from oodometer.store.images import ImageTables, contents_of, images_of, space_of
from oodometer.store.store import Store, open_store

PETS = LabelSpace("pets", ("cat", "dog"))


def add(store: Store, data) -> Cell:
    about = {"name": "clean", "data": data.digest, "label_map": None, "transform": None}
    model = {"name": "m", "digest": "d", "input": {}}
    cell = Cell(model, about, data.name, data.space.name, len(data.space), len(data))
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, len(data), from_logits(np.eye(len(data)), data.labels, np.arange(len(data))))
    return cell


@pytest.fixture
def store(tmp_path) -> Store:
    return open_store(str(tmp_path / "runs"), create=True)


def test_images_come_back_as_they_went_in(store, make_dataset):
    columns = {"video": np.array(["a", "b", "a"]), "offset": np.array([0, -1, 2]), "frequency": np.array([0.5, 1, 0])}
    cell = add(store, make_dataset(3, labels=[1, -1, 0], ids=["x", "ä/y", "z"], space=PETS, columns=columns))
    images = images_of(store, cell)
    assert images.ids.tolist() == ["x", "ä/y", "z"]
    assert images.labels.tolist() == [1, -1, 0]
    assert images.space == space_of(store, cell) == PETS
    assert {name: values.tolist() for name, values in images.columns.items()} == {
        "video": ["a", "b", "a"],
        "offset": [0, -1, 2],
        "frequency": [0.5, 1.0, 0.0],
    }
    assert images.columns["offset"].dtype == np.int64


def test_tables_are_read_once_for_each_data_set(store, make_dataset, monkeypatch):
    one, two = make_dataset(3, name="one"), make_dataset(4, name="two")
    cells = [add(store, one), add(store, two)]
    reads = []
    monkeypatch.setattr(
        "oodometer.store.images.images_of", lambda store, cell: (reads.append(cell.data), images_of(store, cell))[1]
    )
    tables = ImageTables(store)
    sizes = [len(tables.of(cell).ids) for cell in (*cells, *cells)]
    assert sizes == [3, 4, 3, 4]
    assert reads == ["one", "two"]


@pytest.mark.parametrize("damage", ["gone", "half", "another"])
def test_a_damaged_table_is_named(store, make_dataset, damage):
    cell = add(store, make_dataset(3))
    path = store.images_path(cell)
    content = store.files.read(path)
    if damage == "gone":
        store.files.remove(path)
    else:
        rows = store.files.read(f"cells/{cell.key}/parts/000000000-000000003.parquet")
        store.files.write(path, content[:100] if damage == "half" else rows)
    for read in (images_of, space_of):
        with pytest.raises(StoreError) as caught:
            read(store, cell)
        assert str(caught.value) == f"{store.images_file(cell)}: missing or damaged; remove it and run again"


def test_several_labels_come_back(store, make_dataset):
    data = replace(make_dataset(3, labels=[1, -1, 0], space=PETS), other_labels=((0,), (), (1,)))
    assert images_of(store, add(store, data)).other_labels == ((0,), (), (1,))
    assert images_of(store, add(store, make_dataset(3, space=PETS))).other_labels is None


def test_contents_of_images_by_digest(store, make_dataset):
    data = make_dataset(3, k=2, labels=[0, 1, 1], contents=[b"a" * 16, b"b" * 16, b"c" * 16]).take(np.array([2, 0]))
    cell = add(store, data)
    assert contents_of(store, cell.condition["data"]) == (list(data.ids), [b"c" * 16, b"a" * 16], [2, 0])
    with pytest.raises(StoreError, match="missing or damaged"):
        contents_of(store, "nothing")
