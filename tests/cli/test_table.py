"""``oodometer table`` as a person types it, on small imported tables."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import Result

import oodometer as odo
from as_typed import oodometer
from oodometer.analysis.origins import read_origins
from small_testbed import MODELS, write_small_testbed


def table(*words: str | Path) -> Result:
    return oodometer("table", *words)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of three models of which accuracies are known, and their categories."""
    monkeypatch.chdir(tmp_path)
    Path("grid.csv").write_text("model,val,imagenetv2,imagenet-c/fog/1\na,0.9,0.8,0.6\nb,0.7,0.5,0.5\nc,0.6,0.45,0.3\n")
    Path("cats.csv").write_text("model,category,parent\na,more data,b\nb,standard,\nc,standard,\n")
    odo.import_table("grid.csv", store="runs", n=1000)


def test_text_on_stdout_and_talk_on_stderr() -> None:
    found = table("runs", "--columns", "clean,accuracy,tau", "--categories", "cats.csv", "--interval", "none")
    assert found.exit_code == 0
    assert found.stdout.splitlines()[:9] == [
        "Top-1 accuracy of each model in per cent, clean and under shift.",
        "",
        "                   imagenetv2  imagenet-c/fog/1",
        "   Rank  clean   acc.       τ      acc.       τ",
        "standard:",
        "b  2      70.0   50.0       –      50.0       –",
        "c  3      60.0   45.0       –      30.0       –",
        "more data:",
        "a  1      90.0*  80.0*  +30.0      60.0*  +10.0",
    ]
    assert found.stderr == ""


def test_why_there_is_no_rho_is_told() -> None:
    found = table("runs", "--shift", "imagenetv2", "--format", "markdown")
    assert found.exit_code == 0
    assert "ρ" not in found.stdout
    assert found.stderr.startswith("no ρ under imagenetv2: no model of category 'standard'")


@pytest.mark.parametrize(
    ("file", "start"),
    [
        ("t.tex", "% \\usepackage{booktabs}\n"),
        ("t.md", "Top-1 accuracy of each model in per cent, clean and under shift.\n\n| Model | Rank | clean |"),
        ("t.csv", "model,category,parent,rank,clean,clean low,"),
        ("t.txt", "Top-1 accuracy"),
        ("t.out", "Top-1 accuracy"),
    ],
)
def test_a_file_is_written_as_it_ends(file: str, start: str) -> None:
    found = table("runs", "--baseline", "all", "-o", file)
    assert found.exit_code == 0
    assert found.stdout == ""
    assert f"{file}: 3 models" in found.stderr
    content = Path(file).read_bytes().decode()
    assert content.startswith(start)
    assert content.endswith("\n")
    again = table("runs", "--baseline", "all", "-o", file)
    assert again.exit_code == 0
    assert Path(file).read_bytes().decode() == content


def test_csv_has_every_shift_and_full_precision() -> None:
    found = table("runs", "--format", "csv", "--columns", "accuracy", "--sort", "model")
    rows = list(csv.DictReader(io.StringIO(found.stdout, newline="")))
    assert [(row["model"], row["imagenetv2"], row["imagenetv2 n"], row["imagenet-c/fog/1"]) for row in rows] == [
        ("a", "0.8", "1000", "0.6"),
        ("b", "0.5", "1000", "0.5"),
        ("c", "0.45", "1000", "0.3"),
    ]


def test_json() -> None:
    found = table("runs", "--what", "gaps", "--json")
    values = {one["model"]: one["values"] for one in json.loads(found.stdout)["models"]}
    assert values["b"]["imagenetv2"]["value"] == pytest.approx(0.2)
    assert values["b"]["imagenet-c/fog/1"]["value"] == pytest.approx(0.2)


def test_corruptions_and_half_widths() -> None:
    found = table("runs", "--what", "corruptions", "--interval", "pm", "--model", "[ab]")
    assert found.exit_code == 0
    lines = found.stdout.splitlines()
    assert lines[4].split() == ["a", "90.0", "±", "1.9*", "60.0", "±", "3.1*", "60.0", "±", "3.1*"]
    assert "Each corruption: at severity 1; mean: over 1 condition." in lines
    assert "±: half the width of the interval." in lines


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("runs", "--shift", "imagenetv3"), 2, "nothing was measured on 'imagenetv3'; did you mean imagenetv2?"),
        (("runs", "--columns", "rhoo"), 2, "no column 'rhoo'; did you mean rho?"),
        (("runs", "--sort", "zzz"), 2, "no column 'zzz' to sort by; known: clean, imagenet-c/fog/1, imagenetv2, model"),
        (("runs", "--what", "gaps", "--columns", "rho"), 2, "--columns are those of the leaderboard"),
        (("runs", "--what", "corruptions", "--columns", "rho"), 2, "--columns one of: ce, relative-ce"),
        (("runs", "--sort", "klean"), 2, "no column 'klean' to sort by; did you mean clean?"),
        (("runs", "--what", "corruptions", "--shift", "cifar10-c"), 2, "no family of corruptions 'cifar10-c'"),
        (("runs", "-o", "nowhere/t.tex"), 2, "nowhere/t.tex: can't be written (No such file or directory)"),
        (("nowhere",), 1, "nowhere: no store there"),
    ],
)
def test_errors_are_one_line(words: tuple[str, ...], code: int, message: str) -> None:
    found = table(*words)
    assert found.exit_code == code
    assert message in found.stderr.splitlines()[-1]
    assert found.stdout == ""


def test_a_table_says_what_robustness_says() -> None:
    made = write_small_testbed(Path("made"))
    grid, categories = str(made / "robustness_top1s.csv"), str(made / "model_categories.csv")
    odo.import_table(grid, store="testbed", n=50_000)
    found = table("testbed", "--categories", categories, "--shift", "imagenet-sketch", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(found.stdout, newline="")))
    known = odo.robustness("testbed", "imagenet-sketch", x=("val",), origins=read_origins(categories))
    rho = {one.model: one.rho for one in known.models}
    assert len(rows) == len(MODELS)
    assert any(row["rho:imagenet-sketch"] for row in rows)
    for row in rows:
        if row["rho:imagenet-sketch"]:
            one = rho[row["model"]]
            assert [float(row[f"rho:imagenet-sketch{end}"]) for end in ("", " low", " high")] == [
                one.value, one.low, one.high,
            ]  # fmt: skip
