"""Images judged as one, against a plain loop over the groups."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.core.predictions import Predictions, from_logits, with_logits
from oodometer.store.worst_frame import judged_as_one, standing

quick = settings(deadline=None, derandomize=True, max_examples=150)
K = 6


def rows_with(ranks: list[int | None], *, seed: int = 0, logits: bool = False) -> Predictions:
    """Rows of images 0 to N - 1: the true class has the given rank, None is an image without a row, -1 no label."""
    rng = np.random.default_rng(seed)
    positions = np.array([place for place, rank in enumerate(ranks) if rank is not None], dtype=np.int64)
    values = -np.sort(-rng.normal(0, 2, (len(positions), K)), axis=1)  # class 0 is the best, 5 the worst
    labels = np.array([rank for rank in ranks if rank is not None], dtype=np.int64)
    rows = from_logits(values, labels, positions)
    return with_logits(rows, values) if logits else rows


def plain(ranks: list[int | None], units: np.ndarray, offsets: np.ndarray | None) -> dict[int, int]:
    """For each unit that has all rows: the image it stands under, and its rank."""
    found = {}
    for unit in sorted(set(units.tolist())):
        members = [place for place in range(len(units)) if units[place] == unit]
        if any(ranks[place] is None for place in members):
            continue
        own = [place for place in members if offsets is not None and offsets[place] == 0]
        unlabelled = any(ranks[place] == -1 for place in members)
        found[(own or members)[0]] = -1 if unlabelled else max(ranks[place] for place in members)
    return found


@quick
@given(st.data())
def test_the_worst_decides_as_in_a_plain_loop(data):
    n = data.draw(st.integers(1, 30))
    units = np.array(data.draw(st.lists(st.sampled_from("abcdef"), min_size=n, max_size=n)))
    ranks = data.draw(st.lists(st.sampled_from([0, 0, 0, 1, 5, -1, None]), min_size=n, max_size=n))
    offsets = np.array(data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)))
    for given_offsets in (offsets, None):
        found = judged_as_one(rows_with(ranks), units, given_offsets)
        assert dict(zip(found.image.tolist(), found.rank.tolist(), strict=True)) == plain(ranks, units, given_offsets)
        assert found.image.tolist() == sorted(found.image.tolist())


def test_the_row_is_whole_that_of_the_worst_image():
    rows = rows_with([0, 3, 1, 0, 0], logits=True)
    found = judged_as_one(rows, np.array([7, 7, 7, 9, 9]), np.array([0, 1, -1, -1, 0]))
    assert found.image.tolist() == [0, 4]
    assert found.image.dtype == np.int32
    # image 1 is the worst of the first unit; of two equals the first image counts
    for column in fields(Predictions):
        if column.name != "image":
            np.testing.assert_array_equal(getattr(found, column.name), getattr(rows, column.name)[[1, 3]])


def test_an_anchor_that_is_wrong_is_wrong_whatever_its_neighbours_are():
    found = judged_as_one(rows_with([0, 2, 0]), np.array(["a", "a", "a"]), np.array([-1, 0, 1]))
    assert (found.image.tolist(), found.rank.tolist()) == ([1], [2])


def test_rows_in_any_order_give_the_same():
    ranks, units = [0, 3, 1, 0, 5, 0], np.array([1, 1, 2, 2, 3, 3])
    rows = rows_with(ranks)
    shuffled = Predictions(
        **{
            one.name: None if getattr(rows, one.name) is None else getattr(rows, one.name)[[5, 2, 0, 3, 1, 4]]
            for one in fields(Predictions)
        }
    )
    for one in fields(Predictions):
        np.testing.assert_array_equal(
            getattr(judged_as_one(shuffled, units, None), one.name), getattr(judged_as_one(rows, units, None), one.name)
        )


def test_no_unit_is_whole():
    assert len(judged_as_one(rows_with([0, None, None, 1]), np.array([0, 0, 1, 1]), None)) == 0


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [(None, [2, 0]), ([1, 0, 5, 7], [2, 1]), ([0, 0, 1, 0], [3, 0]), ([1.0, np.nan, 0.0, 0.0], [2, 0])],
)
def test_a_unit_stands_under_its_first_anchor_frame_or_its_first_image(offsets, expected):
    units = np.array(["b", "b", "a", "a"])
    assert standing(units, None if offsets is None else np.array(offsets)).tolist() == expected
