"""The leaderboard: its numbers are those of `score` and `robustness`, and it stays usable with many shifts."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness
from oodometer.analysis.score import score
from oodometer.catalogue.names import testbed_settings as settings
from oodometer.core.condition import Condition, Shift
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import from_logits
from oodometer.core.records import record_of_shift
from oodometer.metrics.corruption_error import COMMON
from oodometer.report.html.sections.leaderboard import SHOWN_RHO, SHOWN_SHIFTS, section
from oodometer.stats.bootstrap import Resampling
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))
MODELS = ("m0", "m1", "m2", "m3")
ORIGINS = {name: Origin("standard") for name in MODELS[:3]} | {"m3": Origin("more data", "m1")}


def rows_for(data, seed: int, gain: float):
    """As sure as random logits are, which lean to the true class."""
    logits = np.random.default_rng(seed).normal(0, 2, (len(data), 10)) + gain * np.eye(10)[data.labels]
    return from_logits(logits, data.labels, np.arange(len(data)))


@pytest.fixture
def run(filled, make_dataset):
    """Four models on 150 images, on 120 others, and under two corruptions."""
    clean = make_dataset(150)
    other = make_dataset(120, name="other", ids=[f"o{at}" for at in range(120)])
    filled.store.add_shift(
        record_of_shift(Shift("drawn", "style", Condition("clean", clean), Condition("drawn", other)))
    )
    for at, model in enumerate(MODELS):
        filled.put(clean, rows_for(clean, at, 2 + at), model=model)
        filled.put(other, rows_for(other, 10 + at, 1 + at), model=model, condition="drawn")
        for severity in (1, 2):
            name = f"cifar10-c/fog/{severity}"
            filled.put(clean, rows_for(clean, 20 + 5 * at + severity, 1.5 + at), model=model, condition=name)
    return filled.store


def test_several_clean_sets_have_names_of_their_own(filled, make_dataset):
    """One named clean too, beside the one that most shifts are compared with."""
    sets = {
        name: make_dataset(80, name=name, ids=[f"{name}{at}" for at in range(80)])
        for name in ("iid", "far", "near", "clean", "drawn")
    }
    for clean, shifted in (("iid", "far"), ("iid", "near"), ("clean", "drawn")):
        pair = Condition(clean, sets[clean]), Condition(shifted, sets[shifted])
        filled.store.add_shift(record_of_shift(Shift(shifted, "style", *pair)))
    for at, model in enumerate(MODELS):
        for name, data in sets.items():
            filled.put(data, rows_for(data, at + len(name), 2), model=model, condition=name)
    study = study_of(filled.store, origins=ORIGINS, options=OPTIONS)
    assert study.conditions[0].name == "iid"
    table = section(study).parts[0]
    names = [column.name for column in table.columns]
    assert {"ECE on clean", "ECE on iid"} <= set(names)
    assert len(set(names)) == len(names)


def column_of(table, title: str) -> dict:
    at = [one.name for one in table.columns].index(title)
    return {row[0]: row[at] for row in table.rows}


def leaderboard(store, origins=ORIGINS):
    return section(study_of(store, origins=origins, options=OPTIONS)).parts[0]


def test_accuracies_calibration_errors_and_aurra_are_those_of_score(run):
    table = leaderboard(run)
    names = {"top-1": "", "ece": "ECE on ", "rms-calibration": "RMS cal. on ", "aurra": "AURRA on "}
    expected = score(run, metrics=list(names), options=ScoreOptions(draws=100)).rows
    for metric, start in names.items():
        for condition in ("clean", "drawn"):
            numbers = {
                row.model: row.estimate for row in expected if (row.metric, row.condition) == (metric, condition)
            }
            assert column_of(table, f"{start}{condition}") == numbers
            assert len(numbers) == 4


def test_rho_tau_and_families_are_those_of_robustness(run):
    table = leaderboard(run)
    for shift in ("drawn", "cifar10-c/fog"):
        expected = robustness(run, shift, origins=ORIGINS, options=OPTIONS).models
        assert column_of(table, f"ρ {shift}") == {one.model: one.rho for one in expected}
        assert column_of(table, f"τ {shift}") == {one.model: one.tau for one in expected}
        assert column_of(table, shift) == {one.model: one.y for one in expected}
    assert column_of(table, "τ drawn")["m3"] is not None


def test_models_with_category_and_parent_the_best_first(run):
    table = leaderboard(run, {**ORIGINS, "m0": Origin()})  # of which its card says enough
    clean = column_of(table, "clean")
    assert [row[0] for row in table.rows] == sorted(clean, key=lambda model: -clean[model].value)
    assert column_of(table, "Category") == {"m0": "standard", "m1": "standard", "m2": "standard", "m3": "more data"}
    assert column_of(table, "Parent")["m3"] == "m1"
    assert table.filters == "Category"


def test_every_column_says_what_it_is(run):
    table = leaderboard(run)
    about = {one.name: one.about for one in table.columns}
    assert about["drawn"] == (
        "Top-1 accuracy on drawn (style), to be compared with clean: n = 120, clopper-pearson 95%."
    )
    assert about["cifar10-c/fog"].startswith("Top-1 accuracy on cifar10-c/fog (the mean of 2 conditions), ")
    assert "line through 3 models, logit scale, R² " in about["ρ drawn"]
    assert about["AURRA on clean"].endswith("among the k most confident): n = 150, bootstrap 95%.")
    assert all(one.about for one in table.columns[1:])
    assert all(len(row) == len(table.columns) for row in table.rows)
    better = {one.name: one.better for one in table.columns}
    assert (better["drawn"], better["RMS cal. on clean"], better["AURRA on clean"]) == ("high", "low", "high")


def test_what_was_not_measured_is_empty(run, filled, make_dataset):
    filled.put(make_dataset(150), rows_for(make_dataset(150), 7, 1.0), model="new")
    table = leaderboard(run)
    assert column_of(table, "drawn")["new"] is None
    assert column_of(table, "ρ drawn")["new"] is None
    assert isinstance(column_of(table, "clean")["new"], Estimate)


@pytest.fixture
def testbed(tmp_path):
    """All 213 settings of the testbed, of 5 models."""
    store = open_store(str(tmp_path / "table"), create=True)
    rng = np.random.default_rng(0)
    rows = [
        Accuracy(
            f"m{at}",
            name,
            round(0.5 + 0.05 * at - (0 if name.startswith("val") else rng.uniform(0, 0.2)), 3),
            5000,
            "t.csv",
        )
        for at in range(5)
        for name in settings()
    ]
    write_table(store, rows)
    return store


def test_with_the_whole_testbed_few_columns_are_there_at_first(testbed):
    table = leaderboard(testbed, {f"m{at}": Origin("standard") for at in range(5)})
    shown = [one.name for one in table.columns if not one.hidden]
    assert shown[:3] == ["Model", "Category", "Rank"]
    assert shown[3] == "val"
    rho = [one for one in shown if one.startswith("ρ")]
    assert (len(rho), len(shown)) == (SHOWN_RHO, 4 + SHOWN_SHIFTS + SHOWN_RHO + 1)
    assert {"imagenetv2-matched-frequency-format-val", "objectnet-1.0-beta", "imagenet-c_on-disk"} <= set(shown)
    assert shown[-1] == "mCE of imagenet-c_on-disk"
    # 213 settings: 7 clean, 185 of two families, and 21 others
    shifts = [one.name for one in table.columns if one.bar and not one.name.startswith("val")]
    assert (len(shifts), len(set(shifts))) == (21 + 2, 23)
    assert len([one for one in table.columns if one.bar and one.name.startswith("val")]) == 7


def test_mce_is_that_of_score(testbed):
    table = leaderboard(testbed, {})
    expected = {row.model: row.estimate for row in score(testbed, metrics=["mce"]).rows}
    assert column_of(table, "mCE of imagenet-c_on-disk") == expected
    assert len(expected) == 5
    assert len(COMMON) == 15


def test_a_store_of_unlabelled_images_has_no_leaderboard(filled, make_dataset):
    data = make_dataset(10, labels=[-1] * 10)
    filled.put(data, from_logits(np.eye(10), data.labels, np.arange(10)), model="one")
    assert section(study_of(filled.store)) is None
