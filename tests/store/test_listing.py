"""What a store is said to hold: cells, and the accuracies of imported tables."""

from __future__ import annotations

import json

import pytest

import oodometer as odo
from as_typed import oodometer
from colour_model import colour_model

TABLE = "model,condition,accuracy,n\nnet,val,0.76,50000\nnet,v2,0.63,\n"


@pytest.fixture
def table(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE)
    odo.import_table("t.csv", store="table")
    return "table"


def test_an_imported_table_is_listed_row_by_row(table):
    assert str(odo.ls(table)).splitlines() == [
        "model  weights   condition  data  rows  images  state     logits",
        "net    imported  v2         -     -     -       imported  -",
        "net    imported  val        -     -     50000   imported  -",
    ]
    assert oodometer("ls", table).stdout == f"{odo.ls(table)}\n"


def test_what_is_not_known_of_an_imported_accuracy_is_null(table):
    rows = json.loads(oodometer("ls", table, "--json").stdout)
    assert rows == odo.ls(table).as_json()
    assert rows[1] == {
        "model": "net",
        "weights": "imported",
        "condition": "val",
        "data": None,
        "rows": None,
        "images": 50000,
        "state": "imported",
        "logits": None,
        "accuracy": 0.76,
        "source": "t.csv",
    }


def test_cells_come_before_what_was_imported(table, photos):
    odo.run([colour_model()], [odo.clean(odo.load_data(photos))], store=table)
    listing = odo.ls(table)
    assert [(row["model"], row["state"], row["images"]) for row in listing.as_json()] == [
        ("colours", "complete", 40),
        ("net", "imported", None),
        ("net", "imported", 50000),
    ]
    assert listing.problems == ()
