"""``oodometer hypotheses``: its output whole, from a table of accuracies with cards in a CSV."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import oodometer as odo
from oodometer.cli.main import main

WIDE = "model,val,imagenet-r\nbase,70,30\nmixed,70,45\nlarge,80,30\n"
CATEGORIES = """\
model,category,parent,parameters,interventions
base,standard,,20,
mixed,robust intervention,base,,augmix + deepaugment
large,standard,,60,
"""


@pytest.fixture
def store(tmp_path) -> str:
    (tmp_path / "wide.csv").write_text(WIDE)
    (tmp_path / "categories.csv").write_text(CATEGORIES)
    odo.import_table(str(tmp_path / "wide.csv"), store=str(tmp_path / "runs"), n=10_000)
    return str(tmp_path / "runs")


def run(store: str, tmp_path, *flags: str):
    arguments = ["hypotheses", store, "--categories", str(tmp_path / "categories.csv"), *flags]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def test_the_table_and_the_rule(store, tmp_path):
    done = run(store, tmp_path, "--sizes", "[bl]a*", "--pairs")
    assert done.exit_code == 0
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "shift value counted behind it p verdict paper"
    assert lines[1] == "Larger Models: larger models are more robust"
    # The clean accuracy grows by 10 points and the shifted one by none; 1.75 points are 1.96 roots of the sum of
    # p (1 - p) / 10,000 over 0.7, 0.8, 0.3 and 0.3, with the exact intervals' half image more.
    assert lines[2].startswith("imagenet-r -10.0 [-11.8, -8.2] gap in accuracy 1 pair ")
    assert lines[2].endswith(" - + on ImageNet-R")
    assert lines[3] == "base → large -10.0 [-11.8, -8.2] 3 times the parameters"
    assert any(line.startswith("base → mixed +15.0 [") and line.endswith("augmix + deepaugment") for line in lines)
    assert "threshold 1.5 points; verdicts at 95 % for 3 questions, corrected after Holm" in done.stderr


def test_json_has_the_numbers_behind_each_cell(store, tmp_path):
    done = run(store, tmp_path, "--json", "--correct", "bonferroni", "--threshold", "20")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    (diverse,) = [one for one in told["questions"] if one["hypothesis"] == "diverse_data_augmentation"]
    assert diverse["value"]["value"] == pytest.approx(0.15)
    assert (diverse["verdict"], diverse["paper"], diverse["paper_on"]) == ("-", "+", "ImageNet-R")
    assert diverse["pairs"][0]["differs"] == "augmix + deepaugment"
    assert (told["threshold"], told["correct"]) == (0.2, "bonferroni")


def test_a_wrong_flag_is_wrong_usage(store, tmp_path):
    assert run(store, tmp_path, "--correct", "often").exit_code == 2
    refused = run(store, tmp_path, "--sizes", "nothing*")
    assert (refused.exit_code, refused.stderr.strip()) == (
        2,
        "Error: --sizes nothing*: fits no two models of known and different numbers of parameters",
    )
