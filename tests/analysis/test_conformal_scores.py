"""Conformal sets and classwise errors of a store: calibrated on half of the clean images, judged on the others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import beta, binomtest

from oodometer.analysis.conformal_scores import calibrating_half
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.predictions import from_logits, from_top_classes, with_logits
from oodometer.core.random import rng_for
from oodometer.core.records import ShiftRecord
from oodometer.metrics.temperature import fit_temperature
from oodometer.store.index import index_at

COVERAGE, SIZE = "conformal-coverage", "conformal-set-size"


def answers(labels, seed: int, *, noise: float = 1.0) -> np.ndarray:
    """Logits that know something; with more noise less."""
    rng = np.random.default_rng(seed)
    shown = np.where(np.asarray(labels)[:, None] == np.arange(10), 3.0, 0.0)
    return (shown + noise * rng.normal(size=(len(labels), 10))).astype(np.float16).astype(np.float64)


def put(filled, data, logits, *, keep=True, **about):
    rows = from_logits(logits, data.labels, np.arange(len(data)))
    return filled.put(data, with_logits(rows, logits) if keep else rows, **about)


def by_place(scores) -> dict:
    return {(row.model, row.condition, row.data, row.metric): row for row in scores.rows}


def half_of(n: int) -> np.ndarray:
    """Which images calibrate."""
    chosen = np.zeros(n, dtype=bool)
    chosen[rng_for("conformal calibration", seed=0).permutation(n)[: n // 2]] = True
    return chosen


def plain_sets(logits, labels, calibrating, alpha, shifted, shifted_labels):
    """By plain sorting: whether each label of the shifted images is in its set, and the sizes of the sets."""
    p = np.exp(log_softmax(logits, axis=1))[np.arange(len(labels)), labels]
    scores = np.sort(1 - p[calibrating])
    threshold = scores[int(np.ceil((len(scores) + 1) * (1 - alpha))) - 1]
    inside = 1 - np.exp(log_softmax(shifted, axis=1)) <= threshold + 1e-9
    return inside[np.arange(len(shifted)), shifted_labels], inside.sum(axis=1)


def test_coverage_and_size_on_both_sides(filled, make_dataset):
    labels = np.random.default_rng(0).integers(-1, 10, 800)
    data = make_dataset(800, labels=labels)
    clean, fog = answers(labels, 1), answers(labels, 2, noise=2.5)
    put(filled, data, clean)
    put(filled, data, fog, condition="fog")
    found = by_place(score(filled.store, metrics=[COVERAGE, SIZE]))
    half, known = half_of(800), labels >= 0
    for condition, logits in (("clean", clean), ("fog", fog)):
        covered, sizes = plain_sets(clean, np.maximum(labels, 0), half & known, 0.1, logits, np.maximum(labels, 0))
        judged = ~half & known
        row = found["mine", condition, "val", COVERAGE]
        assert row.estimate.value == pytest.approx(covered[judged].mean(), abs=1.5 / judged.sum())
        assert row.estimate.n == judged.sum()
        # scipy
        bounds = binomtest(round(row.estimate.value * row.estimate.n), row.estimate.n).proportion_ci()
        assert (row.estimate.low, row.estimate.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
        assert row.estimate.interval == "clopper-pearson 95%"
        size = found["mine", condition, "val", SIZE].estimate
        assert size.value == pytest.approx(sizes[judged].mean(), abs=0.01)
        assert (size.n, size.interval) == (judged.sum(), "student-t 95%")
        assert size.low < size.value < size.high
    n = int((half & known).sum())
    place = int(np.ceil((n + 1) * 0.9))
    low, high = (100 * beta(place, n + 1 - place).ppf(tail) for tail in (0.025, 0.975))
    assert row.convention == (
        f"90 % promised, classes above one probability (THR); threshold from {n} images of clean, judged on others; "
        f"the interval takes it as given (by chance of these images {low:.1f} to {high:.1f} % without a shift)"
    )
    assert found["mine", "clean", "val", COVERAGE].estimate.low < 0.9
    assert found["mine", "fog", "val", COVERAGE].estimate.high < 0.85


def test_another_promise(filled, make_dataset):
    data = make_dataset(600)
    put(filled, data, answers(data.labels, 1))
    values = []
    for alpha in (0.3, 0.1, 0.02):
        rows = by_place(score(filled.store, metrics=[COVERAGE, SIZE], options=ScoreOptions(alpha=alpha)))
        row = rows["mine", "clean", "val", COVERAGE]
        assert row.convention.startswith(f"{100 * (1 - alpha):g} % promised, ")
        assert row.estimate.value == pytest.approx(1 - alpha, abs=0.08)
        values.append((row.estimate.value, rows["mine", "clean", "val", SIZE].estimate.value))
    assert values == sorted(values)
    with pytest.raises(UsageError, match=r"^alpha 90: must lie between 0 and 1"):
        score(filled.store, metrics=["top-1"], options=ScoreOptions(alpha=90))


def test_adaptive_sets_hold_what_they_promise_and_are_the_same_for_every_model(filled, make_dataset):
    data = make_dataset(3000)
    clean = answers(data.labels, 1)
    put(filled, data, clean)
    put(filled, data, clean, model="twin")
    metrics = [f"{COVERAGE}:aps", f"{SIZE}:aps"]
    found = by_place(score(filled.store, metrics=metrics))
    for metric in metrics:
        mine, twin = (found[model, "clean", "val", metric] for model in ("mine", "twin"))
        assert mine.estimate == twin.estimate
        assert "APS" in mine.convention
    coverage = found["mine", "clean", "val", metrics[0]].estimate
    # both halves are 1,500 images: twice the deviation of a share of 0.9
    assert coverage.value == pytest.approx(0.9, abs=4 * np.sqrt(2 * 0.9 * 0.1 / 1500))


def test_summaries_have_coverage_and_no_sizes(filled, make_dataset):
    data = make_dataset(200)
    put(filled, data, answers(data.labels, 1), keep=False)
    found = score(filled.store, metrics=[COVERAGE])
    assert [row.metric for row in found.rows] == [COVERAGE]
    for name, what in (
        (SIZE, "the size of a set of classes"),
        (f"{COVERAGE}:aps", r"a summed probability \(APS\)"),
        ("classwise-ece", "the error of every class"),
    ):
        with pytest.raises(OodometerError, match=f"^{name}: .* were not kept, and {what} needs them; run it again with "
                                                 "--keep logits$"):  # fmt: skip
            score(filled.store, metrics=[name])


def test_only_the_best_classes(filled, make_dataset):
    data = make_dataset(40)
    classes = np.stack([data.labels, (data.labels + 1) % 10], axis=1)
    filled.put(data, from_top_classes(classes, data.labels, np.arange(40)), known_classes=2)
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=[COVERAGE])
    assert str(caught.value) == (
        f"{COVERAGE}: needs label_log_probability, but only the best classes of these answers are known"
    )


def test_too_few_images_to_promise(filled, make_dataset):
    data = make_dataset(12)
    put(filled, data, answers(data.labels, 1))
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=[COVERAGE])
    assert str(caught.value) == (
        f"{COVERAGE}: 6 calibration images: to promise 90 % takes 9 or more, or a larger alpha"
    )


def test_other_data_are_judged_whole_but_for_the_images_that_calibrate(filled, make_dataset):
    val = make_dataset(200)
    # of the new set 50 images are those of val
    both = [f"new/{at}" for at in range(150)] + [str(one) for one in val.ids[:50]]
    v2 = make_dataset(200, name="v2", ids=both, labels=np.concatenate([np.zeros(150, int), val.labels[:50]]))
    put(filled, val, answers(val.labels, 1))
    put(filled, v2, answers(v2.labels, 2), condition="new")
    found = by_place(score(filled.store, metrics=[COVERAGE]))
    assert found["mine", "new", "v2", COVERAGE].estimate.n == 150 + int((~half_of(200)[:50]).sum())
    images = index_at(filled.store).images(next(iter(index_at(filled.store).cells)))
    assert calibrating_half(images, 0).sum() == 100
    assert calibrating_half(images, 1).tolist() != calibrating_half(images, 0).tolist()


def test_where_it_is_calibrated(filled, make_dataset):
    val, v2 = make_dataset(200), make_dataset(200, name="v2", ids=[f"v2/{at}" for at in range(200)])
    put(filled, val, answers(val.labels, 1))
    put(filled, v2, answers(v2.labels, 2, noise=0.5))
    put(filled, val, answers(val.labels, 3, noise=2.0), condition="fog")
    found = score(filled.store, metrics=[COVERAGE])
    assert {(row.condition, row.data) for row in found.rows} == {("clean", "val"), ("clean", "v2")}
    assert found.left_out == (
        f"{COVERAGE}: {filled.store}: mine was run on clean of several data sets; say on which its conformal sets "
        "should be calibrated (--calibrate-on): clean@v2, clean@val",
    )
    options = ScoreOptions(calibrate_on="clean@val")
    rows = by_place(score(filled.store, metrics=[COVERAGE], options=options))
    assert len(rows) == 3
    assert rows["mine", "clean", "v2", COVERAGE].estimate.n == 200
    with pytest.raises(UsageError, match=r"^--calibrate-on clen: nothing was run on it; did you mean clean\?"):
        score(filled.store, metrics=[COVERAGE], options=ScoreOptions(calibrate_on="clen"))


def test_the_standard_side_of_a_shift_calibrates_it(filled, make_dataset):
    """Whatever it is called, and though there is another set of clean images."""
    val = make_dataset(200)
    day, night = (make_dataset(200, name=name, ids=[f"{name}{at}" for at in range(200)]) for name in ("day", "night"))
    put(filled, val, answers(val.labels, 1))
    standard = put(filled, day, answers(day.labels, 2), condition="by-day")
    shifted = put(filled, night, answers(night.labels, 3, noise=2.0), condition="by-night")
    filled.store.add_shift(ShiftRecord("night", "dataset", standard.condition, shifted.condition))
    rows = by_place(score(filled.store, metrics=[COVERAGE]))
    said = {
        place[1]: (row.convention.partition("threshold from ")[2][:20], row.estimate.n) for place, row in rows.items()
    }
    assert said == {
        "clean": ("100 images of clean,", 100),
        "by-day": ("100 images of by-day", 100),
        "by-night": ("100 images of by-day", 200),
    }


def test_sets_of_scaled_probabilities(filled, make_dataset):
    data = make_dataset(600)
    clean, fog = answers(data.labels, 1), answers(data.labels, 2, noise=2.5)
    put(filled, data, clean)
    put(filled, data, fog, condition="fog")
    rows = by_place(score(filled.store, metrics=[COVERAGE, SIZE, f"{SIZE}:aps", "classwise-ece"],
                          options=ScoreOptions(temperature="clean")))  # fmt: skip
    temperature = fit_temperature(clean, data.labels).temperature
    half = half_of(600)
    covered, sizes = plain_sets(clean / temperature, data.labels, half, 0.1, fog / temperature, data.labels)
    assert rows["mine", "fog", "val", COVERAGE].estimate.value == pytest.approx(covered[~half].mean(), abs=0.006)
    assert rows["mine", "fog", "val", SIZE].estimate.value == pytest.approx(sizes[~half].mean(), abs=0.02)
    for row in rows.values():
        assert row.convention.endswith(f"; temperature {temperature:.4g} of mine fitted on clean")
    plain = by_place(score(filled.store, metrics=["classwise-ece"]))
    assert plain["mine", "fog", "val", "classwise-ece"].estimate != rows["mine", "fog", "val", "classwise-ece"].estimate


def test_groups_are_resampled(filled, make_dataset):
    data = make_dataset(400)
    put(filled, data, answers(data.labels, 1))
    rows = score(filled.store, metrics=[COVERAGE, SIZE, "classwise-ece", "smooth-ece", "augrc", "risk@80%"],
                 options=ScoreOptions(by="class", draws=200)).rows  # fmt: skip
    names = {row.metric: row.estimate.interval for row in rows}
    assert names == {
        COVERAGE: "cluster bootstrap 95%",
        SIZE: "cluster bootstrap 95%",
        "classwise-ece": "inverted test with clusters 95%",
        "smooth-ece": "inverted test with clusters 95%",
        "augrc": "cluster bootstrap 95%",
        "risk@80%": "cluster bootstrap 95%",
    }


def test_the_classwise_error_of_kept_logits(filled, make_dataset):
    labels = np.random.default_rng(5).integers(-1, 10, 300)
    data = make_dataset(300, labels=labels)
    logits = answers(labels, 1)
    put(filled, data, logits)
    (row,) = score(filled.store, metrics=["classwise-ece"]).rows
    known = labels >= 0
    p, truth = np.exp(log_softmax(logits[known], axis=1)), labels[known][:, None] == np.arange(10)
    which = np.ceil(p * 15).astype(int) + 100 * np.arange(10)
    expected = np.abs(np.bincount(which.ravel(), weights=(p - truth).ravel())).sum() / p.size
    assert row.estimate.value == pytest.approx(expected, abs=1e-6)
    assert row.estimate.n == known.sum()
    assert row.estimate.interval == "inverted test 95%"


def test_unlabelled_images_have_neither(filled, make_dataset):
    data, strange = make_dataset(100), make_dataset(30, name="strange", labels=[-1] * 30)
    put(filled, data, answers(data.labels, 1))
    put(filled, strange, answers(np.zeros(30), 2), condition="strange")
    found = score(filled.store, metrics=[COVERAGE, "classwise-ece"])
    assert {row.condition for row in found.rows} == {"clean"}
    assert set(found.left_out) == {
        "classwise-ece: no labelled images, so it is undefined",
        f"{COVERAGE}: no labelled images beside those that calibrate, so it is undefined",
    }
