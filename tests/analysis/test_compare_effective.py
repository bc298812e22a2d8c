"""Effective robustness of two models beside each other: the ρ of `robustness`, differences given one line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import oodometer as odo
from oodometer.analysis.compare_effective import compare_effective
from oodometer.analysis.judged_pair import CompareOptions
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.cli.main import main
from oodometer.core.errors import StoreError
from oodometer.stats.bootstrap import Resampling

QUICK = CompareOptions(draws=3000)
LINE = RobustnessOptions(baseline="")


@pytest.fixture
def eight(filled, make_dataset):
    """Six models near a line, one 10 points above it, and its twin."""
    data = make_dataset(800, k=4)
    rng = np.random.default_rng(0)
    hard = rng.random(800)
    for number, skill in enumerate([0.5, 0.58, 0.66, 0.74, 0.82, 0.9, 0.7, 0.7]):
        more = 0.15 if number > 5 else 0.0
        own = rng.random((2, 800)) if number < 7 else own  # noqa: F821 - the twin answers as its model does
        for side, condition in enumerate(("clean", "fog/3")):
            share = skill - (0.2 - more) * side
            ranks = (np.where(own[side] < 0.5, hard, own[side] * 2 - 1) > share).astype(np.int64)
            filled.add(data, ranks, model=f"m{number}", condition=condition, digest=f"{number}" * 32)
    return filled.store


def pairs_of(found):
    (side,) = found.sides
    return {(pair.model_a, pair.model_b): pair for pair in side.pairs}


def test_values_are_those_of_robustness(eight):
    found = compare_effective(eight, options=QUICK, line=LINE)
    options = RobustnessOptions(baseline="", resampling=Resampling(3000))
    expected = {one.model: one.rho for one in odo.robustness(eight, "fog/3", options=options).models}
    (side,) = found.sides
    assert {model.model: model.value for model in side.models} == expected
    assert side.name == "fog/3"
    assert found.measure == "effective robustness ρ"


def test_a_pair_is_the_difference_given_one_line(eight):
    found = compare_effective(eight, options=QUICK, line=LINE)
    rho = {model.model: model.value for model in found.sides[0].models}
    for (a, b), pair in pairs_of(found).items():
        assert pair.difference.value == pytest.approx(rho[b].value - rho[a].value)
        assert pair.difference.n == 800
    ups = [model.model for model in found.sides[0].models[:2]]
    assert sorted(ups) == ["m6", "m7"]
    assert pairs_of(found)[ups[0], "m3"].state == "separated"
    assert found.n_tests == 28


def test_some_models_are_judged_by_the_line_of_all(eight):
    whole = pairs_of(compare_effective(eight, options=CompareOptions(draws=3000, correct="none"), line=LINE))
    some = compare_effective(eight, ["m6", "m3"], options=CompareOptions(draws=3000, correct="none"), line=LINE)
    (pair,) = pairs_of(some).values()
    assert pair == whole[pair.model_a, pair.model_b]


def test_a_knee_makes_two_lines(eight):
    line = RobustnessOptions(baseline="", knee=0.7)
    found = pairs_of(compare_effective(eight, options=QUICK, line=line))
    assert found["m1", "m5"].state == "can't be tested" if ("m1", "m5") in found else True
    reasons = {pair.why for pair in found.values()}
    assert reasons == {"", "one on each side of the knee: they are judged by two lines"}


def test_tables_without_numbers_of_images_can_not_be_tested(tmp_path):
    table = tmp_path / "theirs.csv"
    table.write_text("model,val,v2\na,60,47\nb,65,53\nc,70,58\nd,75,64\ne,80,71\n")
    store = str(tmp_path / "runs")
    odo.import_table(str(table), store=store)
    found = compare_effective(store, options=QUICK, line=LINE)
    assert {pair.state for pair in found.sides[0].pairs} == {"can't be tested"}
    assert "number of images" in found.sides[0].pairs[0].why
    odo.import_table(str(table), store=str(tmp_path / "with_n"), n=10_000)
    known = compare_effective(str(tmp_path / "with_n"), options=QUICK, line=LINE)
    assert {pair.test for pair in known.sides[0].pairs} == {"line and images"}


def test_without_a_line_there_is_nothing_to_compare_by(filled, make_dataset, right):
    data = make_dataset(20, k=3)
    for model in "ab":
        for condition in ("clean", "fog/3"):
            filled.add(data, right(10, 20), model=model, condition=condition, digest=model * 32)
    with pytest.raises(StoreError, match="no line to compare by"):
        compare_effective(filled.store, line=LINE)


def test_from_the_command_line(eight):
    words = ["compare", str(eight), "m6", "m3", "--effective", "--baseline", "all", "--draws", "3000"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "fog/3 (other): 2 models, effective robustness ρ"
    shown = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert shown == json.loads(json.dumps(compare_effective(eight, ["m6", "m3"], options=QUICK, line=LINE).as_json()))
