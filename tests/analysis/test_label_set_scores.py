"""Any of several labels: a plain loop over images is the reference."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from few_groups import stretched
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.core.errors import DataError, OodometerError
from oodometer.core.predictions import from_logits, from_top_classes
from oodometer.stats.bootstrap import Resampling, resample_counts

METRICS = ["top-1:any", "top-5:any"]


def write(tmp_path, sets) -> str:
    path = tmp_path / "real.json"
    path.write_text(json.dumps(sets))
    return str(path)


@pytest.fixture
def measured(filled, make_dataset, tmp_path):
    """40 images, their logits, and label sets of which some are empty."""
    rng = np.random.default_rng(0)
    data, logits = make_dataset(40), rng.normal(size=(40, 10))
    filled.put(data, from_logits(logits, data.labels, np.arange(40)))
    sets = {name: rng.choice(10, rng.integers(0, 4), replace=False).tolist() for name in data.ids}
    return data, logits, sets, write(tmp_path, sets)


@pytest.mark.parametrize(("interval", "method"), [("clopper-pearson", "exact"), ("wilson", "wilson")])
def test_counts_of_a_plain_loop_with_intervals_of_scipy(filled, measured, interval, method):
    data, logits, sets, path = measured
    options = ScoreOptions(label_sets=path)
    found = {row.metric: row for row in score(filled.store, metrics=METRICS, interval=interval, options=options).rows}
    for metric, k in (("top-1:any", 1), ("top-5:any", 5)):
        right = n = 0
        for image, name in enumerate(data.ids):
            if sets[name]:
                n += 1
                right += bool(set(np.argsort(-logits[image])[:k].tolist()) & set(sets[name]))
        bounds = binomtest(right, n).proportion_ci(method=method)
        estimate = found[metric].estimate
        assert (estimate.value, estimate.n) == (right / n, n)
        assert (estimate.low, estimate.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
        assert estimate.interval == f"{interval} 95%"
        assert found[metric].convention == f"any of the labels in the file; {40 - n} images without any left out"


def test_a_bootstrap_and_groups_of_images(filled, measured):
    data, logits, sets, path = measured
    options = ScoreOptions(label_sets=path)
    (row,) = score(filled.store, metrics=["top-1:any"], interval="bootstrap", options=options).rows
    assert row.estimate.interval == "bootstrap 95%"
    options = ScoreOptions(label_sets=path, by="class", draws=200)
    (row,) = score(filled.store, metrics=["top-1:any"], options=options).rows
    counted = [at for at in range(40) if sets[data.ids[at]]]
    right = np.array([logits[at].argmax() in sets[data.ids[at]] for at in counted])
    draws = [
        times[data.labels[counted]] @ right / times[data.labels[counted]].sum()  # all ten classes occur
        for block in resample_counts(10, Resampling(draws=200))
        for times in block
    ]
    assert set(data.labels[counted]) == set(range(10))
    ends = stretched(np.quantile(draws, [0.025, 0.975]), right.mean(), 10)
    assert (row.estimate.low, row.estimate.high) == pytest.approx(ends)
    assert row.estimate.interval == "cluster bootstrap 95%"


def test_data_that_are_not_in_the_file_do_not_keep_others_out(filled, measured, make_dataset):
    filled.add(make_dataset(3, ids=["x", "y", "z"], name="another"), [0] * 3)
    found = score(filled.store, metrics=METRICS, options=ScoreOptions(label_sets=measured[-1]))
    assert {row.data for row in found.rows} == {"val"}
    assert found.left_out == (
        "top-1:any, top-5:any: clean of another: 3 of 3 images have no entry in the label sets; the first is x",
    )


def test_a_model_with_another_order_of_classes_is_left_out(filled, make_dataset, tmp_path):
    data = make_dataset(4)
    turned = 9 - data.labels
    filled.put(data, from_logits(np.eye(10)[turned], turned, np.arange(4)))
    options = ScoreOptions(label_sets=write(tmp_path, {name: [0] for name in data.ids}))
    with pytest.raises(OodometerError, match="numbers the classes in another order than the data"):
        score(filled.store, metrics=["top-1:any"], options=options)


def test_broken_images_are_told(filled, make_dataset, tmp_path):
    data = make_dataset(4)
    filled.add(data, [0] * 3, positions=[0, 1, 3])
    options = ScoreOptions(label_sets=write(tmp_path, {name: [0] for name in data.ids}))
    (row,) = score(filled.store, metrics=["top-1:any"], options=options).rows
    assert (row.missing, row.estimate.n) == (1, 3)


def test_known_best_classes(filled, make_dataset, tmp_path):
    data = make_dataset(4)
    filled.put(data, from_top_classes(np.full((4, 2), [0, 1]), data.labels, np.arange(4)), known_classes=2)
    options = ScoreOptions(label_sets=write(tmp_path, {name: [0] for name in data.ids}))
    found = score(filled.store, metrics=["all"], options=options)
    assert {row.metric: row.estimate.value for row in found.rows}["top-1:any"] == 1.0
    with pytest.raises(OodometerError, match=r"^top-5:any: clean of val: fewer than five classes are known"):
        score(filled.store, metrics=["top-5:any"], options=options)


def test_no_file_and_a_wrong_one(filled, measured, tmp_path):
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["top-1:any"])
    assert str(caught.value) == "top-1:any: need the acceptable labels of each image; give --label-sets FILE"
    (tmp_path / "broken.json").write_text("[[1], ")
    for name, message in (("none.json", "can't be read"), ("broken.json", "not a JSON file of label sets")):
        for metrics in (["all"], ["top-1"]):
            with pytest.raises(DataError, match=message):
                score(filled.store, metrics=metrics, options=ScoreOptions(label_sets=str(tmp_path / name)))
    with pytest.raises(DataError, match=r"label 10 is out of range \(0 to 9\)"):
        score(filled.store, metrics=["all"], options=ScoreOptions(label_sets=write(tmp_path, {"0000": [10]})))
