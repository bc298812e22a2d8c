"""Robustness: lines of numpy, intervals of plain loops and scipy, and every way in which there is no line."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import kendalltau, pearsonr, spearmanr
from statsmodels.stats.proportion import confint_proportions_2indep

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness, robustness_of_table
from oodometer.analysis.robustness_text import signed_bar
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.core.model import Card
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.store.tables import parse_table

QUICK = Resampling(draws=200)
OPTIONS = RobustnessOptions(resampling=QUICK)

MODELS = [f"m{place}" for place in range(8)]
X = np.array([0.55, 0.6, 0.64, 0.7, 0.73, 0.78, 0.8, 0.7])
NOISE = np.array([0.02, -0.03, 0.01, 0.02, -0.02, 0.01, -0.01, 0.2])
Y = expit(0.9 * logit(X) - 0.5 + NOISE)
ORIGINS = {model: Origin("standard") for model in MODELS[:-1]} | {"m7": Origin("more_data", "m3")}


def rows_of(x=X, y=Y, n=None, models=MODELS, **columns):
    header = ",".join(["model", "val", "v2", *columns])
    lines = [",".join(map(str, line)) for line in zip(models, x, y, *columns.values(), strict=True)]
    return parse_table("\n".join([header, *lines]), source="t.csv", n=n)


def report(rows=None, options=OPTIONS, *, x=("val",), y="v2", origins=ORIGINS):
    return robustness_of_table(rows_of() if rows is None else rows, y, x=x, origins=origins, options=options)


def by_model(found):
    return {one.model: one for one in found.models}


@pytest.mark.parametrize(
    ("scale", "to", "back"), [("logit", logit, expit), ("linear", lambda p: p, lambda p: p)], ids=["logit", "linear"]
)
def test_the_line_and_rho_are_those_of_numpy(scale, to, back):
    found = report(options=replace(OPTIONS, scale=scale))
    slope, intercept = np.polyfit(to(X[:-1]), to(Y[:-1]), 1)
    fitted = found.fitted
    assert (fitted.kind, fitted.scale, fitted.n, fitted.left_out, fitted.knee) == ("line", scale, 7, 0, None)
    assert (fitted.slope.value, fitted.intercept.value) == pytest.approx((slope, intercept))
    assert fitted.r2 == pytest.approx(np.corrcoef(to(X[:-1]), to(Y[:-1]))[0, 1] ** 2)
    assert [one.rho.value for one in found.models] == pytest.approx(Y - back(slope * to(X) + intercept))
    assert [one.in_baseline for one in found.models] == [True] * 7 + [False]
    assert fitted.slope.low < slope < fitted.slope.high
    assert (fitted.pieces[0].slopes, fitted.pieces[0].intercept) == ((fitted.slope,), fitted.intercept)


def test_the_band_holds_the_line():
    found = report()
    places, low, high = np.array(found.band).T
    slope, intercept = np.polyfit(logit(X[:-1]), logit(Y[:-1]), 1)
    line = expit(slope * logit(places) + intercept)
    assert (places.min(), places.max(), len(places)) == (X.min(), X.max(), 41)
    assert ((low <= line) & (line <= high)).all()


def test_scales_are_told_by_the_error_of_models_left_out():
    found = report()
    rest = [np.flatnonzero(np.arange(7) != one) for one in range(7)]
    for name, to, back in (("logit", logit, expit), ("linear", np.array, np.array)):
        # reference: a line through the other models, one after the other, by np.polyfit
        lines = [np.polyfit(to(X[others]), to(Y[others]), 1) for others in rest]
        errors = [back(np.polyval(line, to(X[one]))) - Y[one] for one, line in enumerate(lines)]
        assert dict(found.scales)[name] == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert [error for _, error in found.scales] == sorted(error for _, error in found.scales)


def test_ranks_correlations_and_pairs_that_swap():
    found = report()
    assert [one.rank_x for one in found.models] == [int((one < X).sum()) + 1 for one in X]
    assert [one.rank_y for one in found.models] == [int((one < Y).sum()) + 1 for one in Y]
    assert [one.rank_change for one in found.models] == [one.rank_x - one.rank_y for one in found.models]
    order = found.order
    assert order.pearson.value == pytest.approx(pearsonr(X, Y).statistic)  # references: scipy
    bounds = pearsonr(X, Y).confidence_interval()
    assert (order.pearson.low, order.pearson.high) == pytest.approx((bounds.low, bounds.high))
    assert order.spearman.value == pytest.approx(spearmanr(X, Y).statistic)
    assert order.kendall.value == pytest.approx(kendalltau(X, Y).statistic)
    swaps = [(X[i] - X[j]) * (Y[i] - Y[j]) < 0 for i, j in combinations(range(8), 2)]
    assert (order.swapped_pairs, order.pairs) == (sum(swaps), 28)


def test_a_table_without_n_has_intervals_of_the_line_only():
    found = report()
    assert {(one.rho.n, one.rho.interval) for one in found.models} == {(None, "line only 95%")}
    assert {one.drop.interval for one in found.models} == {"none: n is not known"}
    with_n = report(rows_of(n=1000))
    assert {(one.rho.n, one.rho.interval) for one in with_n.models} == {(1000, "line and images 95%")}
    for one, other in zip(found.models, with_n.models, strict=True):
        assert other.rho.value == one.rho.value
        assert other.rho.high - other.rho.low > one.rho.high - one.rho.low


def test_drop_and_tau_of_a_table_are_of_independent_images():
    found = by_model(report(rows_of(np.round(X, 2), np.round(Y, 2), n=100)))
    x, y, parent = (round(100 * share) for share in (X[7], Y[7], Y[3]))
    # references: statsmodels' Newcombe intervals
    drop = confint_proportions_2indep(x, 100, y, 100, method="newcomb")
    tau = confint_proportions_2indep(y, 100, parent, 100, method="newcomb")
    one = found["m7"]
    assert one.drop.value == pytest.approx((x - y) / 100)
    assert (one.drop.low, one.drop.high) == pytest.approx(drop, abs=1e-9)
    assert one.relative_drop.value == pytest.approx((x - y) / x)
    assert one.relative_drop.interval == "jeffreys posterior 95%"
    assert (one.parent, one.tau.value) == ("m3", pytest.approx((y - parent) / 100))
    assert (one.tau.low, one.tau.high) == pytest.approx(tau, abs=1e-9)
    assert found["m0"].tau is None


def test_no_tau_without_a_measured_parent():
    origins = ORIGINS | {"m7": Origin("more_data", "alexnet"), "m6": Origin("standard", "m6")}
    found = report(origins=origins)
    assert all(one.tau is None for one in found.models)
    assert by_model(found)["m7"].parent == "alexnet"
    assert found.notes == ("no τ of the models made from alexnet, m6: not among those measured",)


# Which models are in the line


def test_the_baseline_may_be_any_category_or_all():
    other = report(options=replace(OPTIONS, baseline="more_data"), origins=dict.fromkeys(MODELS, Origin("more_data")))
    assert all(one.in_baseline for one in other.models)
    everything = report(options=replace(OPTIONS, baseline=""), origins={})
    assert everything.fitted.n == 8
    assert [one.category for one in everything.models] == [""] * 8


def test_models_below_and_patterns_are_left_out_of_the_line_alone():
    found = report(options=replace(OPTIONS, baseline_above=0.6, leave_out=("m2*", "*5", "alex*")))
    assert [one.model for one in found.models if one.in_baseline] == ["m1", "m3", "m4", "m6"]
    assert len(found.models) == 8
    assert found.notes == ("--leave-out alex*: fits no model here",)


def test_the_limit_is_inclusive():
    found = report(options=replace(OPTIONS, baseline_above=0.73))
    assert [one.model for one in found.models if one.in_baseline] == ["m4", "m5", "m6"]


def test_a_category_that_no_model_has():
    with pytest.raises(UsageError) as caught:
        report(options=replace(OPTIONS, baseline="standart"))
    assert str(caught.value) == (
        "no model of category 'standart' among those measured on v2 (--baseline all takes every model); "
        "did you mean standard?"
    )
    with pytest.raises(
        UsageError,
        match=r"takes every model\); no categories are known: give --categories CSV, or --category or a card",
    ):
        report(origins={})


# Undefined


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_models(n):
    options = replace(OPTIONS, baseline_above=[0.9, 0.8, 0.75][n], leave_out=("m9",))
    models = "1 model" if n == 1 else f"{n} models"
    message = rf"^the baseline \({models} of category 'standard', clean accuracy at least .*, without m9\): a line"
    with pytest.raises(OodometerError, match=message):
        report(options=options)


def test_one_model_alone():
    with pytest.raises(OodometerError, match=r"^the baseline \(1 model\): a line needs at least 3; add models"):
        report(rows_of(X[:1], Y[:1], models=["a"]), replace(OPTIONS, baseline=""), origins={})


def test_models_that_are_all_equal():
    with pytest.raises(OodometerError, match="all models have the same clean accuracy: no line is determined"):
        report(rows_of(x=np.full(8, 0.7)))
    with pytest.raises(OodometerError, match="all models have the same shifted accuracy: no line is determined"):
        report(rows_of(y=np.full(8, 0.7)))


def test_three_models_have_a_line_but_no_correlations():
    found = report(rows_of(X[:3], Y[:3], models=MODELS[:3]))
    assert (found.fitted.n, found.scales) == (3, ())
    assert (found.order.pearson, found.order.spearman, found.order.kendall) == (None, None, None)
    assert found.order.pairs == 3
    assert "Pearson" not in str(found)
    assert "0 of 3 pairs of models swap order" in str(found)


def test_scales_that_can_not_be_compared_are_no_reason_to_stop():
    # Without the last model all are equal on the clean set.
    found = report(rows_of(x=np.array([0.6] * 6 + [0.8] + [0.7])))
    assert found.scales == ()
    assert found.notes == (
        "the scales are not compared: one model alone determines the slope, so no line can be drawn without it; "
        "add models of other accuracies",
    )


def test_models_at_nothing_and_everything_are_told():
    y = Y.copy()
    y[0], y[1] = 0.0, 1.0
    found = report(rows_of(y=y))
    assert (found.fitted.n, found.fitted.left_out) == (5, 2)
    assert "line on the logit scale through 5 models, 2 more at exactly 0 % or 100 % left out" in str(found)
    slope, intercept = np.polyfit(logit(X[2:7]), logit(y[2:7]), 1)
    assert found.models[0].rho.value == pytest.approx(0 - expit(slope * logit(X[0]) + intercept))
    assert found.models[0].in_baseline


# A knee, a plane


def knee_table():
    """Like ImageNet-A: flat up to 0.7, where the filtering model is at nothing, and steep above."""
    rng = np.random.default_rng(1)
    x = np.concatenate([np.linspace(0.5, 0.7, 8), np.linspace(0.71, 0.85, 8)])
    v = np.where(x <= 0.7, 0.2 * logit(x) - 4, 3 * logit(x) - 6) + 0.05 * rng.normal(size=16)
    y = expit(v)
    y[7] = 0.0
    return x, y, [f"k{place}" for place in range(16)]


@pytest.mark.parametrize("knee", ["k7", 0.7])
@pytest.mark.parametrize("n", [None, 7500])
def test_two_lines_with_a_knee(knee, n):
    x, y, models = knee_table()
    found = report(rows_of(x, y, n, models), replace(OPTIONS, baseline="", knee=knee), origins={})
    expected = np.empty(16)
    for side, piece in zip((x <= 0.7, x > 0.7), found.fitted.pieces, strict=True):
        seen = side & (y > 0)
        slope, intercept = np.polyfit(logit(x[seen]), logit(y[seen]), 1)
        assert (piece.slopes[0].value, piece.intercept.value) == pytest.approx((slope, intercept))
        assert piece.slopes[0].low < slope < piece.slopes[0].high
        expected[side] = expit(slope * logit(x[side]) + intercept)
    assert (found.fitted.kind, found.fitted.knee, found.fitted.slope) == ("two lines", 0.7, None)
    assert (found.fitted.n, found.fitted.left_out) == (15, 1)
    assert [one.rho.value for one in found.models] == pytest.approx(y - expected)
    assert all(one.rho.low <= one.rho.value <= one.rho.high for one in found.models)
    assert {one.rho.interval for one in found.models} == {"line only 95%" if n is None else "line and images 95%"}
    assert [place for place, _, _ in found.band] == pytest.approx(
        [*np.linspace(0.5, 0.7, 41), *np.linspace(0.71, 0.85, 41)]
    )
    assert found.scales == ()
    assert "x up to 0.7000: 7 models" in str(found)
    assert "x above 0.7000: 8 models" in str(found)


def test_knees_that_are_none():
    x, y, models = knee_table()
    rows, options = rows_of(x, y, None, models), replace(OPTIONS, baseline="")

    def with_knee(knee):
        return report(rows, replace(options, knee=knee), origins={})

    with pytest.raises(UsageError, match=r"--knee resnet50: no such model; known: k0, .*; or give a clean accuracy"):
        with_knee("resnet50")
    with pytest.raises(OodometerError, match=r"knee 70: must lie between 0 and 1; divide percentages by 100"):
        with_knee(70.0)
    with pytest.raises(OodometerError, match=r"above the knee at 0.84: 1 model: a line needs at least 3"):
        with_knee(0.84)
    with pytest.raises(UsageError, match="a knee needs one clean set; give --x once"):
        report(rows_of(c=X), replace(OPTIONS, knee=0.7), x=("val", "c"))


def plane_rows(n=None, sizes=None):
    rng = np.random.default_rng(2)
    z = expit(logit(X) + rng.normal(size=8))
    y = expit(0.5 * logit(X) + 0.3 * logit(z) - 0.2 + 0.02 * rng.normal(size=8))
    if sizes is None:
        return X, z, y, rows_of(X, y, n, z=z)
    lines = [
        f"{model},{name},{share},{size}"
        for model, *shares, size in zip(MODELS, X, z, y, sizes, strict=True)
        for name, share in zip(("val", "z", "v2"), shares, strict=True)
    ]
    return X, z, y, parse_table("\n".join(["model,condition,accuracy,n", *lines]), source="t.csv")


@pytest.mark.parametrize("n", [None, 500])
def test_several_clean_sets_make_a_plane(n):
    x, z, y, rows = plane_rows(n)
    found = report(rows, x=("val", "z"))
    design = np.column_stack([logit(x), logit(z), np.ones(8)])
    solution = np.linalg.lstsq(design[:7], logit(y[:7]))[0]  # reference: numpy
    (piece,) = found.fitted.pieces
    assert [one.value for one in (*piece.slopes, piece.intercept)] == pytest.approx(solution)
    assert all(one.low < one.value < one.high and one.n == 7 for one in (*piece.slopes, piece.intercept))
    assert [one.rho.value for one in found.models] == pytest.approx(y - expit(design @ solution))
    assert {one.rho.interval for one in found.models} == {"plane only 95%" if n is None else "plane and images 95%"}
    assert (found.fitted.kind, found.fitted.slope, found.band, found.scales) == ("plane", None, (), ())
    lines = str(found).splitlines()
    assert lines[0] == "v2 (y) against val (x1), z (x2)"
    assert ["model", "category", "x1", "x2", "y", "ρ", "rank"] in [line.split() for line in lines]


def test_models_of_a_plane_may_have_numbers_of_images_of_their_own():
    *_, rows = plane_rows(sizes=[100] * 4 + [10_000] * 4)
    found = report(rows, x=("val", "z"))
    width = [one.rho.high - one.rho.low for one in found.models]
    *_, rows = plane_rows(n=100)
    few = [one.rho for one in report(rows, x=("val", "z")).models]
    assert [one.rho for one in found.models[:4]] == few[:4]
    assert all(wide < few[at].high - few[at].low for at, wide in list(enumerate(width))[4:])


def test_too_few_models_for_a_plane():
    with pytest.raises(
        OodometerError, match=r"^the baseline \(3 models of .*\): 3 models for 2 clean sets: at least 4"
    ):
        report(plane_rows()[-1], replace(OPTIONS, baseline_above=0.73), x=("val", "z"))


# From predictions


def fill(filled, make_dataset, *, conditions=("fog/3",), n=400, other=False):
    """Six models whose answers to easier images are more often right; returns these answers by model and condition."""
    rng = np.random.default_rng(3)
    val = make_dataset(n)
    shifted = make_dataset(n, ids=[f"new/{one}" for one in range(n)], name="new") if other else val
    right = {}
    for place in range(6):
        for at, (condition, data) in enumerate([("clean", val), *((one, shifted) for one in conditions)]):
            share = 0.5 + 0.07 * place - 0.15 * at + 0.02 * rng.normal()
            one = rng.random(n) < share
            right[f"m{place}", condition] = one
            filled.add(data, (~one).astype(int), model=f"m{place}", condition=condition)
    return right


STORED = {f"m{place}": Origin("standard") for place in range(5)} | {"m5": Origin("robust intervention", "m4")}


def paired(a, b):
    """The paired difference a - b, counted by a plain loop."""
    counts = dict.fromkeys(((True, True), (True, False), (False, True), (False, False)), 0)
    for one, other in zip(a, b, strict=True):
        counts[bool(one), bool(other)] += 1
    found = PairedCounts(counts[True, True], counts[False, True], counts[True, False], counts[False, False])
    return paired_difference(found)


def test_a_corruption_is_paired(filled, make_dataset):
    right = fill(filled, make_dataset)
    found = robustness(filled.store, "fog/3", origins=STORED, options=OPTIONS)
    assert found.same_images
    models = by_model(found)
    for model, one in models.items():
        assert one.drop == paired(right[model, "clean"], right[model, "fog/3"])
        assert one.drop.value == pytest.approx(one.x[0].value - one.y.value)
        assert one.relative_drop.value == pytest.approx(one.drop.value / one.x[0].value)
        assert one.relative_drop.interval == "bootstrap 95%"
    assert models["m5"].tau == paired(right["m5", "fog/3"], right["m4", "fog/3"])
    assert {one.rho.interval for one in found.models} == {"bootstrap over images and models 95%"}
    x, y = (np.array([right[f"m{place}", name].mean() for place in range(6)]) for name in ("clean", "fog/3"))
    line = np.polyfit(logit(x[:5]), logit(y[:5]), 1)
    assert [one.rho.value for one in found.models] == pytest.approx(y - expit(np.polyval(line, logit(x))))


def test_a_model_that_is_hardly_ever_right_does_not_stop_the_others(filled, make_dataset):
    fill(filled, make_dataset)
    val = make_dataset(400)
    for condition in ("clean", "fog/3"):
        filled.add(val, (np.arange(400) != 3).astype(int), model="weak", condition=condition)
    found = by_model(robustness(filled.store, "fog/3", origins=STORED, options=OPTIONS))
    assert found["weak"].relative_drop == Estimate(0.0, None, None, 400, "none: right on fewer than 5 clean images")
    assert found["m5"].relative_drop.interval == "bootstrap 95%"
    assert found["weak"].rho.low < found["weak"].rho.value < found["weak"].rho.high


def test_other_images_are_independent(filled, make_dataset):
    right = fill(filled, make_dataset, conditions=("v2",), other=True)
    found = robustness(str(filled.store), "v2", origins=STORED, options=OPTIONS)
    assert not found.same_images
    models = by_model(found)
    x, y = int(right["m5", "clean"].sum()), int(right["m5", "v2"].sum())
    # reference: statsmodels
    expected = confint_proportions_2indep(x, 400, y, 400, method="newcomb")
    assert (models["m5"].drop.low, models["m5"].drop.high) == pytest.approx(expected, abs=1e-9)
    # Parent and model saw the same shifted images all the same.
    assert models["m5"].tau == paired(right["m5", "v2"], right["m4", "v2"])


def test_a_family_is_paired_image_by_image(filled, make_dataset):
    names = ("c/fog/1", "c/fog/2")
    right = fill(filled, make_dataset, conditions=names)
    found = robustness(filled.store, "c", origins=STORED, options=OPTIONS)
    one = by_model(found)["m5"]
    mean = {model: np.mean([right[model, name] for name in names], axis=0) for model in ("m4", "m5")}
    assert one.y.value == pytest.approx(mean["m5"].mean())
    assert one.drop.value == pytest.approx((right["m5", "clean"] - mean["m5"]).mean())
    assert one.tau.value == pytest.approx((mean["m5"] - mean["m4"]).mean())
    assert one.tau.interval == "student-t 95%"
    assert found.conditions == names
    assert str(found).splitlines()[0] == "c (y, mean of 2 conditions) against clean (x)"


def test_a_knee_from_predictions(filled, make_dataset):
    right = fill(filled, make_dataset)
    x, y = (np.array([right[f"m{place}", name].mean() for place in range(6)]) for name in ("clean", "fog/3"))
    knee = float(np.sort(x)[2])
    options = replace(OPTIONS, baseline="", knee=knee, scale="linear")
    found = robustness(filled.store, "fog/3", options=options)
    for side in (x <= knee, x > knee):
        line = np.polyfit(x[side], y[side], 1)
        rho = np.array([one.rho.value for one in found.models])[side]
        assert rho == pytest.approx(y[side] - np.polyval(line, x[side]))
    assert {one.rho.interval for one in found.models} == {"bootstrap over images and models 95%"}


def test_the_same_seed_gives_the_same_report(filled, make_dataset):
    fill(filled, make_dataset)
    first, again = (robustness(filled.store, "fog/3", origins=STORED, options=OPTIONS) for _ in range(2))
    assert first == again
    other = replace(OPTIONS, resampling=Resampling(draws=200, seed=1))
    assert robustness(filled.store, "fog/3", origins=STORED, options=other).models != first.models


def test_the_level_holds_for_all_intervals():
    wide = report(rows_of(n=1000), replace(OPTIONS, resampling=Resampling(draws=500, level=0.99)))
    assert wide.level == 0.99
    one = by_model(wide)["m7"]
    said = {found.interval for found in (*one.x, one.y, one.drop, one.rho, one.tau, wide.fitted.slope)}
    assert all(name.endswith("99%") for name in said)
    assert wide.order.pearson.interval == "fisher z over models alone 99%"


# Text and JSON


def test_the_text_to_the_letter():
    lines = str(report(rows_of(n=1000))).splitlines()
    assert lines[:2] == ["v2 (y) against val (x)", "line on the logit scale through 7 models"]
    assert [line[:12] for line in lines[2:5]] == ["  slope     ", "  intercept ", "  R²        "]
    assert lines[5].startswith("  left out one at a time, models are off the line by (points): ")
    assert lines[6].startswith("  x and y of 8 models: Pearson 0.9")
    assert lines[7] == f"  {report().order.swapped_pairs} of 28 pairs of models swap order"
    assert lines[9].split() == ["model", "category", "x", "y", "ρ", "rank"]
    assert lines[10].startswith(f"m7     more_data  0.7000  {Y[7]:.4f}  +0.0")
    assert [line.split()[0] for line in lines[10:18]] == [
        one.model for one in sorted(report().models, key=lambda one: -one.rho.value)
    ]
    assert sum("standard*" in line for line in lines) == 7
    assert lines[19].split() == ["model", "made", "from", "y", "τ"]
    assert lines[20].split()[:3] == ["m7", "m3", f"{Y[7]:.4f}"]
    assert len(lines) == 21


def test_the_table_fits_a_terminal_of_120_columns():
    models = [f"resnet{place}_with_augmentations" for place in range(8)]
    origins = {model: Origin("robust intervention" if place == 7 else "standard") for place, model in enumerate(models)}
    name = "imagenetv2-matched-frequency-format-val"
    rows = [replace(row, condition=name) if row.condition == "v2" else row for row in rows_of(n=1000, models=models)]
    found = report(rows, y=name, origins=origins)
    assert max(len(line) for line in found.table(plot=True).splitlines()) <= 120
    assert max(len(line) for line in str(found).splitlines()) < max(
        len(line) for line in found.table(plot=True).splitlines()
    )


# 11 places from -1 to 1, each 2/11 wide, with 0 in the middle of place 5: v lies in place ⌊(v + 1) · 5.5⌋.
@pytest.mark.parametrize(
    ("value", "low", "high", "drawn"),
    [
        (0.0, -0.5, 0.5, "··├──●──┤··"),
        (0.5, 0.2, 0.7, "·····│├─●┤·"),
        (-0.4, -1.0, 1.0, "├──●─┼────┤"),
        (-0.4, -0.45, -0.35, "···●·│·····"),
        (1.0, 0.0, 2.0, "·····├────●"),
        (0.3, None, None, "·····│·●···"),
    ],
)
def test_bars_are_drawn_around_zero(value, low, high, drawn):
    assert signed_bar(Estimate(value, low, high, None, "x"), reach=1.0, width=11) == drawn


def test_bars_share_a_round_scale():
    table = report().table(plot=True).splitlines()
    header = next(line for line in table if line.startswith("model"))
    # The largest bound is that of m7, some 0.055 from the line: 0.1 is the next of 1, 2, 5, 10...
    assert 0.05 < max(one.rho.high for one in report().models) < 0.1
    assert "-0.1     0     +0.1" in header
    start = header.index("-0.1")
    bars = [line[start : start + 19] for line in table[table.index(header) + 1 :][:8]]
    assert all(bar.count("●") == 1 and bar[9] in "│┼●├┤─" for bar in bars)


def test_json_is_stable_and_finite(filled, make_dataset):
    fill(filled, make_dataset)
    reports = [
        report(),
        report(rows_of(n=1000)),
        robustness(filled.store, "fog/3", origins=STORED, options=OPTIONS),
        report(plane_rows()[-1], x=("val", "z")),
    ]
    for found in reports:
        back = json.loads(json.dumps(found.as_json(), allow_nan=False))
        assert set(back) == {
            "x", "y", "conditions", "measure", "same_images", "fitted", "models", "order", "band", "scales", "notes",
            "level",
        }  # fmt: skip
        assert set(back["fitted"]) == {
            "kind", "scale", "r2", "n", "left_out", "slope", "intercept", "knee", "pieces",
        }  # fmt: skip
        assert set(back["fitted"]["pieces"][0]) == {"slopes", "intercept", "r2", "n", "left_out"}
        assert set(back["models"][0]) == {
            "model", "category", "in_baseline", "x", "y", "drop", "relative_drop", "rho", "tau", "parent",
            "rank_x", "rank_y", "rank_change",
        }  # fmt: skip
        assert set(back["order"]) == {"pearson", "spearman", "kendall", "pairs", "swapped_pairs"}
        assert set(back["models"][0]["rho"]) == {"value", "low", "high", "n", "interval"}
        assert [one["model"] for one in back["models"]] == [one.model for one in found.models]


def test_a_model_of_which_nobody_says_the_category_is_in_no_line(filled, make_dataset):
    """It would be its own baseline; and the user is told how to say it."""
    clean, shifted = make_dataset(200, k=10), make_dataset(200, k=10, ids=[f"s{at}" for at in range(200)], name="v2")
    for at, name in enumerate(["mine", "a", "b", "c", "d"]):
        card = {"category": "" if name == "mine" else "standard"}
        for data, hits, condition in ((clean, 120 + 10 * at, "clean"), (shifted, 100 + 11 * at, "imagenet-sketch")):
            ranks = (np.arange(200) >= hits).astype(int)
            filled.add(data, ranks, model=name, digest=f"{at:032x}", condition=condition, card=card)
    found = robustness(filled.store, "imagenet-sketch")
    assert {model.model: model.in_baseline for model in found.models} == {
        "mine": False, "a": True, "b": True, "c": True, "d": True,
    }  # fmt: skip
    assert any(
        note.startswith("not in the line, as nobody says the category: mine; give --categories CSV, or --category")
        for note in found.notes
    )
    said = robustness(filled.store, "imagenet-sketch", origins={"mine": Origin("standard")})
    assert all(model.in_baseline for model in said.models)
    assert Card().category == ""
