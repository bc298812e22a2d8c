"""Cells on their common images: a plain loop over ids is the reference."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.common_images import clusters_by, clusters_of, joined
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.labels import LabelSpace, numbered
from oodometer.store.index import Index, look


def join(store, cells, ask, **more):
    return joined(look(store), cells, ask, **more)


def ids_of(index: Index, cell) -> list[str]:
    return index.images(cell).ids.tolist()


def ranks_by_id(index: Index, cells) -> tuple[list[str], list[list[int]]]:
    """The ids that all cells have with a label, in the order of the first, and the ranks there: a plain loop."""
    tables = []
    for cell in cells:
        rows, ids = index.read(cell), ids_of(index, cell)
        tables.append({ids[image]: rank for image, rank in zip(rows.image, rows.rank, strict=True) if rank >= 0})
    common = [one for one in tables[0] if all(one in table for table in tables)]
    return common, [[table[one] for one in common] for table in tables]


def check(store, cells) -> None:
    ids, ranks = ranks_by_id(look(store), cells)
    found = join(store, cells, lambda rows: rows.rank)
    assert found.ids.tolist() == ids
    assert [values.tolist() for values in found.values] == ranks
    assert len(found) == len(ids)


def test_one_data_set_with_broken_unlabelled_and_unfinished(filled, make_dataset):
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 5, 60)
    data = make_dataset(60, labels=labels)
    some = np.delete(np.arange(60), [3, 17])
    cells = [
        filled.add(data, rng.integers(0, 4, 60), condition="a"),
        filled.add(data, rng.integers(0, 4, 58), condition="b", positions=some),
        filled.add(data, rng.integers(0, 4, 40), condition="c", positions=range(40), finished=False),
    ]
    check(filled.store, cells)
    check(filled.store, cells[::-1])
    found = join(filled.store, cells, lambda rows: rows.rank)
    assert found.left_out == 20 + 2  # not yet run, and broken; the unlabelled ones have rows
    assert found.labels.tolist() == [label for at, label in enumerate(labels[:40]) if label >= 0 and at not in (3, 17)]
    every = join(filled.store, cells, lambda rows: rows.top5, labelled=False)
    assert len(every) == 38
    assert every.values[0].shape == (38, 5)


def test_an_image_that_no_cell_has_is_left_out_too(filled, make_dataset):
    data = make_dataset(10)
    cells = [filled.add(data, [0] * 9, condition=name, positions=range(1, 10)) for name in "ab"]
    assert join(filled.store, cells, lambda rows: rows.rank).left_out == 1


def test_data_sets_in_other_orders_are_joined_by_id(filled, make_dataset):
    rng = np.random.default_rng(1)
    ids = [f"class/{number}" for number in range(30)]
    cells = []
    for name in "abc":
        order = rng.permutation(30)[: 30 - len(cells)]
        data = make_dataset(len(order), ids=[ids[at] for at in order], labels=order % 10, name=name)
        cells.append(filled.add(data, rng.integers(0, 3, len(order)), condition=name))
    check(filled.store, cells)
    found = join(filled.store, cells, lambda rows: rows.rank)
    assert found.labels.tolist() == [int(one.split("/")[1]) % 10 for one in found.ids]
    assert found.left_out == 30 - len(set.intersection(*(set(ids_of(look(filled.store), c)) for c in cells)))


def test_the_same_id_of_another_class_is_refused(filled, make_dataset):
    one = filled.add(make_dataset(4, labels=[0, 1, 2, 3], name="one"), [0] * 4)
    other = filled.add(make_dataset(4, labels=[0, 1, 2, 4], name="other"), [0] * 4)
    with pytest.raises(StoreError) as caught:
        join(filled.store, [one, other], lambda rows: rows.rank)
    assert str(caught.value) == "'0003' has another label in other than in one: not the same images"


def test_classes_are_compared_by_name_where_both_have_names(filled, make_dataset):
    pets, turned = LabelSpace("pets", ("cat", "dog")), LabelSpace("p", ("dog", "cat", "ant"))
    cells = [
        filled.add(make_dataset(4, labels=[0, 1, 0, -1], space=pets, name="a"), [0] * 4),
        filled.add(make_dataset(4, labels=[1, 0, 1, 0], space=turned, name="b"), [0] * 4),
    ]
    assert len(join(filled.store, cells, lambda rows: rows.rank)) == 3
    # numbers on one side: by index
    cells[1] = filled.add(make_dataset(4, labels=[0, 1, 0, 1], space=numbered(2), name="c"), [0] * 4)
    assert len(join(filled.store, cells, lambda rows: rows.rank)) == 3
    cells[1] = filled.add(make_dataset(4, labels=[0, 0, 0, 0], space=numbered(2), name="d"), [0] * 4)
    with pytest.raises(StoreError, match=r"^'0001' has another label in d than in a"):
        join(filled.store, cells, lambda rows: rows.rank)


def test_nothing_in_common(filled, make_dataset):
    one = filled.add(make_dataset(4), [0] * 4)
    other = filled.add(make_dataset(2, ids=["x", "y"], name="other"), [0] * 2, condition="fog")
    with pytest.raises(StoreError, match=r"no labelled image in common between the cells of mine \(clean, fog\)"):
        join(filled.store, [one, other], lambda rows: rows.rank)
    with pytest.raises(StoreError, match=r"no image in common"):
        join(filled.store, [one, other], lambda rows: rows.rank, labelled=False)


def test_groups_of_rows_and_of_common_images(filled, make_dataset):
    columns = {"video": np.array(list("aabbc")), "shot": np.arange(5)}
    data = make_dataset(5, labels=[0, 1, 2, -1, 4], columns=columns)
    cell = filled.add(data, [0] * 4, positions=[4, 2, 1, 3])
    index = look(filled.store)
    rows, images = index.read(cell), index.images(cell)
    assert clusters_of(images, rows, "video").tolist() == ["c", "b", "a", "b"]
    assert clusters_of(images, rows, "class").tolist() == [4, 2, 1, -1]
    common = join(filled.store, [cell], lambda rows: rows.rank)
    assert clusters_by(index, cell, common, "video").tolist() == ["c", "b", "a"]
    assert clusters_by(index, cell, common, "class").tolist() == [4, 2, 1]
    assert clusters_by(index, cell, common, None) is None
    for make in (lambda: clusters_of(images, rows, "film"), lambda: clusters_by(index, cell, common, "film")):
        with pytest.raises(StoreError) as caught:
            make()
        assert str(caught.value) == (
            "these data have no column 'film' to group the images by; known: class, shot, video"
        )


def test_images_without_a_label_have_no_class_to_group_by(filled, make_dataset):
    cell = filled.add(make_dataset(3, labels=[0, -1, 1]), [0] * 3)
    index = look(filled.store)
    common = joined(index, [cell], lambda rows: rows.rank, labelled=False)
    with pytest.raises(OodometerError, match=r"^1 images have no label to group them by class"):
        clusters_by(index, cell, common, "class")
