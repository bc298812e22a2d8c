"""Detection of images of no class: scikit-learn, and a plain loop over draws, are the reference."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.predictions import from_logits, from_top_classes, with_logits
from oodometer.metrics.ood_detection import detection_measures
from oodometer.metrics.temperature import fit_temperature
from oodometer.stats.bootstrap import Resampling, resample_counts

MEASURES = list(detection_measures)
SIGNS = {
    "max-softmax": ("confidence", -1),
    "max-logit": ("max_logit", -1),
    "energy": ("energy", -1),
    "entropy": ("entropy", 1),
}


def rows_for(n: int, seed: int, scale: float, labels: np.ndarray, *, keep: bool = False):
    logits = scale * np.random.default_rng(seed).normal(size=(n, 10))
    rows = from_logits(logits, labels, np.arange(n))
    return with_logits(rows, logits) if keep else rows


def by_name(scores) -> dict:
    return {row.metric: row for row in scores.rows}


@pytest.fixture
def both(filled, make_dataset):
    """40 clean images, and 15 of no class of which the model is less sure."""
    clean = rows_for(40, 0, 3.0, np.arange(40) % 10)
    outside = rows_for(15, 1, 2.0, np.full(15, -1))
    filled.put(make_dataset(40), clean)
    filled.put(make_dataset(15, labels=[-1] * 15, name="o"), outside, condition="imagenet-o")
    return clean, outside


def test_values_are_those_of_scikit_learn(filled, both):
    clean, outside = both
    found = by_name(score(filled.store, metrics=MEASURES, options=ScoreOptions(ood="imagenet-o")))
    assert set(found) == {f"{measure}[{name}]" for measure in MEASURES for name in SIGNS}
    is_ood = np.repeat([False, True], [40, 15])
    for name, (column, sign) in SIGNS.items():
        values = sign * np.concatenate([getattr(clean, column), getattr(outside, column)])
        assert found[f"auroc[{name}]"].estimate.value == pytest.approx(roc_auc_score(is_ood, values))
        assert found[f"aupr[{name}]"].estimate.value == pytest.approx(average_precision_score(is_ood, values))
        false, true, _ = roc_curve(is_ood, values, drop_intermediate=False)
        assert found[f"fpr@95%[{name}]"].estimate.value == pytest.approx(false[true >= 0.95][0])
    row = found["aupr[energy]"]
    assert (row.estimate.n, row.condition, row.data, row.missing) == (55, "imagenet-o", "o", 0)
    # chance: 15 of 55
    assert row.convention == "15 OOD images are positive, 40 of clean negative; chance is 0.2727"


@pytest.mark.parametrize("interval", ["clopper-pearson", "bca"])
def test_the_interval_is_that_of_a_plain_loop(filled, both, interval):
    clean, outside = both
    options = ScoreOptions(ood="imagenet-o", draws=100, seed=2)
    found = by_name(score(filled.store, metrics=["auroc"], interval=interval, options=options))["auroc[energy]"]
    # each kind from its own, with seeds 2 s and 2 s + 1
    inside = [times for block in resample_counts(40, Resampling(draws=100, seed=4)) for times in block]
    ood = [times for block in resample_counts(15, Resampling(draws=100, seed=5)) for times in block]
    draws = []
    for kept, kept_ood in zip(inside, ood, strict=True):
        values = -np.concatenate([np.repeat(clean.energy, kept), np.repeat(outside.energy, kept_ood)])
        draws.append(roc_auc_score(np.repeat([False, True], [40, 15]), values))
    assert (found.estimate.low, found.estimate.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))
    assert found.estimate.interval == "bootstrap 95%"


def test_groups_are_drawn_together(filled, make_dataset):
    videos, shots = np.repeat(np.arange(8), 5), np.repeat(np.arange(5), 3)
    clean, outside = rows_for(40, 0, 3.0, np.arange(40) % 10), rows_for(15, 1, 2.0, np.full(15, -1))
    filled.put(make_dataset(40, columns={"video": videos}), clean)
    other = make_dataset(15, labels=[-1] * 15, name="o", columns={"video": shots})
    filled.put(other, outside, condition="imagenet-o")
    options = ScoreOptions(ood="imagenet-o", draws=100, by="video")
    found = by_name(score(filled.store, metrics=["auroc"], options=options))["auroc[energy]"]
    inside = [times[videos] for block in resample_counts(8, Resampling(draws=100, seed=0)) for times in block]
    ood = [times[shots] for block in resample_counts(5, Resampling(draws=100, seed=1)) for times in block]
    draws = []
    for kept, kept_ood in zip(inside, ood, strict=True):
        values = -np.concatenate([np.repeat(clean.energy, kept), np.repeat(outside.energy, kept_ood)])
        draws.append(roc_auc_score(np.repeat([False, True], [40, 15]), values))
    assert (found.estimate.low, found.estimate.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))
    assert found.estimate.interval == "cluster bootstrap 95%"
    with pytest.raises(OodometerError, match=r"^auroc: all images are in one cluster"):  # no class has a name there
        score(filled.store, metrics=["auroc"], options=ScoreOptions(ood="imagenet-o", by="class"))


def test_a_data_set_may_be_out_of_distribution(filled, make_dataset):
    filled.put(make_dataset(40), rows_for(40, 0, 3.0, np.arange(40) % 10))
    filled.put(make_dataset(15, labels=[-1] * 15, name="o"), rows_for(15, 1, 2.0, np.full(15, -1)))
    found = score(filled.store, metrics=["auroc"], options=ScoreOptions(ood="clean@o"))
    assert {(row.data, row.estimate.n) for row in found.rows} == {("o", 55)}
    with pytest.raises(OodometerError, match="has no 'clean' over the same classes"):
        score(filled.store, metrics=["auroc"], options=ScoreOptions(ood="clean"))


def test_scores_are_of_the_same_temperature(filled, make_dataset):
    labels = np.arange(200) % 10
    logits = np.random.default_rng(3).normal(size=(200, 10)) + 2 * (np.arange(10) == labels[:, None])
    clean = with_logits(from_logits(logits, labels, np.arange(200)), logits)
    outside = rows_for(15, 1, 2.0, np.full(15, -1), keep=True)
    filled.put(make_dataset(200), clean)
    filled.put(make_dataset(15, labels=[-1] * 15, name="o"), outside, condition="imagenet-o")
    options = ScoreOptions(ood="imagenet-o", temperature="clean")
    found = by_name(score(filled.store, metrics=["auroc"], options=options))
    fitted = fit_temperature(clean.logits, labels).temperature
    softmax = [np.exp(rows.logits.astype(np.float64) / fitted) for rows in (clean, outside)]
    sure = np.concatenate([(one / one.sum(axis=1, keepdims=True)).max(axis=1) for one in softmax])
    expected = roc_auc_score(np.repeat([False, True], [200, 15]), -sure)  # scikit-learn
    assert found["auroc[max-softmax]"].estimate.value == pytest.approx(expected)
    assert f"temperature {fitted:.4g} of mine fitted on clean" in found["auroc[max-softmax]"].convention


def test_what_is_missing_is_said(filled, make_dataset, both):
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["aupr"])
    assert str(caught.value) == "aupr: say which condition is out of distribution, with --ood CONDITION"
    for metrics in (["all"], ["aupr"], ["top-1"]):
        with pytest.raises(UsageError, match=r"^--ood imagenet-oo: nothing was run on it; did you mean imagenet-o"):
            score(filled.store, metrics=metrics, options=ScoreOptions(ood="imagenet-oo"))


def test_a_model_that_was_not_run_there_is_left_out(filled, make_dataset, both):
    filled.add(make_dataset(40), [0] * 40, model="other")
    found = score(filled.store, metrics=["aupr"], options=ScoreOptions(ood="imagenet-o"))
    assert {row.model for row in found.rows} == {"mine"}
    assert found.left_out == (f"aupr: {filled.store}: other was not run on 'imagenet-o'",)


def test_several_clean_sets_are_not_guessed_among(filled, make_dataset, both):
    filled.put(make_dataset(30, name="v2"), rows_for(30, 4, 3.0, np.arange(30) % 10))
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["aupr"], options=ScoreOptions(ood="imagenet-o"))
    assert str(caught.value) == (
        f"aupr: {filled.store}: mine has several data sets with 'clean' over the same classes as 'imagenet-o': "
        "clean@v2, clean@val; keep each in a store of its own"
    )


def test_other_classes_are_not_compared(filled, make_dataset):
    filled.put(make_dataset(40), rows_for(40, 0, 3.0, np.arange(40) % 10))
    outside = make_dataset(15, labels=[-1] * 15, name="o")
    filled.put(outside, rows_for(15, 1, 2.0, np.full(15, -1)), condition="imagenet-o", label_map="200 classes")
    with pytest.raises(OodometerError, match=r"mine has no 'clean' over the same classes as 'imagenet-o'; run it"):
        score(filled.store, metrics=["aupr"], options=ScoreOptions(ood="imagenet-o"))
    clean = rows_for(40, 0, 3.0, np.arange(40) % 10)
    filled.put(make_dataset(40), clean, label_map="200 classes")
    assert len(score(filled.store, metrics=["aupr"], options=ScoreOptions(ood="imagenet-o")).rows) == 4


def test_the_best_classes_alone_have_no_score(filled, make_dataset):
    data, outside = make_dataset(4), make_dataset(2, labels=[-1, -1], name="o")
    filled.put(data, from_top_classes(np.zeros((4, 1), int), data.labels, np.arange(4)), known_classes=1)
    rows = from_top_classes(np.zeros((2, 1), int), outside.labels, np.arange(2))
    filled.put(outside, rows, condition="imagenet-o", known_classes=1)
    with pytest.raises(OodometerError, match=r"^aupr: a score that is NaN: only the best classes"):
        score(filled.store, metrics=["aupr"], options=ScoreOptions(ood="imagenet-o"))
