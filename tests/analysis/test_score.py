"""Scores: counts by numpy, intervals by scipy, the table to the letter, and what is undefined."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.analysis.score import score
from oodometer.analysis.text import columns, interval_bar
from oodometer.core.errors import OodometerError, StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.store.store import open_store
from oodometer.store.tables import parse_table, write_table


def by_metric(scores) -> dict:
    return {row.metric: row for row in scores.rows}


def test_the_line_that_the_readme_shows(filled, make_dataset, right):
    filled.add(make_dataset(1000, k=5), right(741, 1000))
    # reference: scipy.stats.binomtest(741, 1000).proportion_ci(), 0.7126657 and 0.7678920
    expected = binomtest(741, 1000).proportion_ci()
    assert (f"{expected.low:.4f}", f"{expected.high:.4f}") == ("0.7127", "0.7679")
    assert str(score(filled.store)) == "mine  clean  top-1  0.7410 [0.7127, 0.7679]  n=1000"


@pytest.mark.parametrize(("name", "method"), [("clopper-pearson", "exact"), ("wilson", "wilson")])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_scores_are_counts_of_numpy_with_intervals_of_scipy(filled, make_dataset, name, method, level):
    rng = np.random.default_rng(3)
    labels = rng.integers(-1, 20, 400)
    data = make_dataset(400, k=20, labels=labels)
    ranks = rng.integers(0, 12, 400)
    filled.add(data, ranks)
    found = by_metric(score(filled.store, interval=name, level=level))
    n = int((labels >= 0).sum())
    for metric, best in (("top-1", 1), ("top-5", 5)):
        hits = int(((ranks < best) & (labels >= 0)).sum())
        bounds = binomtest(hits, n).proportion_ci(level, method=method)
        estimate = found[metric].estimate
        assert (estimate.value, estimate.n) == (hits / n, n)
        assert (estimate.low, estimate.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
        assert estimate.interval == f"{name} {100 * level:g}%"
        assert found[metric].state == "complete"
        assert found[metric].missing == 0


@pytest.mark.parametrize(
    ("k", "known", "metrics"),
    [
        (2, None, {"top-1"}),
        (5, None, {"top-1"}),
        (6, None, {"top-1", "top-5"}),
        (10, 1, {"top-1"}),
        (10, 4, {"top-1"}),
        (10, 5, {"top-1", "top-5"}),
        (5, 5, {"top-1"}),
    ],
)
def test_top_five_is_left_out_where_it_says_nothing(filled, make_dataset, right, k, known, metrics):
    filled.add(make_dataset(12, k=k), right(5, 12), known_classes=known)
    assert set(by_metric(score(filled.store))) == metrics


def test_an_unfinished_cell_says_what_is_missing(filled, make_dataset, right):
    filled.add(make_dataset(100, k=3), right(30, 40), positions=range(40), finished=False)
    (row,) = score(filled.store).rows
    assert (row.state, row.missing, row.estimate.n, row.estimate.value) == ("unfinished", 60, 40, 0.75)
    assert str(score(filled.store)).endswith("n=40  (unfinished: 60 images to go)")


def test_broken_images_are_told(filled, make_dataset, right):
    filled.add(make_dataset(100, k=3), right(30, 97), positions=range(3, 100))
    (row,) = score(filled.store).rows
    assert (row.state, row.missing, row.estimate.n) == ("complete", 3, 97)
    assert str(score(filled.store)).endswith("n=97  (3 broken images left out)")


def test_images_without_a_label_are_not_counted(filled, make_dataset):
    filled.add(make_dataset(10, k=3, labels=[-1, -1, -1, 0, 1, 2, 0, 1, 2, 0]), [0] * 10)
    (row,) = score(filled.store).rows
    assert (row.estimate.n, row.estimate.value, row.missing) == (7, 1.0, 0)


def test_a_cell_without_labels_has_no_score(filled, make_dataset, right):
    filled.add(make_dataset(10, k=3, labels=[-1] * 10), [0] * 10, model="unlabelled")
    filled.add(make_dataset(10, k=3), right(4, 10), model="labelled")
    assert [row.model for row in score(filled.store).rows] == ["labelled"]


def test_imported_rows_stand_beside_the_measured_ones(filled, make_dataset, right):
    filled.add(make_dataset(100, k=3), right(70, 100))
    table = "model,condition,accuracy,n\nresnet50,val,76.1,50000\nresnet50,imagenet-a,0.3,\n"
    write_table(filled.store, parse_table(table, source="t.csv"))
    measured, known, unknown = score(filled.store).rows
    assert measured.state == "complete"
    assert (known.state, known.weights, known.data, known.metric) == ("imported", "", "", "top-1")
    bounds = binomtest(38_050, 50_000).proportion_ci()  # 76.1 % of 50,000; reference: scipy
    assert known.estimate.value == 0.761
    assert (known.estimate.low, known.estimate.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
    assert unknown.estimate == Estimate(0.003, None, None, None, "none: n is not known")
    assert str(score(filled.store)).splitlines() == [
        "mine      clean       top-1  0.7000 [0.6002, 0.7876]  n=100",  # scipy: binomtest(70, 100).proportion_ci()
        "resnet50  val         top-1  0.7610 [0.7572, 0.7647]  n=50000  (imported)",
        "resnet50  imagenet-a  top-1  0.0030 [no interval]  n=?         (imported)",
    ]


def test_several_weights_of_one_name_are_told_apart(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    for digest in ("1" * 32, "2" * 32):
        filled.add(data, right(5, 10), digest=digest)
    filled.add(data, right(5, 10), model="other", digest="3" * 32)
    lines = str(score(filled.store)).splitlines()
    assert {line.split()[0] for line in lines} == {"mine@11111111", "mine@22222222", "other"}


def test_one_weight_of_each_name_needs_no_digest(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    for model in ("one", "two"):
        filled.add(data, right(5, 10), model=model)
        filled.add(data, right(4, 10), model=model, condition="fog/3")
    lines = str(score(filled.store)).splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["one", "clean"],
        ["one", "fog/3"],
        ["two", "clean"],
        ["two", "fog/3"],
    ]


def test_several_data_sets_get_a_column(filled, make_dataset, right):
    filled.add(make_dataset(10, k=3, name="val"), right(5, 10))
    filled.add(make_dataset(20, k=3, name="v2"), right(5, 20))
    assert [line.split()[:4] for line in str(score(filled.store)).splitlines()] == [
        ["mine", "clean", "v2", "top-1"],
        ["mine", "clean", "val", "top-1"],
    ]


def test_data_sets_of_one_name_are_told_apart_by_their_content(filled, make_dataset, right):
    one, other = make_dataset(10, k=3), make_dataset(20, k=3)
    filled.add(one, right(5, 10))
    filled.add(other, right(5, 20))
    found = {line.split()[2] for line in str(score(filled.store)).splitlines()}
    assert found == {f"val@{data.digest[:8]}" for data in (one, other)}


def test_a_score_names_its_cell(filled, make_dataset, right):
    cell = filled.add(make_dataset(10, k=3), right(5, 10))
    (row,) = score(filled.store).rows
    assert (row.cell, row.weights, row.content) == (cell.key, "a" * 8, cell.condition.data.digest[:8])


def test_json_is_json(filled, make_dataset, right):
    filled.add(make_dataset(20, k=8), right(5, 20))
    write_table(filled.store, parse_table("model,val\nnet,76.1\n", source="t.csv"))
    scores = score(filled.store)
    back = json.loads(json.dumps(scores.as_json(), allow_nan=False))
    assert back == scores.as_json()
    assert [row["metric"] for row in back] == ["top-1", "top-5", "top-1"]
    assert back[0]["estimate"] == {
        "value": 0.25,
        "low": pytest.approx(binomtest(5, 20).proportion_ci().low, abs=1e-9),  # scipy
        "high": pytest.approx(binomtest(5, 20).proportion_ci().high, abs=1e-9),
        "n": 20,
        "interval": "clopper-pearson 95%",
    }
    assert back[2]["estimate"]["low"] is None


def test_only_some_scores(filled, make_dataset, right):
    filled.add(make_dataset(20, k=8), right(5, 20))
    some = score(filled.store).only(lambda row: row.metric == "top-5")
    assert [row.metric for row in some.rows] == ["top-5"]
    assert str(some.only(lambda row: False)) == ""


def test_a_store_may_be_given_by_address(filled, make_dataset, right):
    filled.add(make_dataset(20, k=8), right(5, 20))
    assert score(str(filled.store)) == score(filled.store)


def test_an_empty_store_has_no_scores(filled):
    with pytest.raises(StoreError) as caught:
        score(filled.store)
    assert str(caught.value) == (
        f"{filled.store}: no predictions in it yet; 'oodometer run' or 'oodometer import' makes some"
    )


def test_a_wrong_interval_or_level_is_refused(filled, make_dataset, right):
    filled.add(make_dataset(20, k=8), right(5, 20))
    with pytest.raises(UsageError, match=r"^no interval named 'wald'"):
        score(filled.store, interval="wald")
    with pytest.raises(OodometerError, match=r"^level 95: must lie between 0 and 1"):
        score(filled.store, level=95)


def test_a_store_in_memory():
    import fsspec

    memory = fsspec.filesystem("memory")
    try:
        store = open_store("memory://test-score-in-memory/runs", create=True)
        write_table(store, parse_table("model,val\nnet,50\n", source="t.csv", n=10))
        assert [row.model for row in score("memory://test-score-in-memory/runs").rows] == ["net"]
    finally:
        memory.rm("/test-score-in-memory", recursive=True)


def test_the_plot_draws_the_interval_to_scale(filled, make_dataset, right):
    filled.add(make_dataset(1000, k=5), right(741, 1000))
    (line,) = score(filled.store).table(plot=True).splitlines()
    drawn = line.removeprefix("mine  clean  top-1  ")[:40]
    # 40 places from 0 to 1: 0.7127 lies in place 28, 0.741 in 29, 0.7679 in 30
    assert drawn == "·" * 28 + "├●┤" + "·" * 9
    assert line.endswith("  0.7410 [0.7127, 0.7679]  n=1000")


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_bar_stays_on_its_scale(value):
    assert interval_bar(Estimate(value, 0.0, 1.0, 5, "x"), width=10).count("─") == 8 - (0 < value < 1)
    assert len(interval_bar(Estimate(value, 0.0, 1.0, 5, "x"), width=10)) == 10
    assert interval_bar(Estimate(value, None, None, None, "x"), width=10).strip("·") == "●"


def test_columns_are_aligned():
    assert columns([]) == ""
    assert columns([["a", "", "x"], ["bbb", "cc", ""]]) == "a        x\nbbb  cc"


# Metrics of cells


def test_answers_in_reversed_order_are_warned_of(filled, make_dataset):
    """The true class is always among the best five, and nearly always the fifth."""
    data = make_dataset(100, k=10)
    filled.add(data, [0] * 5 + [4] * 95, model="reversed")
    filled.add(data, [0] * 60 + [4] * 40, model="fine", digest="b" * 32)
    filled.add(data, [0] * 5 + [9] * 95, model="bad", digest="c" * 32)
    assert score(filled.store).warnings == (
        "reversed on clean: top-1 is 0.0500 but top-5 1.0000; are its classes in order, the best first?",
    )
