"""The section about corruptions: its numbers are the store's, and it says what is undefined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from made_tables import column_of
from oodometer.analysis.origins import Origin
from oodometer.analysis.score import score
from oodometer.core.model import Input
from oodometer.core.preprocessing import Geometry
from oodometer.data.imagenet import imagenet
from oodometer.document.html_environment import json_in_html
from oodometer.document.section import Pictures, Plot
from oodometer.document.table import Table
from oodometer.metrics.corruption_error import COMMON, EXTRA, SEVERITIES, alexnet
from oodometer.report.html.corruption_sheet import MOST_CHARACTERS
from oodometer.report.html.sections.corruptions import section
from oodometer.report.tables import TableOptions, corruptions_table
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

N = 1000
FAMILY = "imagenet-c"


def rows_of(model, *, errors, names=COMMON, family=FAMILY, clean=0.2, n=N):
    """A table of one model: its errors (C, S) under a family, and on clean images."""
    rows = [
        Accuracy(model, f"{family}/{name}/{severity}", round(1 - errors[at, severity - 1], 12), n, "t.csv")
        for at, name in enumerate(names)
        for severity in SEVERITIES
    ]
    return rows if clean is None else [*rows, Accuracy(model, "clean", 1 - clean, n, "t.csv")]


def imported(filled, *tables, origins=None):
    write_table(filled.store, [row for table in tables for row in table])
    return study_of(filled.store, origins=origins)


def part(found, kind, name):
    return next(one for one in found.parts if isinstance(one, kind) and one.id == name)


def test_heat_map_has_every_accuracy_with_its_interval(filled):
    errors = {"a": alexnet().errors * 0.5, "b": alexnet().errors * 0.7}
    study = imported(
        filled, *(rows_of(model, errors=one) for model, one in errors.items()), origins={"a": Origin("more data")}
    )
    (family,) = part(section(study), Plot, "corruptions-heat").data["families"]
    assert (family["models"], family["categories"]) == (["a", "b"], ["more data", "category unknown"])
    assert (family["n"], family["averaged"], family["severities"]) == (N, 15, [1, 2, 3, 4, 5])
    scored = {(row.model, row.condition): row.estimate for row in score(filled.store, metrics=["top-1"]).rows}
    for at, model in enumerate(family["models"]):
        assert family["clean"][at][0] == scored[model, "clean"].value
        for column, name in enumerate(COMMON, start=1):
            for severity in SEVERITIES:
                expected = scored[model, f"{FAMILY}/{name}/{severity}"]  # source: oodometer score
                found = family["accuracy"][at][column][severity]
                assert found == pytest.approx([expected.value, expected.low, expected.high], abs=1e-5)
        # reference: plain means of what was put in; the paper's order is that of the groups
        assert [cell[0][0] for cell in family["accuracy"][at][1:]] == pytest.approx(
            (1 - errors[model]).mean(axis=1), abs=1e-5
        )
        assert family["accuracy"][at][0][0][0] == pytest.approx((1 - errors[model]).mean(), abs=1e-5)


def test_corruption_errors_are_those_of_score(filled):
    study = imported(
        filled, rows_of("a", errors=alexnet().errors, clean=0.4348), rows_of("b", errors=alexnet().errors * 0.5)
    )
    found = section(study)
    table = part(found, Table, "corruption-errors-1")
    titles = [column.name for column in table.columns]
    assert titles[:7] == ["Model", "Category", "Parent", "error", "mCE", "rel. mCE", "gaussian noise"]
    assert [column.name for column in table.columns if column.hidden] == ["Parent"]
    values = {row[0]: dict(zip(titles, row, strict=True)) for row in table.rows}
    assert values["a"]["error"].value == pytest.approx(0.4348)
    assert [row[0] for row in table.rows] == ["b", "a"]  # the best first
    # by the definition of CE: AlexNet's errors by themselves are 1, half of them a half
    assert {name: one["mCE"].value for name, one in values.items()} == pytest.approx({"a": 1, "b": 0.5})
    assert values["a"]["rel. mCE"].value == pytest.approx(1)
    for row in score(filled.store, metrics=["ce", "mce", "relative-mce"]).rows:
        name = row.condition.partition("/")[2].replace("_", " ").replace("jpeg", "JPEG")
        title = {"mce": "mCE", "relative-mce": "rel. mCE"}.get(row.metric, name)
        assert values[row.model][title] == row.estimate
    (family,) = part(found, Plot, "corruptions-heat").data["families"]
    assert [row[0][0] for row in family["ce"]] == pytest.approx([0.5, 1])
    assert table.caption == "Corruption error (CE) of each model in per cent under the corruptions of imagenet-c."
    assert any("AlexNet" in note for note in table.footnotes)


def test_one_corruption_of_the_fifteen_has_ce_and_no_mean(filled, make_dataset, right):
    data = make_dataset(200, space=imagenet(), name="imagenet")
    filled.add(data, right(180, 200))
    for severity in SEVERITIES:
        filled.add(data, right(100, 200), condition=f"imagenet-c/{COMMON[0]}/{severity}")
    table = part(section(study_of(filled.store)), Table, "corruption-errors-1")
    assert [column.key for column in table.columns[3:]] == ["error", COMMON[0]]
    # by the definition of CE: the sum of the errors by that of AlexNet's
    assert column_of(table, COMMON[0])["mine"].value == pytest.approx(5 * 0.5 / alexnet().errors[0].sum())


def test_another_family_has_accuracies_and_says_why(filled):
    errors = alexnet().errors * 0.6
    study = imported(filled, rows_of("a", errors=errors, family="cifar10-c"))
    found = section(study)
    table = part(found, Table, "corruption-errors-1")
    assert "ImageNet-C and its 1,000 classes" in table.footnotes[-1]
    by_command = corruptions_table(study, TableOptions(sort="mean"))
    assert [row[3:] for row in table.rows] == [row[3:] for row in by_command.rows]
    mean, noise = (column_of(table, name)["a"] for name in ("mean", "gaussian_noise"))
    assert mean.value == pytest.approx(1 - errors.mean(), abs=1e-5)
    assert noise.value == pytest.approx(1 - errors[0].mean(), abs=1e-5)
    assert noise.low < noise.value < noise.high
    (about,) = [column.about for column in table.columns if column.key == "gaussian_noise"]
    assert about == (
        "Top-1 accuracy under gaussian noise over the severities: n = 1,000, mean of the bounds of 5 conditions, "
        "clopper-pearson 95%."
    )
    assert part(found, Plot, "corruptions-heat").data["families"][0]["ce"] is None


def test_a_corruption_that_nobody_was_shown_whole_is_named(filled):
    rows = rows_of("a", errors=alexnet().errors, family="cifar10-c")
    study = imported(filled, [row for row in rows if row.condition != "cifar10-c/snow/5"])
    table = part(section(study), Table, "corruption-errors-1")
    assert "snow" not in [column.key for column in table.columns]
    assert "Measured whole of no model: snow." in table.footnotes


def test_words_name_the_best_and_the_worst(filled):
    errors = np.full((3, 5), 0.3)
    errors[1] = 0.6
    study = imported(
        filled, rows_of("a", errors=errors, names=COMMON[:3]), rows_of("b", errors=errors + 0.1, names=COMMON[:3])
    )
    (lead,) = section(study).lead
    assert lead.startswith("imagenet-c: 2 models under 3 corruptions at severities 1 to 5, 1,000 images each.")
    assert "a has the highest mean: 60.0 %" in lead  # 1 - (0.3 + 0.6 + 0.3) / 3
    assert "against 80.0 % [77.4, 82.4] on clean" in lead  # reference: scipy's exact interval of 800 of 1000
    assert "Shot noise hurts most (median model 30.0 %)" in lead  # the lower of 0.4 and 0.3


def test_the_mean_is_one_on_every_page(filled):
    """Of all conditions, as `gaps` and the first screen have it; that of mCE is over the 15 alone, and called so."""
    errors = np.full((19, 5), 0.2)
    errors[15:] = 0.9
    study = imported(filled, rows_of("a", errors=errors, names=(*COMMON, *EXTRA)))
    mean = part(section(study), Plot, "corruptions-heat").data["families"][0]["accuracy"][0][0][0][0]
    (shift,) = study.shifts
    assert mean == pytest.approx(shift.points.models[0].y.value, abs=1e-5)
    assert mean == pytest.approx((15 * 0.8 + 4 * 0.1) / 19, abs=1e-5)


def test_nothing_corrupted_nothing_said(filled):
    assert section(imported(filled, [Accuracy("a", "clean", 0.8, N, "t.csv")])) is None


def test_one_severity_of_one_corruption_is_enough(filled):
    study = imported(filled, [Accuracy("a", f"{FAMILY}/fog/3", 0.5, N, "t.csv")])
    found = section(study)
    (family,) = part(found, Plot, "corruptions-heat").data["families"]
    assert family["severities"] == [3]
    assert family["accuracy"][0][1][0][0] == 0.5
    assert (family["clean"], family["clean_name"]) == ([None], "")
    assert found.lead[0].startswith("imagenet-c: 1 model under 1 corruption at severity 3")


def test_numbers_without_n_have_no_interval(filled):
    study = imported(filled, rows_of("a", errors=alexnet().errors, n=None))
    found = section(study)
    (family,) = part(found, Plot, "corruptions-heat").data["families"]
    assert family["n"] is None
    assert "% (no interval) of the answers of a are right, against 80.0 % (no interval) on clean." in found.lead[0]
    assert all(len(cell) == 1 for of in family["accuracy"][0] for cell in of)


def test_names_from_tables_stay_text(filled):
    hostile = "</script><img src=x onerror=alert(1)>"
    study = imported(filled, rows_of(hostile, errors=alexnet().errors))
    data = part(section(study), Plot, "corruptions-heat").data
    assert data["families"][0]["models"] == [hostile]
    assert "</script" not in json_in_html(data)


@pytest.mark.parametrize(("n", "folded", "height"), [(3, False, 341), (40, True, 640)])
def test_many_models_fold_the_table_and_scroll_the_map(filled, n, folded, height):
    found = section(imported(filled, *(rows_of(f"m{at}", errors=alexnet().errors) for at in range(n))))
    assert part(found, Table, "corruption-errors-1").folded == folded
    assert part(found, Plot, "corruptions-heat").height == height  # 260 px and 27 for each model, up to 640


class Shown:
    """Pictures that tell what they are of by their colour; and what was asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, cell, image_id):
        self.asked.append((cell.condition_name, image_id))
        shade = 0 if "/" not in cell.condition_name else 200
        return np.full((20, 30, 3), shade, dtype=np.uint8)


def run(filled, make_dataset, **more):
    data = make_dataset(20)
    for name in ("fog", "snow"):
        for severity in (1, 5):
            filled.add(data, np.zeros(20, dtype=int), condition=f"cifar10-c/{name}/{severity}")
    filled.add(data, np.zeros(20, dtype=int))
    return replace(study_of(filled.store), **more)


def test_a_contact_sheet_of_one_image_at_the_strongest_severity_of_each(filled, make_dataset):
    shown = Shown()
    found = section(run(filled, make_dataset, picture=shown))
    sheet = part(found, Pictures, "corruptions-sheet")
    assert [lines for _, _, lines in sheet.images] == [("clean",), ("snow", "severity 5"), ("fog", "severity 5")]
    assert len({image for _, image in shown.asked}) == 1
    assert sheet.images[1][1] == "The image under snow at severity 5"
    assert "exactly as mine was shown it in the run, 8 by 8 pixels" in sheet.caption
    ladder = part(found, Pictures, "corruptions-severities")
    assert [lines for _, _, lines in ladder.images] == [("clean",), ("snow", "severity 1"), ("snow", "severity 5")]


def test_contact_sheets_add_no_more_than_is_said(filled, make_dataset):
    rng = np.random.default_rng(0)
    data = make_dataset(4)
    seen = Input(Geometry(300, 300))
    filled.add(data, [0] * 4, input=seen)
    for name in COMMON:
        for severity in SEVERITIES:
            filled.add(data, [0] * 4, condition=f"imagenet-c/{name}/{severity}", input=seen)
    study = replace(study_of(filled.store), picture=lambda *_: rng.integers(0, 255, (300, 300, 3), dtype=np.uint8))
    sheets = [one for one in section(study).parts if isinstance(one, Pictures)]
    assert 0.5 * MOST_CHARACTERS < sum(len(image[0]) for one in sheets for image in one.images) <= MOST_CHARACTERS
    assert len(sheets[0].images) == 16  # noise, which nothing makes smaller: all are there, the last ones small
    assert "too large for this page" in sheets[0].caption


@pytest.mark.parametrize("picture", [None, lambda cell, image: None])
def test_without_images_there_is_no_contact_sheet(filled, make_dataset, picture):
    found = section(run(filled, make_dataset, picture=picture))
    assert not [one for one in found.parts if isinstance(one, Pictures)]
