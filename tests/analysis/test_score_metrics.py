"""Scores beyond accuracy: every metric of every cell, what is undefined, and what is said about it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import balanced_accuracy_score, recall_score

from oodometer.analysis.metric_request import ScoreOptions, asked_name, checked_names, group_scores
from oodometer.analysis.score import score
from oodometer.analysis.score_table import LeftOut
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.predictions import from_logits, from_top_classes
from oodometer.metrics.metric import Metric, metrics
from oodometer.store.tables import parse_table, write_table


def by_metric(scores) -> dict:
    return {row.metric: row for row in scores.rows}


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
            assert row.estimate.low <= row.estimate.value <= row.estimate.high
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
    names = {row.metric: row.estimate.interval for row in found.rows}
    assert names.pop("ece") == "inverted test with clusters 95%"
    assert names == dict.fromkeys(["top-1", "nll", "balanced"], "cluster bootstrap 95%")


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
        "adaptive-ece, augrc, aurc, aurra, coverage@5%, ece, risk@80%, rms-calibration, rms-calibration:published, "
        "smooth-ece: needs confidence, but only the best classes of these answers are known (mine on clean)"
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
    assert {row.metric for row in found.rows if "[" not in row.metric} == {*metrics.names(), "conformal-coverage"} - {
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
        "gap: no shift was run on both sides; --on natural, or the name of a shift, does",
        "map, map-ood, map-ood:trapezoid, map:trapezoid: no data with several labels per image (in a manifest, the "
        "column labels)",
        "pm-k: no data with the columns anchor and offset, which say which frames belong together",
        "top-1:any, top-5:any: need the acceptable labels of each image; give --label-sets FILE",
    )


@pytest.mark.parametrize("name", sorted({*metrics._addresses, *group_scores._addresses}))
def test_every_metric_is_defined_or_an_error_that_names_it(filled, make_dataset, name):
    add_random(filled, make_dataset(150))
    of_a_store = {"per-class", "reliability", "response-curve", "conformal-coverage", *metrics._addresses}
    if name in of_a_store - {"rms-calibration:published"}:
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
    breakdowns = {"per-class", "reliability", "response-curve"}
    of_all_logits = {"temperature", "classwise-ece"} | {name for name in group_scores.names() if "conformal" in name}
    left_out = breakdowns | of_all_logits - {"conformal-coverage"}
    assert set(every) == {*metrics.names(), *group_scores.names()} - left_out
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
        assert (found[metric].estimate.low is None) == (metric in ("aurra", "coverage@5%"))
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
