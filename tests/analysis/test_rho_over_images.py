"""r of effective robustness where the images are known: they are carried, and every command says the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri

from oodometer.analysis.correlate import CorrelateOptions, correlate
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.figures import FigureOptions
from oodometer.figures.correlation import correlation_of, marks_of
from oodometer.stats.bootstrap import Resampling
from oodometer.study import study_of
from oodometer.study.shift_predictors import predicted

M, N = 12, 400
MODELS = [f"m{at:02d}" for at in range(M)]
STANDARD = np.arange(M) < 6
ORIGINS = {name: Origin("standard" if STANDARD[at] else "robust intervention") for at, name in enumerate(MODELS)}
LINE = RobustnessOptions(resampling=Resampling(draws=100), baseline_above=0.0)


@pytest.fixture
def store(filled, make_dataset):
    """Clean images, two corruptions of them, and other photographs."""
    rng = np.random.default_rng(8)
    clean = expit(rng.uniform(0.3, 1.5, M))
    hidden = np.where(STANDARD, 0.0, 0.5 * rng.normal(size=M))
    sets = {"imagenet": make_dataset(N, name="imagenet"), "imagenetv2": make_dataset(N, name="imagenetv2")}
    hard = {name: rng.normal(size=N) for name in sets}
    columns = [("imagenet", "clean", clean)]
    columns += [("imagenet", f"imagenet-c/{name}/1", expit(logit(clean) - 0.4 + hidden)) for name in ("fog", "snow")]
    columns += [("imagenetv2", "imagenetv2", expit(logit(clean) - 0.5 + hidden))]
    for data, condition, accuracies in columns:
        for model, accuracy in zip(MODELS, accuracies, strict=True):
            own = rng.normal(size=N)
            wrong = np.sqrt(0.6) * hard[data] + np.sqrt(0.4) * own > ndtri(accuracy)
            filled.add(sets[data], wrong.astype(np.int64), model=model, digest=model * 8, condition=condition)
    return filled.store


def asked(store, **more):
    options = CorrelateOptions(line=LINE, **more)
    return correlate(store, ["imagenet-c"], ["imagenetv2"], origins=ORIGINS, options=options).pairs[0].r


def test_the_images_are_carried(store):
    found = asked(store)
    assert found.interval == "fisher z over models and images 95%"
    half = 1.959964 / np.sqrt(6 - 3)  # Fisher's, over models alone
    assert np.arctanh(found.value) - np.arctanh(found.low) > half


def test_the_report_and_the_figure_say_the_same(store):
    r = asked(store)
    study = study_of(store, origins=ORIGINS, options=LINE)
    pairs = {(pair.synthetic, pair.natural): pair.r for pair in predicted(study).whole.pairs}
    assert pairs["imagenet-c", "imagenetv2"] == r
    shifts = study.shift("imagenet-c"), study.shift("imagenetv2")
    marks = marks_of(study, *shifts, FigureOptions(("imagenet-c", "imagenetv2")))
    assert correlation_of(marks, shifts) == r


def test_other_shifts_beside_it_change_nothing(store):
    beside = correlate(
        store, ["imagenet-c/fog/1", "imagenet-c"], ["imagenetv2"], origins=ORIGINS, options=CorrelateOptions(line=LINE)
    )
    assert asked(store) in [pair.r for pair in beside.pairs]
