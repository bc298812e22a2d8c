"""Which conditions are a pair, as the store remembers it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oodometer.store.shifts import shifts_in

from oodometer.core.condition import Condition, Shift, clean
from oodometer.core.errors import StoreError


@pytest.fixture
def pair(make_dataset):
    """A shift between two data sets."""
    return Shift("a", "dataset", clean(make_dataset(4)), Condition("a", make_dataset(3, ids=["x", "y", "z"], name="a")))


def test_none_in_a_new_store(store):
    assert shifts_in(store) == []


def test_a_pair_is_remembered_once_with_both_sides(store, pair):
    for _ in range(2):
        store.add_shift(pair)
    (found,) = shifts_in(store)
    assert (found.name, found.kind) == ("a", "dataset")
    assert found.standard == pair.standard.describe()
    assert found.shifted == pair.shifted.describe()


def test_cells_are_told_by_their_conditions(store, pair, make_cell):
    store.add_shift(pair)
    (found,) = shifts_in(store)
    standard, shifted = make_cell(pair.standard.dataset), make_cell(pair.shifted.dataset, condition="a")
    assert [found.is_standard(one) for one in (standard, shifted)] == [True, False]
    assert [found.is_shifted(one) for one in (standard, shifted)] == [False, True]
    other = make_cell(pair.shifted.dataset, condition="b")
    assert not found.is_standard(other)
    assert not found.is_shifted(other)


def test_a_unit_is_part_of_what_a_condition_is(store, make_dataset):
    data = make_dataset(4, columns={"anchor": np.array([0, 0, 1, 1]), "offset": np.array([0, 1, 0, 1])})
    judged = Condition("pm-1", data, unit="anchor")
    store.add_shift(Shift("pm-1", "consistency", Condition("pm-0", data), judged))
    (found,) = shifts_in(store)
    assert found.shifted == judged.describe()
    assert found.shifted != Condition("pm-1", data).describe()
    # Other groups of the same images are another condition, although the digest of the data is the same.
    regrouped = replace(data, columns={**data.columns, "anchor": np.array([0, 1, 1, 0])})
    assert regrouped.digest == data.digest
    assert Condition("pm-1", regrouped, unit="anchor").describe() != judged.describe()


def test_pairs_come_by_name_and_other_files_are_left_alone(store, pair):
    for name in ("b", "a", "c"):
        store.add_shift(replace(pair, name=name))
    store.files.write("shifts/notes.txt", b"mine")
    assert [one.name for one in shifts_in(store)] == ["a", "b", "c"]


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"name": 1, "kind": 2, "standard": {}, "shifted": {}}'])
def test_a_damaged_file_is_named(store, content):
    store.files.write("shifts/x.json", content)
    with pytest.raises(StoreError) as caught:
        shifts_in(store)
    assert str(caught.value).startswith(f"{store.files.locate('shifts/x.json')}: not a shift's description")
    assert "\n" not in str(caught.value)
