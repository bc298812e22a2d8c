"""The numbers of Taori et al. 2020 come out of the testbed's table, and a folder that is none is said to be none."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oodometer.core.errors import DataError, OodometerError
from oodometer.published.taori2020 import (
    FITS,
    OF_CORRUPTIONS,
    RENDITION,
    V2,
    Shift,
    baseline_line,
    baselines,
    correlations,
    corruption_average,
    fitted,
    reproduce,
    rho,
)
from oodometer.published.testbed_table import ACCURACIES, CATEGORIES, MODEL_TYPES, TYPES, read_testbed, types_in
from shared_data import shared
from small_testbed import write_small_testbed


@pytest.fixture(scope="module")
def testbed():
    return shared("testbed")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The small table in the testbed's layout whose lines are known beforehand."""
    return write_small_testbed(tmp_path_factory.mktemp("made"), whole=True)


@pytest.fixture(scope="module")
def found(testbed):
    return reproduce(testbed)


def out(reproduction):
    return {check.what for check in reproduction.checks if not check.holds}


def write(folder, rows, categories):
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in ((ACCURACIES, rows), (CATEGORIES, categories)):
        (folder / name).write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def small(tmp_path):
    """Four standard models on a line of slope 1, one without a category, one above the line, one not measured."""
    rows = [
        ("model", "val", "shifted", "imagenet-c.fog.1_on-disk"),
        *((f"m{place}", clean, clean, 50) for place, clean in enumerate((60, 70, 75, 80))),
        ("unlisted", 90, 10, 50),
        ("robust", 70, 75, ""),
        ("lost", 65, "", 50),
    ]
    categories = [("model", "category"), *((f"m{place}", "standard") for place in range(4))]
    return write(tmp_path / "testbed", rows, [*categories, ("robust", "robust_intervention"), ("lost", "standard")])


def test_every_number_holds(found):
    assert out(found) == {"τ (percent) on ImageNet-R of facebook_adv_trained_resnet152_denoise against resnet152"}
    assert [check.known for check in found.checks if not check.holds] == ["known: no pair of the table gives it"]
    assert Counter(check.source for check in found.checks) == {"printed": 25, "own": 28}
    assert all(check.where for check in found.checks)


def test_lines_are_those_of_numpy(testbed):
    grid = read_testbed(testbed)
    over = baselines(grid)
    assert (fitted(grid, V2, over.table).sum(), fitted(grid, V2, over.paper).sum()) == (85, 78)
    for shift in FITS:
        chosen = over.table & (grid.accuracy(shift.x) >= shift.least)
        x, y = grid.accuracy(shift.x)[chosen], grid.accuracy(shift.y)[chosen]
        both = ~np.isnan(x) & ~np.isnan(y)
        x, y = x[both], y[both]
        # reference: numpy's least squares on logits written out
        expected = np.polyfit(np.log(x / (1 - x)), np.log(y / (1 - y)), 1)
        line = baseline_line(grid, shift, over.table)
        assert (line.slope, line.intercept) == pytest.approx(expected, abs=1e-9)


def test_correlations_are_those_of_numpy(testbed):
    grid = read_testbed(testbed)
    over = baselines(grid)
    r, n = correlations(grid, over.paper)
    # reference: the number of models in a computation made apart from this code
    assert n.tolist() == [115, 105]
    corruptions = grid.settings("imagenet-c.")
    # 37 types of five severities each, and two more of the same weight as a type
    average = (37 * corruptions.mean(axis=1) + grid.accuracy("greyscale") + grid.accuracy("stylized_imagenet")) / 39
    np.testing.assert_allclose(corruption_average(grid), average)
    grid.accuracies["average"] = average
    synthetic, natural = rho(grid, Shift("average", "val", "average", 0.55), over.paper), rho(grid, V2, over.paper)
    named = np.isin(grid.categories, ["robust_intervention", "lp_adversarial", "more_data"])
    chosen = named & ~np.isnan(average) & ~np.isnan(natural)
    assert r[0] == pytest.approx(np.corrcoef(synthetic[chosen], natural[chosen])[0, 1], abs=1e-9)
    assert r[0] == pytest.approx(OF_CORRUPTIONS, abs=5e-5)


def test_the_cuts_on_every_axis_choose_the_models_of_at_least_55_percent(testbed):
    """Which is what the reference fits were made with."""
    grid = read_testbed(testbed)
    over = baselines(grid)
    at_least = over.table & (grid.accuracy("val") >= 0.55)
    for shift in FITS:
        measured = ~np.isnan(grid.accuracy(shift.x)) & ~np.isnan(grid.accuracy(shift.y))
        assert ((fitted(grid, shift, over.table) & measured) == (at_least & measured)).all(), shift.name


def test_choices_of_models_are_the_largest_of_their_kind(testbed):
    """The paper says "up to" and "highest" of these ρ."""
    grid = read_testbed(testbed)
    values = rho(grid, RENDITION, baselines(grid).paper)
    measured = ~np.isnan(grid.settings("imagenet-c.")).any(axis=1)
    for category, model in (
        ("more_data", "instagram-resnext101_32x16d"),
        ("lp_adversarial", "facebook_adv_trained_resnet152_denoise"),
    ):
        of_kind = np.where(measured & (grid.categories == category), values, -np.inf)
        assert grid.models[int(np.nanargmax(of_kind))] == model


def test_remarks_are_derived(found):
    text = " ".join(remark.text for remark in found.remarks)
    # reference: the ρ that the table gives, computed apart from this code
    assert "are 2.12, 1.11, -0.21" in text
    assert "45, 49, 55, 75, 92, 95 percent" in text
    assert "2,030 anchors" in text


def test_a_number_follows_its_cell(made, tmp_path):
    before = {check.what: check.ours for check in reproduce(made).checks}
    assert len(before) == len(reproduce(made).checks) - 1  # a correlation is compared with paper and table
    cells = list(csv.reader((made / ACCURACIES).read_text(encoding="utf-8").splitlines()))
    (row,) = (row for row in cells if row[0] == "google_resnet101_jft-300M")
    place = cells[0].index(V2.y)
    row[place] = str(float(row[place]) + 1)
    categories = csv.reader((made / CATEGORIES).read_text(encoding="utf-8").splitlines())
    after = {check.what: check.ours for check in reproduce(write(tmp_path / "moved", cells, categories)).checks}
    moved = {what for what in before if after[what] != before[what]}
    rho_of_it = "ρ (percent) on ImageNetV2 of ResNet-101 trained on JFT-300M"
    # it is in no line, in one ρ, and in one correlation: it was not measured under attack
    assert moved == {rho_of_it, next(what for what in before if what.startswith("r of ρ under image corruptions"))}
    # closed form: ρ is its accuracy less that of the line
    assert after[rho_of_it] - before[rho_of_it] == pytest.approx(1)


@pytest.mark.parametrize(
    ("model", "column", "by", "expected"),
    [
        ("alexnet", "imagenetv2-matched-frequency-format-val", 5, "slope (logit) of ImageNetV2, 85 standard models"),
        ("resnet152-imagenet11k", "val", -1, "ρ (percent) on ImageNetV2 of ResNet-152 trained on 11,000 classes"),
        (
            "resnet50_l2_eps3_robust",
            "ytbb-robust_pm10",
            5,
            "mean τ (percent) on YTBB-Robust pm-0 to pm-10 of 13 adversarially trained ResNet-50",
        ),
    ],
)
def test_a_wrong_accuracy_is_noticed(testbed, tmp_path, model, column, by, expected):
    rows = list(csv.reader((testbed / ACCURACIES).read_text(encoding="utf-8").splitlines()))
    place = rows[0].index(column)
    (row,) = (row for row in rows if row[0] == model)
    row[place] = str(float(row[place]) + by)
    categories = csv.reader((testbed / CATEGORIES).read_text(encoding="utf-8").splitlines())
    assert expected in out(reproduce(write(tmp_path / "moved", rows, categories)))


def test_a_small_testbed_is_read(small):
    grid = read_testbed(small)
    assert grid.models == ("m0", "m1", "m2", "m3", "unlisted", "robust", "lost")
    assert grid.categories.tolist() == [*["standard"] * 4, "", "robust_intervention", "standard"]
    assert grid.accuracy("val")[0] == pytest.approx(0.6)
    assert np.isnan(grid.accuracy("shifted")[6])


def test_rho_on_a_small_testbed(small):
    grid = read_testbed(str(small))
    over = baselines(grid)
    assert over.table.tolist() == [True] * 4 + [False, False, True]
    values = rho(grid, Shift("made up", "val", "shifted", 0.55), over.table)
    # reference: a closed form, since the line is y = x
    assert values[:6] == pytest.approx([0, 0, 0, 0, -80, 5], abs=1e-9)
    assert np.isnan(values[6])


def test_models_of_other_studies_take_no_part(tmp_path):
    names = ("a", "resnet50_with_fog_aws", "x_batch64_y", "z_subsample_1")
    rows = [("model", "val", "imagenet-c.fog.1_on-disk"), *((name, 70, 50) for name in names), ("low", 54.9, 50)]
    categories = [("model", "category"), *((name, "standard") for name in (*names, "low"))]
    grid = read_testbed(write(tmp_path, rows, categories))
    over = baselines(grid)
    assert over.table.tolist() == [True, False, False, False, True]
    assert fitted(grid, V2, over.table).tolist() == [True, False, False, False, False]


def test_what_is_missing_is_said(small, tmp_path):
    with pytest.raises(DataError, match=r"no such folder; expected the layout .* robustness_top1s\.csv"):
        read_testbed(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"no column named 'imagenetv2-.*; expected the layout"):
        reproduce(small)
    grid = read_testbed(small)
    with pytest.raises(DataError, match=r"no column whose name starts with 'pgd\.'"):
        grid.settings("pgd.")
    with pytest.raises(DataError, match="no model named 'robst'; did you mean robust"):
        grid.rows(("robst",))


@pytest.mark.parametrize("name", [ACCURACIES, CATEGORIES])
def test_a_missing_file_is_said(small, name):
    (small / name).unlink()
    with pytest.raises(DataError, match=f"{name}: no such file; expected the layout"):
        read_testbed(small)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (CATEGORIES, "model,kind\nm0,standard\n", "no column named 'category'"),
        (ACCURACIES, "model,val\nm0,high\n", "column 'val' holds something that is no number"),
        (ACCURACIES, "model,val\nm0,101\n", "column 'val' holds something that is no percentage"),
        (ACCURACIES, "model,val\nm0,-1\n", "column 'val' holds something that is no percentage"),
        (ACCURACIES, "", "expected a header and at least one row"),
    ],
)
def test_a_file_of_another_layout_is_said(small, name, text, message):
    (small / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_testbed(small)


@pytest.mark.parametrize("name", [ACCURACIES, CATEGORIES])
def test_a_file_that_is_no_text_is_said(small, name):
    (small / name).write_bytes(b"\xff\xfe\x00model")
    with pytest.raises(DataError, match=f"{name}: not a text file; expected the layout"):
        read_testbed(small)


def test_a_line_without_enough_models_says_which(small):
    grid = read_testbed(small)
    nobody = np.zeros(len(grid.models), dtype=bool)
    both = dict.fromkeys((RENDITION.x, RENDITION.y), grid.accuracy("val"))
    with pytest.raises(OodometerError, match=r"^the standard models of the testbed, imagenet-r against .*: 0 models"):
        baseline_line(replace(grid, accuracies=both), RENDITION, nobody)


# --- a clone of the repository ---

TYPES_OF_THE_REPOSITORY = """from enum import Enum


class ModelTypes(Enum):
    STANDARD = ('Standard training', 'tab:blue')


raise SystemExit('this file is data, and never run')

model_types_map = {
%s
}

nat_model_types_map = {k: v for k, v in model_types_map.items()}
"""


def as_repository(folder: Path, categories: dict[str, str]) -> Path:
    """The same categories in the form in which the public repository has them."""
    called = {ours: theirs for theirs, ours in TYPES.items()}
    lines = ",\n".join(f"{model!r}: ModelTypes.{called[category]}" for model, category in categories.items())
    path = folder / MODEL_TYPES
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TYPES_OF_THE_REPOSITORY % lines, encoding="utf-8")
    return path


def test_a_clone_of_the_repository_is_read_as_it_is(small):
    before = read_testbed(small)
    known = {model: one for model, one in zip(before.models, before.categories.tolist(), strict=True) if one}
    (small / CATEGORIES).unlink()
    as_repository(small, known)
    again = read_testbed(small)
    assert again.models == before.models
    assert again.categories.tolist() == before.categories.tolist()


def test_every_number_holds_in_a_clone_too(testbed, tmp_path):
    grid = read_testbed(testbed)
    (tmp_path / ACCURACIES).write_bytes((testbed / ACCURACIES).read_bytes())
    as_repository(tmp_path, {m: c for m, c in zip(grid.models, grid.categories.tolist(), strict=True) if c})
    assert out(reproduce(tmp_path)) == {check.what for check in reproduce(tmp_path).checks if check.known}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model_types_map = {", "can't be read as Python \\(SyntaxError\\); expected the layout"),
        ("model_types = {}", "no table named model_types_map in it"),
        ("model_types_map = {'a': ModelTypes.NEW}", "line 1 does not say the type of a model; known are STANDARD"),
        ("model_types_map = {'a': open('x')}", "line 1 does not say the type of a model"),
        ("model_types_map = {**others}", "line 1 does not say the type of a model"),
    ],
)
def test_a_list_of_types_of_another_form_is_said(tmp_path, text, message):
    path = tmp_path / "model_types.py"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        types_in(path)
