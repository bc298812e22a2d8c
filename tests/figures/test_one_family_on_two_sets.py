"""A family of corruptions on two data sets: a figure is about one of them, and never about an accidental one."""

from __future__ import annotations

import pytest

from oodometer.core.errors import UsageError
from oodometer.figures import FigureOptions, draw
from oodometer.figures.corruption_errors import corruption_errors_of
from oodometer.figures.selection import grid_of
from oodometer.study import study_of
from oodometer.study.corruption_grid import grids_of

pytest.importorskip("matplotlib")

N = 200
HITS = {"first": 100, "second": 180}
"""How many images of each set a model is right on, at every severity."""


@pytest.fixture
def store(filled, make_dataset, right):
    for name, hits in HITS.items():
        data = make_dataset(N, name=name, ids=[f"{name}{at}" for at in range(N)])
        for condition in ("clean", *(f"cifar10-c/fog/{severity}" for severity in range(1, 6))):
            filled.add(data, right(hits, N), condition=condition, model="a", digest="a" * 32)
    return filled.store


@pytest.mark.parametrize("kind", ["severity", "errors"])
def test_nobody_says_which(store, kind):
    with pytest.raises(UsageError, match="cifar10-c of several data sets; name one, as --shift cifar10-c~first"):
        draw(study_of(store, only=()), kind, FigureOptions())


@pytest.mark.parametrize("data", list(HITS))
def test_the_one_that_is_named(store, data):
    shifts = (f"cifar10-c~{data}",)
    study, options = study_of(store, only=shifts), FigureOptions(shifts)
    assert len(grids_of(study)) == 2
    assert grid_of(study, options).mean("a").value == HITS[data] / N
    assert corruption_errors_of(study, options).mean["a"].value == pytest.approx(1 - HITS[data] / N)
