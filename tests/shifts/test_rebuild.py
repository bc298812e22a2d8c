"""Transforms made again from their descriptions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from oodometer.catalogue.shifts import declared_shifts
from oodometer.core.records import TransformRecord, record_of_condition
from oodometer.corruptions.frost import frost_source
from oodometer.shifts.rebuild import transform_from
from oodometer.shifts.resolve import asked_for
from oodometer.shifts.sources import Sources

MADE = [name for name, one in declared_shifts().items() if one.make.startswith(("imagenet_c:", "imagenet_p:"))]


@pytest.mark.parametrize("name", [*(name for name in MADE if name != "own"), "cifar-10-c"])
def test_every_member_of_every_family(photos: Path, name: str) -> None:
    data = odo.load_data(photos).take(np.array([0]))
    for pair in asked_for([name], Sources(data, seed=4)).found:
        assert isinstance(pair, odo.Shift)
        condition = pair.shifted
        assert condition.transform is not None
        record = record_of_condition(condition).transform
        assert record is not None
        again = transform_from(record)
        assert again is not None, condition.name
        # What a transform does is in these values: the functions are frozen dataclasses, or functions of a module.
        assert (again.name, again.parameters, again.view) == (
            condition.transform.name,
            condition.transform.parameters,
            condition.transform.view,
        )
        assert again.apply == condition.transform.apply


def test_what_its_description_does_not_make() -> None:
    view = odo.Geometry(224, 224, resize=256)
    assert transform_from(TransformRecord("adain", {"alpha": 0.5, "seed": 0, "weights": "d"}, view)) is None
    made = {"severity": 3, "constants": [2.5, 1.7], "seed": 0, "quality": None}  # Hendrycks & Dietterich 2019
    frost = {**made, "constants": [0.7, 0.7], "textures": frost_source()}
    assert transform_from(TransformRecord("frost", frost, view)) is not None
    assert transform_from(TransformRecord("frost", {**frost, "textures": "others"}, view)) is None
    assert transform_from(TransformRecord("fog", made, view)) is not None
    assert transform_from(TransformRecord("fog", {**made, "constants": [2.5, 1.5]}, view)) is None
    assert transform_from(TransformRecord("fog", {**made, "severity": "3"}, view)) is None
    assert transform_from(TransformRecord("fog", made, odo.Geometry(16_000, 16_000))) is None
