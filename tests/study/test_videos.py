"""Frames that are judged as one: a study counts anchors, not frames."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.condition import Condition, Shift
from oodometer.core.predictions import from_logits
from oodometer.core.records import ModelRecord, record_of_condition, record_of_shift
from oodometer.stats.bootstrap import Resampling
from oodometer.store.cells import Cell
from oodometer.study import study_of

ANCHORS = 40
MODELS = {"m0": 20, "m1": 25, "m2": 30, "m3": 34}
"""Anchors that are right; of the first four of them a frame beside the anchor is wrong."""


@pytest.fixture
def frames(make_dataset):
    names = [
        f"{anchor:02d}" if not offset else f"{anchor:02d} {offset:+d}" for anchor in range(40) for offset in (-1, 0, 1)
    ]
    columns = {"anchor": np.repeat(np.arange(ANCHORS), 3), "offset": np.tile([-1, 0, 1], ANCHORS)}
    return make_dataset(3 * ANCHORS, ids=names, labels=np.repeat(np.arange(ANCHORS) % 10, 3), columns=columns)


def put(store, model, condition, right, upto=None):
    """One cell of answers that are right or wrong, (N,)."""
    data = condition.dataset
    cell = Cell(
        model=ModelRecord(model, "test", "a" * 32),
        condition=record_of_condition(condition),
        space=data.space.name,
        n_classes=10,
        n_images=len(data),
        n_units=None if condition.unit is None else len(set(data.columns[condition.unit].tolist())),
    )
    answers = np.where(right, data.labels, (data.labels + 1) % 10)
    rows = from_logits(5 * np.eye(10)[answers], data.labels, np.arange(len(data)))
    store.add_cell(cell, data)
    if upto is None:
        store.write_part(cell.key, 0, len(data), rows)
    else:
        store.write_part(
            cell.key, 0, upto, from_logits(5 * np.eye(10)[answers[:upto]], data.labels[:upto], np.arange(upto))
        )
    store.seal(cell, keep_logits=False)


@pytest.fixture
def store(filled, frames):
    anchors = Condition("pm-0", frames.take(np.flatnonzero(frames.columns["offset"] == 0), name="anchors"))
    near = Condition("pm-1", frames, unit="anchor")
    filled.store.add_shift(record_of_shift(Shift("pm-1", "consistency", anchors, near)))
    for model, hits in MODELS.items():
        right = np.arange(ANCHORS) < hits
        put(filled.store, model, anchors, right)
        beside = np.repeat(right, 3) & ~((frames.columns["anchor"] < 4) & (frames.columns["offset"] == 1))
        put(filled.store, model, near, beside, upto=60 if model == "m3" else None)
    return filled.store


def test_an_anchor_is_right_where_all_its_frames_are(store):
    options = RobustnessOptions(resampling=Resampling(draws=100))
    study = study_of(store, origins={name: Origin("standard") for name in MODELS}, options=options)
    (shift,) = study.shifts
    assert (shift.name, shift.kind, shift.standard, shift.natural) == ("pm-1", "consistency", "pm-0", True)
    # four anchors fewer than on the anchors alone; what is unfinished has no judged anchor
    assert [(one.model, one.x[0].value, one.y.value, one.y.n) for one in shift.points.models] == [
        (name, hits / ANCHORS, (hits - 4) / ANCHORS, ANCHORS) for name, hits in MODELS.items() if name != "m3"
    ]
    assert study.notes == ("unfinished: m3 on pm-1 (0 of 40)",)
    assert {cell.condition_name for cell in study.models[0].cells} == {"pm-0"}
