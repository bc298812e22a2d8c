"""CSV in full precision."""

from __future__ import annotations

import csv
import io

from oodometer.analysis.origins import Origin
from oodometer.report.tables import TableOptions, csv_of, leaderboard_table
from oodometer.study import study_of


def test_every_number_in_full_with_interval_and_n(four):
    table = leaderboard_table(four)
    rows = list(csv.DictReader(io.StringIO(csv_of(table), newline="")))
    shift = four.shift("new")
    for row in rows:
        rho = shift.of_model[row["model"]].rho
        found = [float(row[f"rho:new{end}"]) for end in ("", " low", " high", " n")]
        assert found == [rho.value, rho.low, rho.high, rho.n]
        clean = four.conditions[0].accuracies[row["model"]]
        assert [float(row["clean"]), float(row["clean low"]), float(row["clean high"])] == [
            clean.value, clean.low, clean.high,
        ]  # fmt: skip
    assert list(rows[0])[:5] == ["model", "category", "parent", "clean", "clean low"]


def test_names_come_back_and_none_is_a_formula(study, names):
    origins = {names[0]: Origin('a,"b"', "@parent")}
    made = study({name: (900 - 100 * place, 500) for place, name in enumerate(names)}, origins=origins)
    text = csv_of(leaderboard_table(made, TableOptions(columns=("clean",), grouped=False)))
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["model"] for row in rows] == [f"'{name}" if name.startswith("=") else name for name in names]
    assert (rows[0]["category"], rows[0]["parent"]) == ('a,"b"', "'@parent")


def test_what_was_not_measured_is_empty(filled, make_dataset, right):
    data = make_dataset(10)
    filled.add(data, right(5, 10), model="a")
    filled.add(data, right(6, 10), model="b", digest="b" * 32)
    filled.add(data, right(3, 10), model="b", digest="b" * 32, condition="fog")
    rows = list(csv.DictReader(io.StringIO(csv_of(leaderboard_table(study_of(filled.store))), newline="")))
    assert [(row["model"], row["fog"], row["fog n"]) for row in rows] == [("b", "0.3", "10"), ("a", "", "")]
