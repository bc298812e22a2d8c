"""``oodometer ls`` where a store is called like a list of names."""

from __future__ import annotations

import pytest

import oodometer as odo
from as_typed import oodometer


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("model,val\nnet,0.5\n")


@pytest.mark.parametrize("word", ["models", "data", "conditions", "shifts"])
def test_a_store_of_that_name_is_shown_and_the_way_to_the_names_is_told(word):
    names = oodometer("ls", word).stdout
    odo.import_table("t.csv", store=word)
    shown = oodometer("ls", word)
    assert (shown.exit_code, shown.stdout) == (0, f"{odo.ls(word)}\n")
    assert shown.stderr == (
        f"{word} is a store in this folder; 'oodometer ls --names {word}' lists the {word} that there are\n"
    )
    listed = oodometer("ls", "--names", word)
    assert (listed.exit_code, listed.stdout, listed.stderr) == (0, names, "")


def test_a_folder_that_is_no_store_hides_no_names(tmp_path):
    (tmp_path / "data").mkdir()
    shown = oodometer("ls", "data")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "manifest" in shown.stdout.splitlines()


def test_names_of_a_store_are_no_names():
    shown = oodometer("ls", "--names", "runs")
    assert (shown.exit_code, shown.stderr) == (
        2,
        "Error: --names goes with models, data, conditions, shifts, metrics, numbers\n",
    )
