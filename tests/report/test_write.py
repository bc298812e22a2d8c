"""A report, a table and a figure of a store from Python: as by the commands, with pictures, silently."""

from __future__ import annotations

from pathlib import Path

import pytest

import oodometer as odo
from as_typed import oodometer
from colour_model import colour_model


@pytest.fixture
def store(tmp_path, photos, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    shift = odo.load_shifts("imagenet-c/contrast/5", data=str(photos))
    models = [colour_model(), colour_model("other", "b" * 32)]
    odo.run(models, shift, store="runs")
    return "runs"


def test_a_report_is_that_of_the_command(store, capsys):
    typed = oodometer("report", store, "-o", "typed.html", "--data", "val", "--title", "Which?")
    written = odo.report(store, "made.html", data=["val"], title="Which?")
    assert typed.exit_code == 0
    assert str(written) == typed.stdout.strip().replace("typed", "made")
    made = Path("made.html").read_text(encoding="utf-8")
    assert made == Path("typed.html").read_text(encoding="utf-8")
    assert "data:image/" in made
    assert "data:image/jpeg" not in Path(odo.report(store, "plain.html").path).read_text(encoding="utf-8")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("form", ["latex", "markdown", "csv", "text"])
def test_a_table_in_every_form_is_that_of_the_command(store, form):
    typed = oodometer("table", store, "--format", form)
    made = odo.table(store).written(form)
    assert (typed.exit_code, typed.stdout.rstrip("\n").replace("\r", "")) == (0, made.rstrip("\r\n").replace("\r", ""))


def test_a_table_in_a_file_has_the_form_of_its_ending(store, tmp_path):
    table = odo.table(store, "gaps")
    table.write("gaps.md")
    assert (tmp_path / "gaps.md").read_text(encoding="utf-8") == table.written("markdown").rstrip("\n") + "\n"
    assert str(table) == table.written("text")
    with pytest.raises(odo.UsageError, match="no form 'latx' of a table; did you mean latex"):
        table.written("latx")
    with pytest.raises(odo.UsageError, match="no table 'gap'; did you mean gaps"):
        odo.table(store, "gap")


def test_a_figure_is_that_of_the_command(store, tmp_path):
    typed = oodometer("figure", store, "accuracy", "-o", "typed.svg")
    drawn = odo.figure(store, "accuracy", "made.svg")
    assert typed.exit_code == 0, typed.stderr
    assert typed.stdout == f"{drawn}\n".replace("made", "typed")
    assert (tmp_path / "made.svg").read_bytes() == (tmp_path / "typed.svg").read_bytes()
    assert drawn.as_json()["path"] == "made.svg"


def test_the_kinds_of_figures_and_what_a_store_lacks(store):
    assert oodometer("figure", "--list").stdout == f"{odo.figure_list()}\n"
    kinds = odo.figure_list(store)
    assert oodometer("figure", store, "--list").stdout == f"{kinds}\n"
    assert kinds.lacking["accuracy"] == ""
    assert kinds.lacking["mce"]


def test_the_results_of_a_run_are_printed_and_silent(tmp_path, photos, capsys):
    data = odo.load_data(photos)
    done = odo.run([colour_model()], [odo.clean(data)], store=str(tmp_path / "clean"))
    results = odo.results_of(done)
    assert str(results) == str(odo.score(done))
    assert results.as_json() == odo.score(done).as_json()
    assert capsys.readouterr() == ("", "")
