"""``oodometer explain`` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from as_typed import oodometer
from six_models import CATEGORIES, TABLE

SIDES = ("--table", "grid.csv", "--clean", "val", "--shifted", "v2", "--n", "10000")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("grid.csv").write_text(TABLE)
    Path("cats.csv").write_text(CATEGORIES)
    return tmp_path


def test_the_text() -> None:
    result = oodometer("explain", *SIDES, "--duplicate-share", "0.08")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "v2 (shifted) against val (clean), top-1, 6 models"
    assert lines[2].endswith("near-duplicates, at most")
    assert lines[3].startswith("mean of the models  70.00  59.17")
    assert [line.split()[0] for line in lines[4:6]] == ["e", "a"]
    assert lines[4].endswith("1.74")  # 0.8 - (0.8 - 0.08) / 0.92
    assert "the three gaps" in lines
    assert "what these data can't tell" in lines
    assert result.stderr.splitlines() == [
        "the intervals of lines are over models alone: the answers to each image, which all models share, are not here",
        "differences in percentage points; intervals: mean of 6 intervals",
    ]


def test_json_and_which_models() -> None:
    found = json.loads(oodometer("explain", *SIDES, "--json").stdout)
    assert found["probit"]["n"] == 6
    some = ("--baseline", "standard", "--categories", "cats.csv", "--leave-out", "a", "--level", "0.9")
    found = json.loads(oodometer("explain", *SIDES, *some, "--json").stdout)
    assert (found["probit"]["n"], found["level"]) == (4, 0.9)
    assert "robust" in oodometer("explain", *SIDES, "--model", "rob*").stdout


def test_errors() -> None:
    wrong = oodometer("explain", *SIDES, "--duplicates", "a.csv", "--duplicate-share", "0.1")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    Path("a.csv").write_text("image,verdict\na.png,duplicate\n")
    wrong = oodometer("explain", *SIDES, "--duplicates", "a.csv")
    assert wrong.exit_code == 2
    assert wrong.stderr.endswith("give their share\n")
    wrong = oodometer("explain", "--shifted", "v2")
    assert "give a STORE or --table CSV" in wrong.stderr
