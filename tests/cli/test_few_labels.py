"""``oodometer label`` and ``oodometer estimate --labels`` as a person types them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from as_typed import oodometer
from oodometer.report.html.few_labels import few_labels_section
from oodometer.store.index import index_at
from small_store import COLOURS, RUN, SIZE, make_workplace
from street_store import *  # noqa: F403 - fixtures
from street_store import Streets


@pytest.fixture
def store(streets: Streets, tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(streets.store)


def filled_in(streets: Streets, table: str) -> str:
    """The table with the labels that a person who knows them would write."""
    rows = list(csv.DictReader(io.StringIO(table)))
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows({**row, "label": streets.name_of(row["id"])} for row in rows)
    return out.getvalue()


def test_from_a_store_to_a_table_to_numbers(store: str, streets: Streets, tmp_path):
    asked = oodometer("label", store, "--shifted", "street", "--budget", "150")
    assert asked.exit_code == 0
    assert asked.stderr.splitlines() == [
        "street: 150 of 2,000 images to label, those the more likely on which the models disagree; seed 0"
    ]
    written = oodometer("label", store, "--shifted", "street", "--budget", "150", "--out", "few.csv")
    assert (written.exit_code, written.stdout) == (0, "")
    assert written.stderr.splitlines()[-1].endswith(
        f"then: oodometer estimate {store} --shifted street --labels few.csv"
    )
    assert (tmp_path / "few.csv").read_text() == asked.stdout
    (tmp_path / "few.csv").write_text(filled_in(streets, asked.stdout))
    told = oodometer("estimate", store, "--shifted", "street", "--labels", "few.csv", "--against", "one")
    assert (told.exit_code, told.stderr) == (0, "")
    lines = told.stdout.splitlines()
    assert lines[0] == "street: 150 of 2,000 images labelled (few.csv), chosen more often where the models disagree"
    assert lines[1] == "with the help of agreement, confidence, atc of all images"
    for title in ("model", "accuracy", "labels alone", "as good as", "confidence − accuracy", "− one", "clean", "ρ"):
        assert title in lines[2]
    assert [line.split()[0] for line in lines[3:9]] == ["five", "four", "one", "six", "three", "two"]
    found = json.loads(
        oodometer(
            "estimate", store, "--shifted", "street", "--labels", "few.csv", "--json", "--proxy", "agreement"
        ).stdout
    )
    assert found["proxies"] == ["agreement"]
    assert found["models"][0]["accuracy"]["estimate"]["n"] == 150


def test_a_trial_shows_what_would_have_come_out(store: str):
    oodometer("label", store, "--shifted", "road", "--budget", "200", "--trial", "--out", "few.csv")
    told = oodometer("estimate", store, "--shifted", "road", "--labels", "few.csv")
    assert "by all labels" in told.stdout
    assert told.stdout.count("inside") + told.stdout.count("outside") == 6


def test_json_names_the_images(store: str):
    found = json.loads(oodometer("label", store, "--shifted", "street", "--budget", "20", "--json").stdout)
    assert (found["set"], found["design"], len(found["images"])) == ("street", "uniform", 20)
    assert set(found["images"][0]) == {"id", "inclusion_probability", "label"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("label", "--shifted", "stret"), "nothing was run on 'stret'; did you mean street?"),
        (("label", "--shifted", "street", "--for", "testset"), "say where with --out FOLDER"),
        (("estimate", "--shifted", "street", "--proxy", "confidence"), "--proxy goes with --labels FILE"),
        (("estimate", "--shifted", "street", "--line", "1,0,probit"), "--line goes with --labels FILE"),
        (("estimate", "--labels", "own.csv"), "--labels: say of which set the images are, with --shifted NAME"),
        (
            ("estimate", "--labels", "own.csv", "--shifted", "street", "--method", "atc-entropy"),
            "with --labels it is --proxy",
        ),
        (("estimate", "--shifted", "street", "--labels", "gone.csv"), "gone.csv: no such table of labels"),
        (("estimate", "--shifted", "street", "--labels", "own.csv", "--against", "seven"), "named 'seven'"),
        (("estimate", "--shifted", "street", "--labels", "own.csv", "--line", "1"), "expected SLOPE,INTERCEPT,SCALE"),
    ],
)
def test_mistakes_get_one_clear_line(store: str, tmp_path, words, said):
    (tmp_path / "own.csv").write_text("id,label\ns/0001,kind 3\n")
    result = oodometer(words[0], store, *words[1:])
    assert result.exit_code in (1, 2)
    assert said in result.stderr
    assert len([line for line in result.stderr.splitlines() if line.startswith("Error: ")]) == 1


def test_images_without_labels_from_a_run_to_numbers(tmp_path, monkeypatch):
    """The whole way: models are asked about a folder of images without labels, somebody names the classes of some."""
    monkeypatch.chdir(tmp_path)
    make_workplace(tmp_path)
    rng = np.random.default_rng(0)
    truth = {}
    (tmp_path / "street").mkdir()
    for number in range(140):
        name, colour = list(COLOURS.items())[number % len(COLOURS)]
        pixels = np.asarray(colour) + rng.normal(0, 45, 3) + rng.normal(0, 20, (SIZE, SIZE, 3))
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(tmp_path / "street" / f"{number:03}.png")
        truth[f"{number:03}"] = name
    models = [f"--model=callable:small_models:{name}" for name in ("colours", "reds", "greens")]
    done = oodometer(
        *RUN, *models, "--data", "pictures", "--ood", "street", "--category", "standard", "--store", "runs"
    )
    assert done.exit_code == 0
    oodometer("label", "runs", "--shifted", "street", "--budget", "110", "--out", "few.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "few.csv").read_text())))
    lines = ["id,label,inclusion_probability,design,pool_size,pool"]
    lines += [",".join([row["id"], truth[row["id"]], *list(row.values())[2:]]) for row in rows]
    (tmp_path / "few.csv").write_text("\n".join(lines))
    told = oodometer("estimate", "runs", "--shifted", "street", "--labels", "few.csv", "--json")
    assert told.exit_code == 0
    found = json.loads(told.stdout)
    assert (found["n"], found["of"], found["proxies"]) == (110, 140, ["agreement", "confidence", "atc"])
    answers = {"colours": 0, "reds": 0, "greens": 0}
    index = index_at("runs")
    names = dict(enumerate(sorted(COLOURS)))  # models number the colours in alphabetical order, as folders are
    for cell in index.cells:
        if cell.condition_name == "street":
            ids, said = index.images(cell).ids, index.columns(cell, "prediction")["prediction"]
            right = [names[answer] == truth[one] for one, answer in zip(ids.tolist(), said.tolist(), strict=True)]
            answers[cell.model_name] = float(np.mean(right))
    for one in found["models"]:
        estimate = one["accuracy"]["estimate"]
        # of 140 images 110 are labelled: what is left open is little
        assert estimate["value"] == pytest.approx(answers[one["model"]], abs=0.08)
        assert one["rho"] is not None


def test_the_report_has_what_few_labels_tell(store: str, streets: Streets, tmp_path):
    table = oodometer("label", store, "--shifted", "street", "--budget", "120").stdout
    (tmp_path / "few.csv").write_text(filled_in(streets, table))
    result = oodometer("report", store, "-o", "report.html", "--labels", f"street={tmp_path / 'few.csv'}")
    assert result.exit_code == 0, result.stderr
    page = Path("report.html").read_text()
    assert "Few labels" in page
    found = odo.estimate_from_labels(store, "street", str(tmp_path / "few.csv"))
    section = few_labels_section([found])
    assert [row[:1] + row[2:5] for row in section.parts[0].rows] == [
        (one.model, one.accuracy.estimate, one.accuracy.plain, round(one.accuracy.worth)) for one in found.models
    ]
    assert f"{found.n} of " in section.parts[0].caption
    wrong = oodometer("report", store, "-o", "report.html", "--labels", "few.csv")
    assert wrong.exit_code == 2
    assert "--labels few.csv: expected NAME=FILE" in wrong.stderr
