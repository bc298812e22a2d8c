"""pm-k: against a plain loop over the anchors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oodometer.core.errors import DataError, OodometerError
from oodometer.metrics.video import pm_scores

quick = settings(deadline=None, derandomize=True, max_examples=100)
videos = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.dictionaries(st.integers(-4, 4), st.booleans(), max_size=9),
    min_size=1,
    max_size=6,
)


def rows_of(anchors: dict[str, dict[int, bool]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The frames of all anchors, shuffled."""
    rows = [(right, name, offset) for name, frames in anchors.items() for offset, right in frames.items()]
    rows = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    right, anchor, offset = zip(*rows, strict=True)
    return np.array(right), np.array(anchor), np.array(offset)


@quick
@given(videos, st.booleans(), st.integers(0, 5))
def test_it_agrees_with_a_plain_loop(anchors, first, k):
    anchors = {name: {0: first, **frames} for name, frames in anchors.items()}
    assume(k == 0 or any(0 < abs(offset) <= k for frames in anchors.values() for offset in frames))
    found = pm_scores(*rows_of(anchors), k=k)
    for name, right, n in zip(*found, strict=True):  # reference: the definition
        near = [good for offset, good in anchors[name].items() if abs(offset) <= k]
        assert (right, n) == (all(near), len(near))
    assert found.anchor.tolist() == sorted(anchors)
    assert found.accuracy == sum(found.right) / len(anchors)


@quick
@given(videos)
def test_it_never_rises_with_k(anchors):
    anchors = {name: {0: True, 1: True, **frames} for name, frames in anchors.items()}
    rows = rows_of(anchors)
    accuracies = [pm_scores(*rows, k=k).accuracy for k in range(6)]
    assert accuracies == sorted(accuracies, reverse=True)
    assert accuracies[0] == rows[0][rows[2] == 0].mean()


def test_one_wrong_frame_within_k_is_enough():
    right = np.array([True] * 20 + [False])
    offset = np.arange(-10, 11)
    anchor = np.zeros(21, int)
    assert pm_scores(right, anchor, offset, k=9).accuracy == 1
    assert pm_scores(right, anchor, offset, k=10).accuracy == 0
    assert pm_scores(right, anchor, offset, k=10).n_frames.tolist() == [21]


def test_an_anchor_without_its_own_frame_is_named():
    with pytest.raises(DataError, match="1 anchors have no frame of offset 0; the first is b"):
        pm_scores(np.array([True, True]), np.array(["a", "b"]), np.array([0, 1]), k=0)


def test_a_frame_that_comes_twice_is_named():
    with pytest.raises(DataError, match="anchor 7 has its frame of offset -2 twice"):
        pm_scores(np.ones(4, bool), np.array([7, 7, 7, 8]), np.array([0, -2, -2, 0]), k=0)


def test_anchors_alone_are_no_neighbourhood():
    rows = np.ones(2, bool), np.array([0, 1]), np.array([0, 0])
    assert pm_scores(*rows, k=0).accuracy == 1
    with pytest.raises(DataError, match="this would be pm-0, not pm-10"):
        pm_scores(*rows, k=10)
    with pytest.raises(DataError, match="no frame within 3"):
        pm_scores(np.ones(2, bool), np.array([0, 0]), np.array([0, 4]), k=3)


@pytest.mark.parametrize(
    ("right", "anchor", "offset", "k", "message"),
    [
        ([], [], [], 1, "no frames"),
        ([True], [0, 1], [0], 1, "one entry each"),
        ([True], [0], [0], -1, "at least 0"),
    ],
)
def test_what_cannot_be_scored_is_an_error(right, anchor, offset, k, message):
    with pytest.raises(OodometerError, match=message):
        pm_scores(np.array(right, bool), np.array(anchor), np.array(offset, int), k=k)


def test_ranks_do_not_pass_for_right():
    with pytest.raises(OodometerError, match="need bool"):
        pm_scores(np.array([0]), np.array([0]), np.array([0]), k=0)
