"""Names beside marks: none covers another, none a mark, none leaves the axes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from oodometer.figures.label_placement import MARK, Obstacles, write_names
from oodometer.figures.style import new_figure, notes_of, paper_style


def written(places: np.ndarray, names: list[str]):
    with paper_style():
        figure = new_figure(1, 2.6)
        axes = figure.subplots()
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        bars = np.column_stack([places[:, 0] - 0.1, places[:, 0] + 0.1, places[:, 1] - 0.1, places[:, 1] + 0.1])
        return figure, axes, write_names(axes, names, places, Obstacles(places, bars, (np.array([[0, 0], [1, 1]]),)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [2, 12, 60])
def test_nothing_is_covered(n, seed):
    places = np.random.default_rng(seed).random((n, 2))
    figure, axes, texts = written(places, [f"resnet{at}-narrow" for at in range(n)])
    boxes = [text.get_window_extent() for text in texts]
    for a, b in combinations(boxes, 2):
        assert not a.overlaps(b) or a.x1 == b.x0 or a.y1 == b.y0
    frame = axes.get_window_extent()
    marks = axes.transData.transform(places)
    reach = MARK * figure.dpi / 72
    for box in boxes:
        assert box.x0 >= frame.x0 - 0.01
        assert box.x1 <= frame.x1 + 0.01
        assert box.y0 >= frame.y0 - 0.01
        assert box.y1 <= frame.y1 + 0.01
        inside = (
            (marks[:, 0] > box.x0 - reach + 0.01)
            & (marks[:, 0] < box.x1 + reach - 0.01)
            & (marks[:, 1] > box.y0 - reach + 0.01)
            & (marks[:, 1] < box.y1 + reach - 0.01)
        )
        assert not inside.any()
    # what fits nowhere is told
    assert len(notes_of(figure)) == n - len(texts)
    assert len(texts) == n or n == 60


def test_a_name_stands_at_its_own_mark():
    places = np.array([[0.2, 0.2], [0.8, 0.8]])
    _, axes, texts = written(places, ["one", "two"])
    marks = axes.transData.transform(places)
    for at, text in enumerate(texts):
        box = text.get_window_extent()
        middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
        away = np.hypot(*(marks - middle).T)
        assert away.argmin() == at
