"""Scores: counts by numpy, intervals by scipy, the table to the letter, and what is undefined."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import balanced_accuracy_score, recall_score

from oodometer.core.errors import OodometerError, StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import from_logits, from_top_classes
from oodometer.metrics.metric import Metric, metrics
from oodometer.report.asked import ScoreOptions, asked_name, checked_names, group_scores
from oodometer.report.score import score
from oodometer.report.scores import LeftOut
from oodometer.report.text import columns, interval_bar
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
    assert (row.cell, row.weights, row.content) == (cell.key, "a" * 8, cell.condition["data"][:8])


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


def add_random(filled, data, seed: int = 0, **about) -> np.ndarray:
    """A model whose logits are noise and a little knowledge; the logits."""
    rng = np.random.default_rng(seed)
    k = len(data.space)
    logits = rng.normal(size=(len(data), k)) + 1.5 * (np.arange(k) == data.labels[:, None])
    filled.put(data, from_logits(logits, data.labels, np.arange(len(data))), **about)
    return logits


def test_metrics_of_every_cell_of_every_model(filled, make_dataset):
    labels = np.random.default_rng(9).integers(-1, 10, 230)
    val, v2 = make_dataset(230, labels=labels), make_dataset(210, name="v2", ids=[f"v2/{at}" for at in range(210)])
    made = {
        ("a", "val", "clean"): (add_random(filled, val, 1, model="a"), val),
        ("a", "val", "fog/1"): (add_random(filled, val, 2, model="a", condition="fog/1"), val),
        ("a", "v2", "clean"): (add_random(filled, v2, 3, model="a"), v2),
        ("b", "val", "clean"): (add_random(filled, val, 4, model="b"), val),
    }
    found = score(filled.store, metrics=["error", "balanced", "worst-class", "nll", "aurc"])
    rows = {(row.model, row.data, row.condition, row.metric): row for row in found.rows}
    assert len(rows) == len(found.rows) == 4 * 5
    for place, (logits, data) in made.items():
        kept = data.labels >= 0
        truth, said = data.labels[kept], logits[kept].argmax(axis=1)
        assert rows[(*place, "error")].estimate.value == (said != truth).mean()
        # scikit-learn
        assert rows[(*place, "balanced")].estimate.value == pytest.approx(balanced_accuracy_score(truth, said))
        worst = recall_score(truth, said, average=None, labels=np.unique(truth)).min()
        assert rows[(*place, "worst-class")].estimate.value == pytest.approx(worst)
        exps = np.exp(logits[kept])
        p = exps / exps.sum(axis=1, keepdims=True)
        assert rows[(*place, "nll")].estimate.value == pytest.approx(
            -np.log(p[np.arange(len(p)), truth]).mean(), rel=1e-5
        )
        # a plain loop over the k most confident
        order = np.argsort(-p.max(axis=1).astype(np.float32), kind="stable")
        wrong = (said != truth)[order]
        areas = [wrong[:k].mean() for k in range(1, len(wrong) + 1)]
        assert rows[(*place, "aurc")].estimate.value == pytest.approx(np.mean(areas))
        for metric in ("error", "balanced", "worst-class", "nll", "aurc"):
            row = rows[(*place, metric)]
            assert row.estimate.n == int(kept.sum())
            assert row.estimate.low <= row.estimate.value <= row.estimate.high or metric == "worst-class"
            assert row.convention == metrics.get(metric).convention
            assert (row.state, row.missing) == ("complete", 0)


@pytest.mark.parametrize("interval", ["bootstrap", "bca"])
def test_a_bootstrap_has_the_same_values_as_counts(filled, make_dataset, interval):
    add_random(filled, make_dataset(230))
    counted = by_metric(score(filled.store, metrics=["top-1", "top-5", "error"]))
    drawn = by_metric(score(filled.store, metrics=["top-1", "top-5", "error"], interval=interval))
    assert set(counted) == set(drawn)
    for name, row in drawn.items():
        assert (row.estimate.value, row.estimate.n) == (counted[name].estimate.value, 230)
        assert row.estimate.interval == f"{'bca ' if interval == 'bca' else ''}bootstrap 95%"
        # 230 images: the bounds are those of Clopper and Pearson to some 0.01
        assert row.estimate.low == pytest.approx(counted[name].estimate.low, abs=0.015)
        assert row.convention == counted[name].convention


@pytest.mark.parametrize("by", ["class", "video"])
def test_groups_are_drawn_together(filled, make_dataset, by):
    videos = np.array([f"v{at // 3}" for at in range(240)])
    add_random(filled, make_dataset(240, columns={"video": videos}))
    found = score(filled.store, metrics=["top-1", "nll", "ece", "balanced"], options=ScoreOptions(by=by))
    assert {row.estimate.interval for row in found.rows} == {"cluster bootstrap 95%"}
    assert len(found.rows) == 4


def test_a_column_that_no_data_have(filled, make_dataset):
    add_random(filled, make_dataset(20, columns={"video": np.arange(20)}))
    for names in (["top-1", "top-5"], ["all"]):
        with pytest.raises(UsageError) as caught:
            score(filled.store, metrics=names, options=ScoreOptions(by="vidio"))
        assert str(caught.value) == "--by vidio: no data here have such a column; did you mean video?"


def test_data_without_the_column_are_left_out(filled, make_dataset):
    add_random(filled, make_dataset(20, columns={"video": np.arange(20)}))
    add_random(filled, make_dataset(30, name="v2"))
    found = score(filled.store, metrics=["top-1"], options=ScoreOptions(by="video"))
    assert [row.data for row in found.rows] == ["val"]
    assert found.left_out == (
        "top-1: these data have no column 'video' to group the images by; known: class (mine on clean)",
    )


def test_top_five_is_the_same_by_counts_and_by_draws(filled, make_dataset, right):
    """Few classes, or few that are known: never a top-5 accuracy of 1 by default."""
    for place, (k, known) in enumerate([(5, None), (10, 4), (6, None), (10, 5)]):
        filled.add(make_dataset(12, k=k, name=str(place)), right(5, 12), known_classes=known, condition=str(place))
    for interval in ("clopper-pearson", "bootstrap"):
        found = score(filled.store, metrics=["top-5"], interval=interval)
        assert [row.condition for row in found.rows] == ["2", "3"]
        assert found.left_out == (
            "top-5: every answer is among the best five of 5 classes (mine on 0)",
            "top-5: only the best 4 classes of these answers are known (mine on 1)",
        )


def test_top_five_by_name_where_there_is_none(filled, make_dataset, right):
    filled.add(make_dataset(12, k=4), right(5, 12))
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["top-5"])
    assert str(caught.value) == "top-5: every answer is among the best five of 4 classes"
    assert score(filled.store).left_out == ()  # nobody asked


def test_answers_of_which_only_the_best_classes_are_known(filled, make_dataset):
    data = make_dataset(20)
    classes = np.stack([(data.labels + np.arange(20) % 3) % 10, data.labels], axis=1)
    filled.put(data, from_top_classes(classes, data.labels, np.arange(20)), known_classes=2)
    found = score(filled.store, metrics=["all"])
    values = {row.metric: row.estimate.value for row in found.rows if "[" not in row.metric}
    assert set(values) == {"top-1", "error", "balanced", "worst-class"}
    assert values["top-1"] == np.mean(np.arange(20) % 3 == 0)
    lines = [line for line in found.left_out if "needs" in line]
    assert lines[0] == (
        "adaptive-ece, aurc, aurra, coverage@5%, ece, rms-calibration, rms-calibration:published: needs confidence, "
        "but only the best classes of these answers are known (mine on clean)"
    )
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["ece"])
    assert str(caught.value) == "ece: needs confidence, but only the best classes of these answers are known"


def test_metrics_say_what_is_missing_too(filled, make_dataset):
    data = make_dataset(100)
    logits = np.random.default_rng(0).normal(size=(100, 10))
    rows = from_logits(logits[:40], data.labels[:40], np.arange(40))
    filled.put(data, rows, finished=False)
    some = np.delete(np.arange(100), [4, 5, 6])
    filled.put(data, from_logits(logits[some], data.labels[some], some), condition="fog")
    found = score(filled.store, metrics=["nll", "ece"])
    assert {(row.condition, row.state, row.missing, row.estimate.n) for row in found.rows} == {
        ("clean", "unfinished", 60, 40),
        ("fog", "complete", 3, 97),
    }


# What is asked, and what is undefined


def test_all_leaves_out_what_is_undefined_and_says_so(filled, make_dataset):
    add_random(filled, make_dataset(150))
    found = score(filled.store, metrics=["all"])
    assert {row.metric for row in found.rows if "[" not in row.metric} == set(metrics.names()) - {
        "rms-calibration:published"
    }
    assert not [row.metric for row in found.rows if "[" in row.metric]  # a class is a breakdown, asked for by name
    assert found.left_out == (
        "rms-calibration:published: 150 images: the published RMS calibration error leaves out the most confident bin "
        "and so needs at least 200; rms-calibration counts every bin (mine on clean)",
        "aupr, aupr:trapezoid, auroc, fpr@95%, fpr@95%:nearest: say which condition is out of distribution, with --ood "
        "CONDITION",
        "ce, mce, mean-corruption-error, relative-ce, relative-mce: mine: no corruption at all five severities; run "
        "for instance --on imagenet-c",
        "flip-probability, mean-flip-rate, top-5-distance: mine: no perturbation sequence; run --on imagenet-p",
        "pm-k: no data with the columns anchor and offset, which say which frames belong together",
        "top-1:any, top-5:any: need the acceptable labels of each image; give --label-sets FILE",
    )


@pytest.mark.parametrize("name", sorted({*metrics._addresses, *group_scores._addresses}))
def test_every_metric_is_defined_or_an_error_that_names_it(filled, make_dataset, name):
    add_random(filled, make_dataset(150))
    if name in ("per-class", "reliability", "response-curve") or name in set(metrics._addresses) - {
        "rms-calibration:published"
    }:
        assert {asked_name(row.metric) for row in score(filled.store, metrics=[name]).rows} == {name}
        return
    with pytest.raises(OodometerError, match=f"^{re.escape(name)}: .+$"):  # one line
        score(filled.store, metrics=[name])


def test_a_reason_that_many_cells_share_is_one_line(filled, make_dataset):
    data = make_dataset(150)
    for place in range(4):
        add_random(filled, data, condition=f"fog/{place + 1}")
    filled.add(make_dataset(220), [0] * 220)
    found = score(filled.store, metrics=["rms-calibration:published"])
    assert len(found.rows) == 1
    assert len(found.left_out) == 1
    assert found.left_out[0].endswith("rms-calibration counts every bin (mine on fog/1 and 3 more)")


def test_a_store_of_unlabelled_images(filled, make_dataset):
    filled.add(make_dataset(10, labels=[-1] * 10), [0] * 10)
    for names in (["top-1", "top-5"], ["top-1"], ["nll", "ece"]):
        with pytest.raises(OodometerError, match=f"^{names[0]}: no labelled images, so it is undefined$"):
            score(filled.store, metrics=names)
    with pytest.raises(OodometerError, match=r": no labelled images"):
        score(filled.store, metrics=["all"])


def test_a_store_of_tables_alone(filled):
    write_table(filled.store, parse_table("model,val\nnet,90.0\n", source="t.csv", n=1000))
    (row,) = score(filled.store, metrics=["error"]).rows
    bounds = binomtest(100, 1000).proportion_ci()  # scipy
    assert row.estimate.value == 0.1  # and not 0.09999999999999998, as the table says 90.0
    assert (row.estimate.low, row.estimate.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
    assert [row.metric for row in score(filled.store, metrics=["all"]).rows] == ["top-1", "error"]
    (row,) = score(filled.store, interval="bootstrap").rows
    assert (row.estimate.low, row.estimate.interval) == (None, "none: the images are not here")
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["top-1", "ece"])
    assert str(caught.value) == "ece: there are no predictions to compute it from"


def test_names_of_metrics():
    assert checked_names(["top-1", "top-1", "ece"]) == ("top-1", "ece")
    every = checked_names(["all"])
    assert set(every) == {*metrics.names(), *group_scores.names()} - {"per-class", "reliability", "response-curve"}
    assert set(checked_names(["ece", "all"])) == set(every)
    assert checked_names(["ece", "all"])[0] == "ece"
    with pytest.raises(UsageError, match=r"^no metric named 'top1'; did you mean top-1\?"):
        checked_names(["top1"])
    with pytest.raises(UsageError, match=r"^no metric is named; known: adaptive-ece, "):
        checked_names([])


@pytest.mark.parametrize("right_answers", [0, 220])
def test_all_right_and_all_wrong(filled, make_dataset, right_answers):
    filled.add(make_dataset(220), np.where(np.arange(220) < right_answers, 0, 9))
    found = by_metric(score(filled.store, metrics=["all"]))
    share = right_answers / 220
    for metric in ("top-1", "balanced", "worst-class", "aurra", "coverage@5%"):
        assert found[metric].estimate.value == share
        if metric != "top-1":
            assert found[metric].estimate.low is None
    assert (found["error"].estimate.value, found["aurc"].estimate.value) == (1 - share, 1 - share)


def test_one_image_is_enough(filled, make_dataset):
    filled.add(make_dataset(1), [0])
    found = score(filled.store, metrics=["all"])
    assert {row.estimate.n for row in found.rows} == {1}
    json.dumps(found.as_json(), allow_nan=False)


def test_json_has_these_keys_and_finite_numbers(filled, make_dataset):
    data = make_dataset(210, columns={"anchor": np.arange(210) // 3, "offset": np.arange(210) % 3 - 1})
    add_random(filled, data)
    add_random(filled, data, model="other", digest="b" * 32, condition="fog")
    write_table(filled.store, parse_table("model,val\nnet,76.1\n", source="t.csv"))
    found = json.loads(json.dumps(score(filled.store, metrics=["all"]).as_json(), allow_nan=False))
    keys = ["model", "weights", "condition", "data", "content", "metric", "estimate", "missing", "state", "cell",
            "convention"]  # fmt: skip
    for row in found:
        assert list(row) == keys
        assert list(row["estimate"]) == ["value", "low", "high", "n", "interval"]
        assert np.isfinite(row["estimate"]["value"])
    assert {row["state"] for row in found} == {"complete", "imported"}
    assert {"pm-0", "pm-1"} <= {row["metric"] for row in found}


def test_the_rows_stand_by_model_and_weights(filled, make_dataset):
    data = make_dataset(20)
    for digest in ("b" * 32, "a" * 32):
        add_random(filled, data, digest=digest)
        add_random(filled, data, model="another", digest=digest)
    found = score(filled.store, metrics=["top-1", "nll"])
    assert [(row.model, row.weights[0], row.metric) for row in found.rows] == [
        (model, weights, metric) for model in ("another", "mine") for weights in "ab" for metric in ("top-1", "nll")
    ]


def test_conventions_are_told_once_each(filled, make_dataset):
    add_random(filled, make_dataset(20))
    found = score(filled.store, metrics=["top-1", "per-class"])
    assert found.conventions() == {
        "top-1": ("the true class has the largest logit",),
        "per-class": ("top-1 of the images of this class",),
    }


def test_a_number_beyond_the_scale_is_not_drawn(filled, make_dataset):
    add_random(filled, make_dataset(200, k=20))
    share, surprise = score(filled.store, metrics=["top-1", "nll"]).table(plot=True).splitlines()
    assert "●" in share
    assert "●" not in surprise
    assert "nll" in surprise


def test_progress_counts_cells(filled, make_dataset):
    data = make_dataset(20)
    for condition in ("clean", "fog"):
        add_random(filled, data, condition=condition)
    seen = []
    score(filled.store, metrics=["nll"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2), (2, 2)]


def test_metrics_of_users(filled, make_dataset, monkeypatch):
    """A metric of a cell and one of a model, registered by someone else."""
    mean_rank = Metric("mean-rank", "classes before the true one", ("rank",), lambda rank: float(rank.mean()))

    def seen(store, cells, asked):
        yield LeftOut(("seen",), "not everywhere")
        yield from []

    monkeypatch.setitem(metrics._loaded, "mean-rank", mean_rank)
    monkeypatch.setitem(group_scores._loaded, "seen", seen)
    data = make_dataset(30)
    filled.add(data, np.arange(30) % 3)
    (row,) = score(filled.store, metrics=["mean-rank"]).rows
    assert (row.estimate.value, row.estimate.interval) == (1.0, "bootstrap 95%")
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["mean-rank", "seen"])
    assert str(caught.value) == "seen: not everywhere"


def test_counts_need_no_bootstrap_at_any_level(filled, make_dataset, right):
    filled.add(make_dataset(100), right(70, 100))
    assert len(score(filled.store, level=0.9999).rows) == 2
    with pytest.raises(UsageError, match=r"1000 draws: a 99.99% bootstrap needs 2000"):
        score(filled.store, metrics=["ece"], level=0.9999)


def test_a_metric_of_ones_own_under_a_name_of_ours(filled, make_dataset, right, monkeypatch):
    monkeypatch.setattr(metrics, "_loaded", dict(metrics._loaded))
    metrics.register("auroc")(metrics.get("top-1"))
    filled.add(make_dataset(10), right(7, 10))
    with pytest.raises(UsageError, match="a metric of yours is named 'auroc', as one that is there already"):
        score(filled.store, metrics=["top-1"])
