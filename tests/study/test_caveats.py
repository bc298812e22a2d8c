"""What can't be concluded: each doubt is there where its reason is, and not elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.condition import Condition, Shift
from oodometer.core.records import record_of_shift
from oodometer.stats.bootstrap import Resampling
from oodometer.store.folder import WARNINGS, look_into
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of
from oodometer.study.caveats import doubts_of

OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))


def doubts(store, categories="standard", **options) -> list[str]:
    study = study_of(store, options=OPTIONS, **options)
    origins = {model.name: Origin(categories) for model in study.models}
    return [doubt.text for doubt in doubts_of(study_of(store, origins=origins, options=OPTIONS))]


@pytest.fixture
def table(tmp_path):
    store = open_store(str(tmp_path / "table"), create=True)

    def make(points, n=1_000_000, name="imagenet-sketch"):
        rows = [
            Accuracy(f"m{at}", where, value, n, "t.csv")
            for at, both in enumerate(points)
            for where, value in zip(("val", name), both, strict=True)
        ]
        write_table(store, rows)
        return store

    return make


SMOOTH = [(0.5 + 0.03 * at, 0.4 + 0.03 * at) for at in range(12)]


def test_a_good_table_raises_few_doubts(table):
    assert doubts(table(SMOOTH)) == [
        "The two sides of imagenet-sketch are different images: what is lost may come from harder images as well as "
        "from the shift itself.",
        "Imported accuracies come without the answers behind them: models can’t be compared image by image, and their "
        "calibration is not known.",
    ]


def test_the_same_images_with_other_labels_are_not_said_to_be_others(table):
    assert not any("different images" in line for line in doubts(table(SMOOTH, name="imagenet-real")))


def test_few_models_on_the_line(table):
    (line,) = (one for one in doubts(table(SMOOTH[:4])) if "few models" in one)
    assert line.startswith("The line goes through few models on imagenet-sketch (4 models): where it lies is unsure")


def test_too_few_models_for_a_line(table):
    (line,) = (one for one in doubts(table(SMOOTH[:2])) if one.startswith("No line"))
    assert line.startswith("No line, and so no effective robustness, on imagenet-sketch: the baseline (2 models of ")


def test_a_line_that_hardly_holds(table):
    scattered = [(x, 0.5 + 0.2 * (-1) ** at) for at, (x, _) in enumerate(SMOOTH)]
    (line,) = (one for one in doubts(table(scattered)) if "predicts little" in one)
    x, y = np.array([both for both in scattered if both[0] >= 0.55]).T  # the catalogue's cut of ImageNet-Sketch
    r2 = np.corrcoef(np.log(x / (1 - x)), np.log(y / (1 - y)))[0, 1] ** 2
    assert line == (
        f"Clean accuracy predicts little on imagenet-sketch (R² = {r2:.2f}): ρ is the distance from a line that "
        "hardly holds."
    )


def test_few_images(table):
    (line,) = (one for one in doubts(table([(0.9, 0.5)] * 3, n=100)) if "few images" in one)
    bounds = binomtest(50, 100).proportion_ci(method="exact")
    half = 50 * (bounds.high - bounds.low)
    assert line == (
        f"There are few images on imagenet-sketch (n = 100, ±{half:.0f} points): smaller differences of accuracies may "
        "be chance."
    )


def test_models_of_no_category(table):
    store = table(SMOOTH)
    study = study_of(store, origins={f"m{at}": Origin("standard") for at in range(11)}, options=OPTIONS)
    assert "Nobody says of which category m11 is: no line goes through it." in [
        doubt.text for doubt in doubts_of(study)
    ]


def test_no_shift_and_one_model(filled, make_dataset):
    filled.add(make_dataset(20), [0] * 20)
    assert doubts(filled.store) == [
        "There is one model only: nothing is compared, and no line can be drawn.",
        "No shift was measured on both sides, so nothing is said about robustness.",
    ]


def test_what_attacks_found_out_about_themselves(filled, make_dataset):
    data = make_dataset(50)
    attacked = Condition("pgd-linf-4", data)
    shift = Shift("pgd-linf-4", "adversarial", Condition("clean", data), attacked)
    filled.store.add_shift(record_of_shift(shift))
    for model in ("a", "b", "c"):
        filled.add(data, (np.arange(50) > 40).astype(int), model=model)
        cell = filled.add(data, (np.arange(50) > 10).astype(int), model=model, condition="pgd-linf-4")
        if model != "b":
            filled.store.write_warnings(cell, ["the gradient is 0 on 9 of 50 images"])
    found = doubts(filled.store)
    assert "a and c on pgd-linf-4: the gradient is 0 on 9 of 50 images." in found
    assert "An accuracy under an attack is what this attack leaves: a stronger one may leave less." in found
    (warnings,) = look_into(filled.store.files, cell.key).of(WARNINGS)
    filled.store.files.write(warnings.path, b"{")
    assert any(one.startswith("c on pgd-linf-4: its warnings can't be read: ") for one in doubts(filled.store))


def test_notes_of_the_study_are_told(filled, make_dataset):
    data = make_dataset(50)
    filled.add(data, [0] * 50, model="a")
    filled.add(data, [0] * 20, positions=range(20), model="b", finished=False)
    assert "unfinished: b on clean (20 of 50)" in doubts(filled.store)
