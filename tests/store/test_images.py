"""What the store says about images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from made_cells import made_cell
from oodometer.core.errors import StoreError
from oodometer.core.labels import LabelSpace
from oodometer.core.predictions import from_logits
from oodometer.store.cells import Cell
from oodometer.store.images import contents_of, read_images
from oodometer.store.index import look
from oodometer.store.store import Store, open_store

PETS = LabelSpace("pets", ("cat", "dog"))


def add(store: Store, data) -> Cell:
    cell = made_cell(data)
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, len(data), from_logits(np.eye(len(data)), data.labels, np.arange(len(data))))
    return cell


@pytest.fixture
def store(tmp_path) -> Store:
    return open_store(str(tmp_path / "runs"), create=True)


def test_images_come_back_as_they_went_in(store, make_dataset):
    columns = {"video": np.array(["a", "b", "a"]), "offset": np.array([0, -1, 2]), "frequency": np.array([0.5, 1, 0])}
    cell = add(store, make_dataset(3, labels=[1, -1, 0], ids=["x", "ä/y", "z"], space=PETS, columns=columns))
    images = read_images(store, cell.data.digest)
    assert images.ids.tolist() == ["x", "ä/y", "z"]
    assert images.labels.tolist() == [1, -1, 0]
    assert images.space == PETS
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
        "oodometer.store.index.read_images", lambda store, digest: (reads.append(digest), read_images(store, digest))[1]
    )
    index = look(store)
    sizes = [len(index.images(cell).ids) for cell in (*cells, *cells)]
    assert sizes == [3, 4, 3, 4]
    assert reads == [one.digest, two.digest]


@pytest.mark.parametrize("damage", ["gone", "half", "another"])
def test_a_damaged_table_is_named(store, make_dataset, damage):
    cell = add(store, make_dataset(3))
    (name,) = store.files.names("datasets")
    content = store.files.read(f"datasets/{name}")
    if damage == "gone":
        store.files.remove(f"datasets/{name}")
    else:
        (rows,) = store.files.names(f"cells/{cell.key}/parts")
        other = store.files.read(f"cells/{cell.key}/parts/{rows}")
        store.files.write(f"datasets/{name}", content[:100] if damage == "half" else other)
    for read in (read_images, contents_of, Store.images_file):
        with pytest.raises(StoreError) as caught:
            read(store, cell.data.digest)
        assert str(caught.value) == (
            f"{store}/datasets/{cell.data.digest}...parquet: missing or damaged; run again to replace it"
        )


def test_a_damaged_table_is_replaced_when_its_data_are_run_again(store, make_dataset):
    data = make_dataset(3)
    cell = add(store, data)
    (name,) = store.files.names("datasets")
    store.files.write(f"datasets/{name}", b"")
    store.add_cell(cell, data)
    assert read_images(store, data.digest).ids.tolist() == list(data.ids)


def test_several_labels_come_back(store, make_dataset):
    data = replace(make_dataset(3, labels=[1, -1, 0], space=PETS), other_labels=((0,), (), (1,)))
    assert read_images(store, add(store, data).data.digest).other_labels == ((0,), (), (1,))
    assert read_images(store, add(store, make_dataset(3, space=PETS)).data.digest).other_labels is None


def test_contents_of_images_by_digest(store, make_dataset):
    data = make_dataset(3, k=2, labels=[0, 1, 1], contents=[b"a" * 16, b"b" * 16, b"c" * 16]).take(np.array([2, 0]))
    cell = add(store, data)
    assert contents_of(store, cell.data.digest) == (list(data.ids), [b"c" * 16, b"a" * 16], [2, 0])
    with pytest.raises(StoreError, match="missing or damaged"):
        contents_of(store, "nothing")
