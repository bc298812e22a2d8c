"""Questions about single images: DuckDB's answers against plain dictionaries on random stores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oodometer.core.errors import StoreError
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.predictions import from_logits
from oodometer.store.index import look
from oodometer.store.queries import literal, paired
from oodometer.store.store import open_store

own_cells = settings(
    deadline=None, derandomize=True, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # every example has a store of its own


def fill(store, data, cell, rows, *, size: int = 1000, seal: bool = True) -> None:
    """Write rows in parts of a size; without the rows of the last part where the cell stays unsealed."""
    store.add_cell(cell, data)
    for start in range(0, len(data), size):
        stop = min(start + size, len(data))
        inside = np.flatnonzero((rows.image >= start) & (rows.image < stop))
        part = replace(
            rows, **{name: getattr(rows, name)[inside] for name in vars(rows) if getattr(rows, name) is not None}
        )
        if seal or stop < len(data):
            store.write_part(cell.key, start, stop, part)
    store.seal(cell, keep_logits=False)


def brute_force(data_a, rows_a, data_b, rows_b) -> tuple:
    """The pairs by dictionaries."""
    seen_a, seen_b = (
        {
            data.ids[row.image]: (row.label, row.rank == 0, row.prediction)
            for row in rows_as_tuples(rows)
            if row.rank >= 0
        }
        for data, rows in ((data_a, rows_a), (data_b, rows_b))
    )
    common = seen_a.keys() & seen_b.keys()
    good = [(seen_a[one][1], seen_b[one][1]) for one in common]
    contents_a, contents_b = (dict(zip(data.ids, data.scan().contents, strict=True)) for data in (data_a, data_b))
    other_content = [
        one for one in common if contents_a[one] != contents_b[one] and contents_a[one] and contents_b[one]
    ]
    other_label = [one for one in common if seen_a[one][0] != seen_b[one][0]]
    # Numbers of classes can be compared only where both sides number the true classes alike.
    same = None if other_label or not common else sum(seen_a[one][2] == seen_b[one][2] for one in common)
    return (
        good.count((True, True)),
        good.count((True, False)),
        good.count((False, True)),
        good.count((False, False)),
        same,
        len(seen_a),
        len(seen_b),
        min(other_content, default=None),
        min(other_label, default=None),
    )


def rows_as_tuples(rows):
    from types import SimpleNamespace

    return [
        SimpleNamespace(image=int(image), label=int(label), rank=int(rank), prediction=int(prediction))
        for image, label, rank, prediction in zip(rows.image, rows.label, rows.rank, rows.prediction, strict=True)
    ]


def as_tuple(pairs) -> tuple:
    return tuple(vars(pairs).values())


@own_cells
@given(seed=st.integers(0, 2**32 - 1))
def test_pairs_are_those_of_dictionaries(tmp_path_factory, make_dataset, make_cell, make_rows, seed):
    rng = np.random.default_rng(seed)
    store = open_store(str(tmp_path_factory.mktemp("runs")), create=True)
    names, truth = [f"image {index}" for index in range(60)], rng.integers(-1, 4, 60)
    contents = [index.to_bytes(16, "big") for index in range(60)]
    sides = []
    for number in range(2):
        chosen = rng.permutation(60)[: rng.integers(5, 60)]
        labels = truth[chosen].copy()
        some = [contents[index] for index in chosen]
        if number and rng.random() < 0.4:
            labels[rng.integers(len(labels), size=2)] = rng.integers(0, 4, 2)
        if number and rng.random() < 0.4:
            some[int(rng.integers(len(some)))] = b"changed content!"
        if number and rng.random() < 0.2:
            some = [b""] * len(some)
        data = make_dataset(
            len(chosen), ids=[names[index] for index in chosen], labels=labels, space=numbered(4), contents=some
        )
        cell = make_cell(data, model=f"m{number}")
        rows = make_rows(data, seed=seed + number, broken=(1, 3))
        fill(store, data, cell, rows, size=int(rng.integers(1, 20)))
        sides.append((data, cell, rows))
    (data_a, cell_a, rows_a), (data_b, cell_b, rows_b) = sides
    assert as_tuple(paired(look(store), cell_a, cell_b)) == brute_force(data_a, rows_a, data_b, rows_b)
    assert as_tuple(paired(look(store), cell_b, cell_a)) == brute_force(data_b, rows_b, data_a, rows_a)


def test_pairs_at_any_address(store, make_dataset, make_cell, make_rows):
    data = make_dataset(30)
    cells = [make_cell(data, model=name) for name in "ab"]
    rows = [make_rows(data, seed=seed) for seed in (1, 2)]
    fill(store, data, cells[0], rows[0])
    fill(store, data, cells[1], rows[1], size=7, seal=False)
    good = [one.rank[:28] == 0 for one in rows]
    assert as_tuple(paired(look(store), *cells)) == (
        (good[0] & good[1]).sum(), (good[0] & ~good[1]).sum(), (~good[0] & good[1]).sum(), (~good[0] & ~good[1]).sum(),
        (rows[0].prediction[:28] == rows[1].prediction[:28]).sum(), 30, 28, None, None,
    )  # fmt: skip


@pytest.mark.parametrize(
    "folder", ["with space", "it's", "runs[1]", "run?", "st*r", "image=7", "rank=0", "filename=x", "per%20cent"]
)
def test_a_folder_may_have_any_name(tmp_path, make_dataset, make_cell, make_rows, folder):
    data = make_dataset(20)
    cells = [make_cell(data, model=name) for name in "ab"]
    # A neighbour that the name would match if it were a pattern: its rows must not be counted.
    for name in ("runs1", "runs", "stxr", "runx", folder):
        store = open_store(str(tmp_path / name), create=True)
        for seed, cell in enumerate(cells):
            fill(store, data, cell, make_rows(data, seed=seed))
    found = paired(look(store), *cells)
    assert found.both + found.only_a + found.only_b + found.neither == found.n_a == found.n_b == 20


def test_a_relative_address(tmp_path, monkeypatch, make_dataset, make_cell, make_rows):
    monkeypatch.chdir(tmp_path)
    for address in ("runs", "./runs2/", "a/../runs3"):
        store = open_store(address, create=True)
        data = make_dataset(5)
        cells = [make_cell(data, model=name) for name in "ab"]
        for cell in cells:
            fill(store, data, cell, make_rows(data))
        assert paired(look(store), *cells).n_a == 5


def test_patterns_are_taken_literally():
    assert literal(["a*b?c[d]", "plain"]) == ["a[*]b[?]c[[]d]", "plain"]


def test_models_may_order_the_same_classes_differently(local_store, make_dataset, make_cell):
    # The rows hold the label as each model numbers it: 0 for one model, 2 for the other; the class is the same.
    data = make_dataset(3, labels=[0, 1, 2], space=LabelSpace("pets", ("cat", "dog", "eel")))
    a, b = (make_cell(data, model=name) for name in "ab")
    fill(local_store, data, a, from_logits(np.eye(3), np.array([0, 1, 2]), np.arange(3)))
    fill(local_store, data, b, from_logits(np.eye(3), np.array([2, 1, 0]), np.arange(3)))
    found = paired(look(local_store), a, b)
    assert found.other_label is None
    assert (found.both, found.only_a) == (1, 2)


def test_labels_are_compared_by_the_name_of_the_class(local_store, make_dataset, make_cell):
    contents = [b"1" * 16]
    cat = make_dataset(1, labels=[0], space=LabelSpace("x", ("cat", "dog")), contents=contents)
    dog = make_dataset(1, labels=[0], space=LabelSpace("y", ("dog", "cat")), contents=contents)
    also_cat = make_dataset(1, labels=[2], space=LabelSpace("z", ("ant", "bee", "cat")), contents=contents)
    cells = []
    for model, data in zip("abc", (cat, dog, also_cat), strict=True):
        cells.append(make_cell(data, model=model))
        fill(local_store, data, cells[-1], from_logits(np.zeros((1, 3)), data.labels, np.arange(1)))
    assert paired(look(local_store), cells[0], cells[1]).other_label == "0000"
    assert paired(look(local_store), cells[0], cells[2]).other_label is None


def test_where_one_side_has_only_numbers_labels_are_compared_by_number(local_store, make_dataset, make_cell):
    named = make_dataset(2, labels=[0, 1], space=LabelSpace("x", ("cat", "dog")))
    numbers = make_dataset(2, labels=[0, 0], space=numbered(2))
    a, b = make_cell(named, model="a"), make_cell(numbers, model="b")
    for data, cell in ((named, a), (numbers, b)):
        fill(local_store, data, cell, from_logits(np.eye(2), data.labels, np.arange(2)))
    assert paired(look(local_store), a, b).other_label == "0001"


def test_a_cell_without_rows_can_not_be_paired(local_store, make_dataset, make_cell, make_rows):
    data = make_dataset(3)
    a, b = make_cell(data, model="a"), make_cell(data, model="b")
    fill(local_store, data, a, make_rows(data))
    local_store.add_cell(b, data)
    for pair in ((a, b), (b, a)):
        with pytest.raises(StoreError) as caught:
            paired(look(local_store), *pair)
        assert str(caught.value) == f"{local_store}: no predictions of b on clean yet; run it again"


def test_a_file_that_is_damaged_after_the_look_is_an_error_of_one_line(store, make_dataset, make_cell, make_rows):
    data = make_dataset(30)
    cells = [make_cell(data, model=name) for name in "ab"]
    for cell in cells:
        fill(store, data, cell, make_rows(data))
    index = look(store)
    where = index.entry(cells[0]).files[0].path
    store.files.write(where, store.files.read(where)[:300])
    with pytest.raises(StoreError) as caught:
        paired(index, *cells)
    assert str(caught.value).startswith(f"{store}: a file in it can't be read (")
    assert "\n" not in str(caught.value)
    with pytest.raises(StoreError, match="no predictions of a on clean yet; run it again"):
        paired(look(store), *cells)


def test_a_missing_table_of_images_is_an_error_of_one_line(store, make_dataset, make_cell, make_rows):
    data = make_dataset(3)
    cells = [make_cell(data, model=name) for name in "ab"]
    for cell in cells:
        fill(store, data, cell, make_rows(data))
    (name,) = store.files.names("datasets")
    store.files.remove(f"datasets/{name}")
    with pytest.raises(StoreError) as caught:
        paired(look(store), *cells)
    assert str(caught.value) == f"{store}/datasets/{data.digest}...parquet: missing or damaged; run again to replace it"
