"""Of a group each model is asked about the shifts whose classes it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import oodometer as odo
from oodometer.analysis.run_results import results_of
from oodometer.engine.run import RunOptions, Watcher

INPUT = odo.Input(view=odo.Geometry(8, 8), mean=(0, 0, 0), std=(1, 1, 1))
PETS, SHOPS = odo.LabelSpace("pets", ("cat", "dog")), odo.LabelSpace("shops", ("bank", "gym"))


def model(name: str, space: odo.LabelSpace) -> odo.Model:
    def forward(images: np.ndarray) -> np.ndarray:
        return np.zeros((len(images), len(space)), np.float32)

    return odo.Model(name, "callable", f"digest of {name}", INPUT, space, open=lambda compute: forward)


@pytest.fixture
def shift(make_dataset: Callable[..., Any]) -> Callable[..., odo.Shift]:
    def make(name: str, space: odo.LabelSpace) -> odo.Shift:
        sides = [make_dataset(4, space=space, labels=[0, 1, 0, 1], name=side) for side in (f"{name}/iid", name)]
        return odo.Shift(name, "dataset", *(odo.Condition(data.name, data) for data in sides))

    return make


def run_group(models, shifts, tmp_path, *, may_leave_out) -> tuple[Any, list[str]]:
    told: list[str] = []
    options = RunOptions(may_leave_out=frozenset(may_leave_out))
    done = odo.run(models, shifts, store=str(tmp_path / "runs"), options=options, watcher=Watcher(warn=told.append))
    return done, told


def test_each_model_answers_what_it_can_and_the_rest_is_told(shift, tmp_path) -> None:
    shifts = [shift("pets-b", PETS), shift("shops-b", SHOPS)]
    models = [model("net", PETS), model("other", PETS), model("buyer", SHOPS)]
    done, told = run_group(models, shifts, tmp_path, may_leave_out=["pets-b", "shops-b"])
    assert sorted((cell.model_name, cell.condition_name) for cell in done.cells) == [
        ("buyer", "shops-b"),
        ("buyer", "shops-b/iid"),
        ("net", "pets-b"),
        ("net", "pets-b/iid"),
        ("other", "pets-b"),
        ("other", "pets-b/iid"),
    ]
    assert told == [
        "left out for net, other, which lack their classes: shops-b",
        "left out for buyer, which lacks their classes: pets-b",
    ]
    assert {row.model for row in odo.gaps(done).rows} == {"net", "other", "buyer"}
    assert results_of(done).notes == ()  # it is told once


def test_a_family_is_told_by_its_name(shift, tmp_path) -> None:
    shops = [
        replace(shift(f"shops-c/fog/{severity}", SHOPS), family=odo.Family("shops-c", "fog", severity))
        for severity in (1, 2)
    ]
    names = [one.name for one in shops]
    _, told = run_group([model("net", PETS)], [shift("pets-b", PETS), *shops], tmp_path, may_leave_out=names)
    assert told == ["left out for net, which lacks their classes: shops-c"]


def test_what_no_model_can_answer_is_not_even_looked_at(shift, tmp_path) -> None:
    done, told = run_group(
        [model("net", PETS)], [shift("pets-b", PETS), shift("shops-b", SHOPS)], tmp_path, may_leave_out=["shops-b"]
    )
    assert {one.name for one in done.shifts} == {"pets-b"}
    assert told == ["left out for net, which lacks their classes: shops-b"]


def test_an_error_where_nothing_is_left_and_where_it_was_asked_for_by_name(shift, tmp_path) -> None:
    shops = shift("shops-b", SHOPS)
    with pytest.raises(odo.DataError, match="no model has the classes of what is asked: model net has no class 'bank'"):
        run_group([model("net", PETS)], [shops], tmp_path, may_leave_out=["shops-b"])
    with pytest.raises(odo.DataError, match="model net has no class 'bank'"):
        run_group([model("net", PETS)], [shift("pets-b", PETS), shops], tmp_path, may_leave_out=[])
