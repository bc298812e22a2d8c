"""``oodometer reproduce`` as a person types it: exit codes, text and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from as_typed import oodometer
from oodometer.published import hendrycks2019, tables
from oodometer.published.reproduce import reproduce
from shared_data import shared
from small_testbed import STANDARD, write_small_testbed


def test_a_paper_that_agrees() -> None:
    result = oodometer("reproduce", "hendrycks2019")
    assert result.exit_code == 0
    title, held, blank, header, *_ = result.stdout.splitlines()
    assert title.startswith("hendrycks2019: ")
    n, n_words = len(reproduce(["hendrycks2019"]).papers[0].checks), 2
    assert held == f"{n - n_words} of {n - n_words} printed numbers agree, and 2 of 2 statements in words"
    assert blank == ""
    assert header.split() == ["published", "ours", "difference", "allowed", "what", "where"]
    assert result.stdout.count("✓") == n
    assert result.stderr == ""


def test_all_papers_say_which_one_is_left_out() -> None:
    result = oodometer("reproduce", "--json")
    assert result.exit_code == 0
    assert [one["paper"] for one in json.loads(result.stdout)] == [
        "recht2019",
        "hendrycks2019",
        "many_faces2021",
        "natural_adversarial2021",
    ]
    assert result.stderr == "taori2020 is left out: its table is not bundled; give the folder with --testbed DIR\n"


def test_a_number_that_is_out_gives_exit_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    read = tables.read_table

    def with_a_wrong_cell(name: str) -> tables.Table:
        table = read(name)
        column = next(name for name, values in table.columns.items() if values.dtype.kind == "f")
        return replace(table, columns={**table.columns, column: np.asarray(table.columns[column]) + 7})

    monkeypatch.setattr(hendrycks2019, "read_table", with_a_wrong_cell)
    result = oodometer("reproduce", "hendrycks2019")
    assert result.exit_code == 3
    out = result.stdout.count("✗")
    assert out > 0
    assert result.stderr.startswith(f"Error: {out} numbers are out of what is allowed: hendrycks2019: ")
    as_json = oodometer("reproduce", "hendrycks2019", "--json")
    assert as_json.exit_code == 3
    (paper,) = json.loads(as_json.stdout)
    assert sum(not check["holds"] for check in paper["checks"]) == out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("recht2018",), 2, "no paper named 'recht2018'; did you mean recht2019?"),
        (("taori2020",), 2, "taori2020: its table is not bundled; give the folder with --testbed DIR"),
        (("taori2020", "--testbed", "nowhere"), 1, "nowhere: no such folder; expected the layout of the public"),
        (("--testbed", "empty"), 1, "robustness_top1s.csv: no such file; expected the layout of the public testbed"),
    ],
)
def test_errors(
    words: tuple[str, ...], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    result = oodometer("reproduce", *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_the_testbed() -> None:
    result = oodometer("reproduce", "taori2020", "--testbed", shared("testbed"), "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    (paper,) = json.loads(result.stdout)
    assert paper["paper"] == "taori2020"
    ours = {check["what"]: check["ours"] for check in paper["checks"]}
    # the reference fit: slope .923 over 85 standard models
    assert ours["slope (logit) of ImageNetV2, 85 standard models"] == pytest.approx(0.923, abs=0.0005)


def test_a_testbed_with_other_numbers_gives_exit_code_3(tmp_path: Path) -> None:
    result = oodometer("reproduce", "taori2020", "--testbed", write_small_testbed(tmp_path / "made", whole=True))
    assert result.exit_code == 3
    # as it was made: the slope on ImageNetV2 is 0.92, not the 0.923 of the real table
    assert f"slope (logit) of ImageNetV2, {len(STANDARD)} standard models" in result.stderr


def test_a_testbed_without_the_networks_of_other_papers_leaves_their_numbers_underived(tmp_path: Path) -> None:
    made = write_small_testbed(tmp_path / "made", whole=True)
    result = oodometer("reproduce", "hendrycks2019", "many_faces2021", "--testbed", made, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    left = [number["what"] for paper in json.loads(result.stdout) for number in paper["not_derived"]]
    assert {"mCE of DenseNet-121", "error on ImageNet-R of ResNeXt-50 32x4d"} <= set(left)


def test_a_testbed_with_a_wrong_cell_gives_exit_code_3(tmp_path: Path) -> None:
    for name in ("robustness_top1s.csv", "model_categories.csv"):
        (tmp_path / name).write_text(shared("testbed", name).read_text())
    table = tmp_path / "robustness_top1s.csv"
    header, *rows = table.read_text().splitlines()
    column = header.split(",").index("imagenetv2-matched-frequency-format-val")
    place = next(at for at, row in enumerate(rows) if row.startswith("resnet152-imagenet11k,"))
    cells = rows[place].split(",")
    cells[column] = "70"
    rows[place] = ",".join(cells)
    table.write_text("\n".join([header, *rows]) + "\n")
    result = oodometer("reproduce", "taori2020", "--testbed", tmp_path)
    assert result.exit_code == 3
    assert "ResNet-152 trained on 11,000 classes" in result.stderr
