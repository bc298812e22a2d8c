"""What pages count in arrays, against plain loops over rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oodometer.explorer.cell_answers import SIDES, CellAnswers, by_class, on_same_images, pairs_of, rows_of_side


@st.composite
def cells(draw) -> CellAnswers:
    """Rows of some images of twelve, of four classes; some have no label."""
    image = np.array(sorted(draw(st.sets(st.integers(0, 11), min_size=1))), dtype=np.int32)
    label = image % 4
    prediction = np.array([draw(st.integers(0, 3)) for _ in image], dtype=np.int32)
    rank = np.where(prediction == label, 0, 1).astype(np.int32)
    rank[[draw(st.integers(0, 5)) == 0 for _ in image]] = -1
    return CellAnswers(image, label.astype(np.int32), prediction, rank, np.linspace(0.1, 0.9, len(image)))


def rows_of(cell: CellAnswers) -> dict[int, tuple[int, int, int]]:
    """Label, answer and rank by image."""
    columns = (cell.label.tolist(), cell.prediction.tolist(), cell.rank.tolist())
    return dict(zip(cell.image.tolist(), zip(*columns, strict=True), strict=True))


@given(cells())
def test_classes(cell):
    of_class: dict[int, Counter[int]] = {}
    n, right = Counter(), Counter()
    for label, prediction, rank in rows_of(cell).values():
        if rank < 0:
            continue
        n[label] += 1
        right[label] += rank == 0
        if rank > 0:
            of_class.setdefault(label, Counter())[prediction] += 1
    found = by_class(cell)
    assert found.labels == sorted(n)
    assert found.n == [n[label] for label in found.labels]
    assert found.n_right == [right[label] for label in found.labels]
    assert found.instead == {
        label: min(times.items(), key=lambda one: (-one[1], one[0])) for label, times in of_class.items()
    }


@given(cells(), cells())
def test_two_cells(a, b):
    rows_a, rows_b = rows_of(a), rows_of(b)
    sides: dict[str, list[int]] = {side: [] for side in SIDES}
    same = 0
    for image in sorted(rows_a.keys() & rows_b.keys()):
        (_, says_a, rank_a), (_, says_b, rank_b) = rows_a[image], rows_b[image]
        if min(rank_a, rank_b) < 0:
            continue
        side = {(0, 0): "both", (0, 1): "only_a", (1, 0): "only_b", (1, 1): "neither"}[rank_a, rank_b]
        sides[side].append(image)
        same += says_a == says_b
    found = pairs_of(a, b, grouped=False, same_numbers=True)
    assert {side: getattr(found, side) for side in SIDES} == {side: len(images) for side, images in sides.items()}
    assert found.same_answer == same
    labelled = [sum(rank >= 0 for _, _, rank in rows.values()) for rows in (rows_a, rows_b)]
    assert [found.n_a, found.n_b] == labelled
    both = on_same_images(a, b)
    for side, images in sides.items():
        assert both[0].image[rows_of_side(*both, side)].tolist() == images


def test_answers_are_compared_only_where_they_mean_the_same():
    cell = CellAnswers(np.arange(2), np.array([0, 1]), np.array([0, 0]), np.array([0, 1]), np.array([0.5, 0.5]))
    other = CellAnswers(np.arange(2), np.array([5, 6]), np.array([0, 0]), np.array([1, 1]), np.array([0.5, 0.5]))
    assert pairs_of(cell, cell, grouped=False, same_numbers=False).same_answer == 2
    assert pairs_of(cell, other, grouped=False, same_numbers=False).same_answer is None  # numbered otherwise
    assert pairs_of(cell, cell, grouped=True, same_numbers=True).same_answer is None  # each has its own worst frame
