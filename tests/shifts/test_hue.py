"""The clean images in other colours, as a shift."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from colour_model import colour_model
from oodometer.core.records import record_of_condition
from oodometer.corruptions.hue import turn_hue
from oodometer.shifts.rebuild import transform_from


def hues(photos: Path, *names: str) -> list[odo.Shift]:
    return [one for one in odo.load_shifts(*names, data=str(photos)) if isinstance(one, odo.Shift)]


def test_eleven_shifts_against_the_same_clean_images_and_no_family(photos: Path) -> None:
    found = hues(photos, "hue")
    assert [shift.name for shift in found] == [f"hue/{degrees}" for degrees in range(30, 360, 30)]
    assert len({id(shift.standard) for shift in found}) == 1
    assert {(shift.kind, shift.family) for shift in found} == {("corruption", None)}
    with pytest.raises(odo.UsageError, match="no condition named 'hue/45'"):
        hues(photos, "hue/45")


def test_a_stored_turn_is_made_again_pixel_by_pixel(photos: Path) -> None:
    (shift,) = hues(photos, "Hue/90")
    record = record_of_condition(shift.shifted).transform
    assert record is not None
    again = transform_from(record)
    assert again is not None
    pixels = odo.sample_image(40, 40)
    np.testing.assert_array_equal(again.apply(pixels, "a"), turn_hue(pixels, 90))
    sent = pickle.loads(pickle.dumps(shift.shifted.transform))
    np.testing.assert_array_equal(sent.apply(pixels, "b"), turn_hue(pixels, 90))
    assert transform_from(replace(record, parameters={"degrees": "90"})) is None


def test_a_model_of_colours_is_led_astray_and_nothing_is_averaged(photos: Path, tmp_path: Path) -> None:
    run = odo.run([colour_model()], hues(photos, "hue"), store=str(tmp_path / "runs"))
    gaps = {row.shift: row for row in odo.gaps(run).rows}
    assert len(gaps) == 11
    # Turned by 120 degrees red is green, green blue and blue red: of the four classes only grey is right.
    assert gaps["hue/120"].accuracy_shifted.value == 0.25
    assert gaps["hue/120"].accuracy_standard.value == 1.0
    with pytest.raises(odo.OodometerError, match="no corruption at all five severities"):
        odo.score(run.store, metrics=["mce"])
