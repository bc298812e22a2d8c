"""CSV in full precision."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from oodometer.document.comma_separated import FORMULA, csv_of, original, safe
from oodometer.document.table import Table


def read(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_of(table), newline="")))


def test_every_number_in_full_with_interval_and_n(four):
    rows = read(four)
    assert list(rows[0]) == [
        "model", "category", "clean", "clean low", "clean high", "clean n", "new", "new low", "new high", "new n",
        "rho:new",
    ]  # fmt: skip
    for row, (name, category, clean, _, rho) in zip(rows, four.rows, strict=True):
        found = [float(row[f"clean{end}"]) for end in ("", " low", " high", " n")]
        assert found == [clean.value, clean.low, clean.high, clean.n]
        assert (row["model"], row["category"], float(row["rho:new"])) == (name, category, rho)


def test_names_come_back_and_none_is_a_formula(hostile, names):
    found = [row["model"] for row in read(hostile)]
    assert found == [f"'{name}" if name.startswith("=") else name for name in names]


def test_what_was_not_measured_is_empty(four):
    name, category, clean, _, _ = four.rows[0]
    rows = read(replace(four, rows=((name, category, clean, None, None), *four.rows[1:])))
    assert (rows[0]["new"], rows[0]["new n"], rows[0]["rho:new"]) == ("", "", "")
    assert rows[1]["new n"] == "1000"


def test_what_was_made_safe_comes_back():
    texts = ["resnet", "", "'", "'tis", *(f"{quotes}{one}1" for one in FORMULA for quotes in ("", "'", "''"))]
    written = [safe(text) for text in texts]
    assert not any(text.startswith(FORMULA) for text in written)
    assert [original(text) for text in written] == texts
