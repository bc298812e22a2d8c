"""The section about classes: the numbers of `confusion`, human names, the images behind, and how much it may add."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import oodometer as odo
from oodometer.core.condition import Condition, Shift
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.predictions import from_logits
from oodometer.core.records import record_of_shift
from oodometer.document.html_environment import json_in_html
from oodometer.document.section import Plot, Words
from oodometer.document.table import Table
from oodometer.report.html.class_data import MOST_PICTURES
from oodometer.report.html.page import page_html
from oodometer.report.html.sections.classes import section
from oodometer.study import study_of
from oodometer.study.class_views import MOST_MODELS, MOST_SUBJECTS

PETS = LabelSpace("pets", ("cat", "n02099601", "<b>eel</b>"))
DOG = "golden retriever"


def part(found, kind, name):
    return next(one for one in found.parts if isinstance(one, kind) and one.id == name)


@pytest.fixture
def pets(filled, make_dataset):
    """Two models on 36 clean images and on as many of a natural shift."""
    rng = np.random.default_rng(1)
    clean, sketch = (
        make_dataset(36, space=PETS, name=name, ids=[f"{name}-{at}" for at in range(36)]) for name in ("iid", "sketch")
    )
    filled.store.add_shift(
        record_of_shift(Shift("sketch", "style", Condition("iid", clean), Condition("sketch", sketch)))
    )
    for model in "ab":
        for data in (clean, sketch):
            rows = from_logits(np.eye(3)[rng.integers(0, 3, 36)], data.labels, np.arange(36))
            filled.put(data, rows, model=model, digest=model * 32, condition=data.name)
    return filled.store


def test_numbers_are_those_of_confusion_and_class_changes(pets):
    found = section(study_of(pets))
    data = part(found, Plot, "classes-confusion").data
    assert set(data["names"]) == {"cat", DOG, "<b>eel</b>"}
    assert data["subjects"] == ["iid", "sketch"]
    for at, model in enumerate(data["models"]):
        for place, subject in enumerate(data["subjects"]):
            view, expected = data["views"][at][place], odo.confusion(pets, model, subject)
            assert view["whole"]
            cells = {(cell.truth, cell.answer): (cell.count, cell.share) for cell in expected.cells}
            assert len(view["pairs"]) == len(cells)
            for truth, answer, count, share, _ in view["pairs"]:
                times, estimate = cells[data["names"][truth], data["names"][answer]]
                assert count == times
                assert share == pytest.approx([estimate.value, estimate.low, estimate.high, estimate.n], abs=1e-5)
        changes = odo.class_changes(pets, model, "sketch").rows
        shown = data["views"][at][1]["changes"]
        assert [data["names"][change[0]] for change in shown] == [row.name for row in changes]
        assert [change[3][0] for change in shown] == pytest.approx([row.change.value for row in changes], abs=1e-5)
        assert data["views"][at][0]["changes"] is None
    most = part(found, Table, "classes-most-confused").rows
    assert most[0][:4] == ("a" if data["models"][0] == "a" else "b", "iid", *_first(pets, data["models"][0], "iid"))
    assert part(found, Table, "classes-most-changed").rows[0][1] == "sketch"


def _first(store, model, on):
    first = odo.confusion(store, model, on).confusions[0]
    return first.truth, first.answer


def test_the_lead_says_what_the_first_model_confuses_most(pets):
    study = study_of(pets)
    found, model = section(study), study.models[0].name
    truth, answer = _first(pets, model, "iid")
    assert found.lead[0].startswith(f"On iid, {model} most often takes {truth} for {answer}: ")
    assert "of 12 images" in found.lead[0]


def test_pictures_stand_behind_the_first_confusions_and_names_are_escaped(pets):
    study = replace(study_of(pets), picture=lambda _, image: np.full((8, 8, 3), len(image), dtype=np.uint8))
    found = section(study)
    data = part(found, Plot, "classes-confusion").data
    truth, answer, _, _, behind = max(
        (pair for pair in data["views"][0][1]["pairs"] if pair[0] != pair[1]), key=lambda pair: pair[2]
    )
    first = odo.confusion(pets, data["models"][0], "sketch").confusions[0]
    assert (data["names"][truth], data["names"][answer]) == (first.truth, first.answer)
    images = [data["images"][place] for place in behind]
    assert [image[:2] for image in images] == [(one, "sketch") for one in first.images[:3]]
    assert all(address.startswith("data:image/png;base64,") for _, _, address in images)
    assert "<b>eel</b>" not in page_html([found], ["standard"], title="t")


def test_of_many_models_and_classes_only_the_first_and_no_more_than_is_said(filled, make_dataset):
    rng = np.random.default_rng(0)
    data = make_dataset(3000, labels=np.arange(3000) % 1000, space=numbered(1000))
    answers = np.where(rng.random(3000) < 0.5, data.labels, rng.integers(0, 1000, 3000))
    rows = from_logits(np.eye(1000, dtype=np.float32)[answers], data.labels, np.arange(3000))
    for number in range(MOST_MODELS + 2):
        filled.put(data, rows, model=f"m{number}", digest=f"{number}" * 32)
        for shift in range(MOST_SUBJECTS + 1):
            name = f"shift{shift}"
            filled.put(
                data, rows, model=f"m{number}", digest=f"{number}" * 32, condition=name, transform={"name": name}
            )
    noise = lambda *_: rng.integers(0, 255, (128, 128, 3), dtype=np.uint8)  # noqa: E731
    found = section(replace(study_of(filled.store), picture=noise))
    data = part(found, Plot, "classes-confusion").data
    assert (len(data["models"]), len(data["subjects"])) == (MOST_MODELS, MOST_SUBJECTS)
    pictures = sum(len(address) for _, _, address in data["images"])
    assert 0.5 * MOST_PICTURES < pictures <= MOST_PICTURES
    # Without pictures: 60 confusions and 40 changes of 4 models on 8 sets, 100 characters each at the most.
    assert len(json_in_html(data)) - pictures < 400_000
    notes = next(one for one in found.parts if isinstance(one, Words)).lines
    assert "Not shown: m4, m5." in notes
    assert "Not shown: shift7, shift8." in notes


def test_nothing_where_nothing_is_confused_or_only_accuracies_are_known(filled, make_dataset, tmp_path):
    filled.add(make_dataset(6, k=3), [0] * 6)
    assert section(study_of(filled.store)) is None
    (tmp_path / "t.csv").write_text("model,val,imagenetv2\na,0.7,0.6\nb,0.8,0.7\n")
    odo.import_table(str(tmp_path / "t.csv"), store=str(tmp_path / "table"))
    assert section(study_of(str(tmp_path / "table"))) is None
