"""Temperatures: fitted on one condition by a plain minimisation, and used on the others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.model import Input
from oodometer.core.predictions import from_logits, with_logits
from oodometer.core.preprocessing import Geometry


def answers(data, seed: int, sharp: float, *, noise: float = 1.0, positions=None) -> np.ndarray:
    """Logits that know something; ``sharp`` ones are too sure."""
    rng = np.random.default_rng(seed)
    shown = np.where(data.labels[:, None] == np.arange(10), 1.5, 0.0)
    return sharp * (shown + noise * rng.normal(size=(len(data), 10)))


def put(filled, data, logits, *, keep=True, **about):
    rows = from_logits(logits, data.labels, np.arange(len(data)))
    return filled.put(data, with_logits(rows, logits) if keep else rows, **about)


def nll(logits: np.ndarray, labels: np.ndarray, temperature: float) -> float:
    """Mean negative log-likelihood of the labelled images, of the logits as they are kept."""
    kept = np.float16(logits).astype(np.float64)[labels >= 0]
    return float(-log_softmax(kept / temperature, axis=1)[np.arange(len(kept)), labels[labels >= 0]].mean())


def fitted(logits: np.ndarray, labels: np.ndarray) -> float:
    found = minimize_scalar(lambda log_t: nll(logits, labels, np.exp(log_t)), bounds=(-4, 4), method="bounded",
                            options={"xatol": 1e-9})  # fmt: skip
    return float(np.exp(found.x))


def by_place(scores) -> dict:
    return {(row.model, row.condition, row.data, row.metric): row for row in scores.rows}


def test_the_temperature_of_clean_images_is_used_on_the_others(filled, make_dataset):
    labels = np.random.default_rng(0).integers(-1, 10, 300)
    data = make_dataset(300, labels=labels)
    clean, fog = answers(data, 1, 3.0), answers(data, 2, 3.0, noise=2.0)
    other = answers(data, 3, 0.5)
    put(filled, data, clean)
    put(filled, data, fog, condition="fog")
    put(filled, data, other, model="other")
    found = by_place(score(filled.store, metrics=["nll", "brier", "ece"], options=ScoreOptions(temperature="clean")))
    plain = by_place(score(filled.store, metrics=["nll"]))
    temperature = fitted(clean, labels)
    assert temperature > 1.5
    for condition, logits in (("clean", clean), ("fog", fog)):
        row = found["mine", condition, "val", "nll"]
        assert row.estimate.value == pytest.approx(nll(logits, labels, temperature), rel=1e-5)
        assert row.convention == f"nats per image; temperature {temperature:.4g} of mine fitted on clean"
        assert row.estimate.n == int((labels >= 0).sum())
    assert plain["mine", "fog", "val", "nll"].estimate.value == pytest.approx(nll(fog, labels, 1.0), rel=1e-3)
    # each model has its own
    own = fitted(other, labels)
    assert own < 1
    row = found["other", "clean", "val", "nll"]
    assert row.estimate.value == pytest.approx(nll(other, labels, own), rel=1e-5)
    # Brier and ECE at that temperature, from all probabilities
    kept = labels >= 0
    p = np.exp(log_softmax(np.float16(fog).astype(np.float64)[kept] / temperature, axis=1))
    truth = np.eye(10)[labels[kept]]
    assert found["mine", "fog", "val", "brier"].estimate.value == pytest.approx(((p - truth) ** 2).sum(axis=1).mean())
    confidence, right = p.max(axis=1), p.argmax(axis=1) == labels[kept]
    gaps = [
        abs((confidence[inside] - right[inside]).sum())
        for low in range(15)
        if (inside := (confidence > low / 15) & (confidence <= (low + 1) / 15)).any()
    ]
    assert found["mine", "fog", "val", "ece"].estimate.value == pytest.approx(sum(gaps) / len(right), rel=1e-5)


def test_what_does_not_depend_on_it_needs_no_logits(filled, make_dataset, right):
    data = make_dataset(60)
    put(filled, data, answers(data, 1, 3.0))
    put(filled, data, answers(data, 2, 3.0), condition="fog", keep=False)
    options = ScoreOptions(temperature="clean")
    found = score(filled.store, metrics=["balanced", "top-1", "nll"], interval="bootstrap", options=options)
    rows = by_place(found)
    assert ("mine", "fog", "val", "balanced") in rows
    assert ("mine", "fog", "val", "top-1") in rows
    assert ("mine", "fog", "val", "nll") not in rows
    assert "temperature" not in rows["mine", "clean", "val", "balanced"].convention
    assert found.left_out == (
        f"nll: {filled.store}: the logits of mine on fog were not kept, and a temperature needs them; run it again "
        "with --keep logits (mine on fog)",
    )


def test_the_answers_stay_those_of_the_model(filled, make_dataset):
    """Logits that differ by less than float16 tells apart: the answer is that of the model."""
    data = make_dataset(40, labels=[1, 0] * 20)
    logits = np.zeros((40, 10))
    logits[:, 0], logits[:, 1] = 3.0, 3.0001
    assert np.float16(3.0) == np.float16(3.0001)
    logits[np.arange(40) % 4 == 1, 0] = 5.0
    logits[0, 2] = 5.0
    put(filled, data, logits)
    right = [logits[at].argmax() == data.labels[at] for at in range(40)]
    (row,) = score(filled.store, metrics=["aurra"], options=ScoreOptions(temperature="clean")).rows
    # ten sure and right, then one that is wrong, then 29 as sure as each other, of which 19 are right
    assert sum(right) == 10 + 19
    among = [min(k, 10) + max(k - 11, 0) * 19 / 29 for k in range(1, 41)]
    assert row.estimate.value == pytest.approx(np.mean([n / k for k, n in enumerate(among, start=1)]))


def test_several_data_sets_are_not_guessed_among(filled, make_dataset):
    val, v2 = make_dataset(200), make_dataset(100, name="v2", ids=[f"v2/{at}" for at in range(100)])
    clean, shifted = answers(val, 1, 3.0), answers(v2, 2, 3.0, noise=2.0)
    put(filled, val, clean)
    put(filled, v2, shifted)
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["nll"], options=ScoreOptions(temperature="clean"))
    assert str(caught.value) == (
        f"nll: {filled.store}: mine was run on clean of several data sets; say on which its temperature should be "
        "fitted: clean@v2, clean@val"
    )
    found = by_place(score(filled.store, metrics=["nll"], options=ScoreOptions(temperature="clean@val")))
    temperature = fitted(clean, val.labels)
    value = found["mine", "clean", "v2", "nll"].estimate.value
    assert value == pytest.approx(nll(shifted, v2.labels, temperature), rel=1e-5)


def test_data_of_one_name_are_told_apart_by_their_digest(filled, make_dataset):
    one, two = make_dataset(200), make_dataset(100)
    logits = answers(one, 1, 3.0)
    put(filled, one, logits)
    put(filled, two, answers(two, 2, 3.0))
    names = sorted(f"clean@val@{data.digest[:8]}" for data in (one, two))
    with pytest.raises(OodometerError, match=f"should be fitted: {names[0]}, {names[1]}$"):
        score(filled.store, metrics=["nll"], options=ScoreOptions(temperature="clean@val"))
    options = ScoreOptions(temperature=f"clean@val@{one.digest[:8]}")
    rows = score(filled.store, metrics=["nll"], options=options).rows
    assert {row.convention.partition("; ")[2] for row in rows} == {
        f"temperature {fitted(logits, one.labels):.4g} of mine fitted on clean@val@{one.digest[:8]}"
    }


def test_precisions_and_preprocessings_have_their_own(filled, make_dataset):
    data = make_dataset(200)
    sharp, flat = answers(data, 1, 4.0), answers(data, 1, 0.5)
    put(filled, data, sharp, precision="float32")
    put(filled, data, flat, precision="mixed")
    put(filled, data, flat * 2, input=Input(Geometry(7, 7)))
    rows = score(filled.store, metrics=["nll"], options=ScoreOptions(temperature="clean")).rows
    temperatures = sorted(float(row.convention.split()[-6]) for row in rows)
    expected = sorted(fitted(logits, data.labels) for logits in (sharp, flat, flat * 2))
    assert temperatures == pytest.approx(expected, rel=1e-3)


def test_a_condition_that_no_model_or_this_model_was_run_on(filled, make_dataset):
    data = make_dataset(60)
    put(filled, data, answers(data, 1, 3.0))
    put(filled, data, answers(data, 1, 3.0), model="other", condition="fog")
    for metrics in (["all"], ["nll"]):
        with pytest.raises(UsageError, match=r"^--temperature clen: nothing was run on it; did you mean clean\?"):
            score(filled.store, metrics=metrics, options=ScoreOptions(temperature="clen"))
    found = score(filled.store, metrics=["nll"], options=ScoreOptions(temperature="clean"))
    assert {row.model for row in found.rows} == {"mine"}
    assert found.left_out == (
        f"nll: {filled.store}: other was not run on clean, where its temperature should be fitted (other on fog)",
    )


def test_an_unfinished_run_with_logits(filled, make_dataset):
    data = make_dataset(80)
    logits = answers(data, 1, 3.0)
    rows = from_logits(logits[:50], data.labels[:50], np.arange(50))
    filled.put(data, with_logits(rows, logits[:50]), finished=False)
    (row,) = score(filled.store, metrics=["nll"], options=ScoreOptions(temperature="clean")).rows
    expected = nll(logits[:50], data.labels[:50], fitted(logits[:50], data.labels[:50]))
    assert row.estimate.value == pytest.approx(expected, rel=1e-5)
    assert (row.state, row.missing) == ("unfinished", 30)


@pytest.mark.parametrize(
    ("ranks", "why"), [(np.zeros(40, int), "all 40 answers are right"), (np.full(40, 9), "chance")]
)
def test_answers_that_no_temperature_fits(filled, make_dataset, ranks, why):
    data = make_dataset(40)
    logits = np.where(data.labels[:, None] == np.arange(10), np.where(ranks[:, None] == 0, 5.0, -5.0), 0.0)
    put(filled, data, logits)
    with pytest.raises(OodometerError, match=f"^nll: no temperature fits: .*{why}"):
        score(filled.store, metrics=["nll"], options=ScoreOptions(temperature="clean"))


def test_the_temperature_itself_of_each_condition(filled, make_dataset):
    labels = np.random.default_rng(0).integers(-1, 10, 300)
    data = make_dataset(300, labels=labels)
    clean, fog = answers(data, 1, 3.0), answers(data, 2, 3.0, noise=2.0)
    put(filled, data, clean)
    put(filled, data, fog, condition="fog")
    put(filled, data, clean, model="summaries", keep=False)
    scores = score(filled.store, metrics=["temperature"])
    rows = by_place(scores)
    assert len(rows) == 2
    for condition, logits in (("clean", clean), ("fog", fog)):
        found = rows["mine", condition, "val", "temperature"].estimate
        assert found.value == pytest.approx(fitted(logits, labels), rel=1e-5)
        assert found.low < found.value < found.high
        assert found.n == (labels >= 0).sum()
    (line,) = scores.left_out
    assert line.endswith("the logits of summaries on clean were not kept, and a temperature needs them; run it again "
                         "with --keep logits")  # fmt: skip
