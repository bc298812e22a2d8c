"""``oodometer label`` and ``oodometer estimate --labels`` as a person types them."""

from __future__ import annotations

import csv
import io
import json

import pytest

from as_typed import oodometer
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
        (("estimate", "--shifted", "street"), "no labels: 'oodometer label' says which images to label"),
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
