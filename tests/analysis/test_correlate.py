"""Synthetic against natural shifts: residuals of numpy correlated by scipy, and whatever is undefined."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import pearsonr

from oodometer.analysis.correlate import CorrelateOptions, correlate, correlate_table
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness_of_table
from oodometer.core.errors import OodometerError, StoreError, UsageError
from oodometer.stats.bootstrap import Resampling
from oodometer.store.tables import Accuracy, write_table

RNG = np.random.default_rng(4)
M = 20
MODELS = [f"m{place:02d}" for place in range(M)]
STANDARD = np.arange(M) < 10
CLEAN = {"val": expit(RNG.uniform(0, 1.5, M)), "val-o": expit(RNG.uniform(0, 1.5, M))}
HIDDEN = 0.2 * RNG.normal(size=M)
SHIFTED = {
    name: expit(0.9 * logit(CLEAN["val-o" if name == "objectnet" else "val"]) - 0.5 + of_hidden * HIDDEN + noise)
    for name, of_hidden, noise in (
        ("v2", 1.0, 0.02 * RNG.normal(size=M)),
        ("objectnet", -1.0, 0.1 * RNG.normal(size=M)),
        ("c/fog/1", 0.5, 0.1 * RNG.normal(size=M)),
        ("c/fog/2", 0.5, 0.1 * RNG.normal(size=M)),
        ("pgd", 0.0, 0.2 * RNG.normal(size=M)),
    )
}
ORIGINS = {
    model: Origin("standard" if STANDARD[place] else "robust" if place < 16 else "more_data")
    for place, model in enumerate(MODELS)
}


def rows_of(columns, *, without=()):
    return [
        Accuracy(model, name, float(share), None, "t.csv")
        for name, shares in columns.items()
        for model, share in zip(MODELS, shares, strict=True)
        if (model, name) not in without
    ]


ROWS = rows_of({**CLEAN, **SHIFTED})


def report(synthetic, natural, options=CorrelateOptions(), *, rows=ROWS, origins=ORIGINS):  # noqa: B008
    return correlate_table(rows, synthetic, natural, x="val", origins=origins, options=options)


def rho(x, y, baseline):
    """Distances from the line of numpy."""
    line = np.polyfit(logit(x[baseline]), logit(y[baseline]), 1)
    return y - expit(np.polyval(line, logit(x)))


def test_r_is_that_of_distances_from_lines():
    found = report(["c", "pgd"], ["v2", "objectnet~val-o"])
    synthetic = {"c": np.mean([SHIFTED["c/fog/1"], SHIFTED["c/fog/2"]], axis=0), "pgd": SHIFTED["pgd"]}
    natural = {"v2": ("v2", CLEAN["val"]), "objectnet~val-o": ("objectnet", CLEAN["val-o"])}
    assert len(found.pairs) == 4
    for pair in found.pairs:
        a = rho(CLEAN["val"], synthetic[pair.synthetic], STANDARD)[~STANDARD]
        name, clean = natural[pair.natural]
        b = rho(clean, SHIFTED[name], STANDARD)[~STANDARD]
        expected = pearsonr(a, b)  # reference: scipy
        bounds = expected.confidence_interval()
        assert pair.r.value == pytest.approx(expected.statistic)
        assert (pair.r.low, pair.r.high) == pytest.approx((bounds.low, bounds.high))
        assert (pair.n, pair.r.n, pair.r.interval) == (10, 10, "fisher z over models alone 95%")


def test_the_best_predictor_of_each_natural_shift_comes_first():
    found = report(["pgd", "c/fog/1", "c/fog/2"], ["objectnet~val-o", "v2"])
    assert [pair.natural for pair in found.pairs] == ["objectnet~val-o"] * 3 + ["v2"] * 3
    for natural in ("objectnet~val-o", "v2"):
        values = [pair.r.value for pair in found.pairs if pair.natural == natural]
        assert values == sorted(values, reverse=True)


def test_the_choices_are_stated():
    found = report(["c/*"], ["objectnet~val-o"])
    (synthetic,), (natural,) = found.synthetic, found.natural
    assert (synthetic.shift, synthetic.x, synthetic.conditions) == ("c/*", "val", ("c/fog/1", "c/fog/2"))
    assert (natural.shift, natural.x, natural.conditions) == ("objectnet~val-o", "val-o", ("objectnet",))
    assert (synthetic.baseline, natural.baseline) == (10, 10)


def test_each_condition_by_itself():
    found = report(["c", "pgd"], ["v2"], CorrelateOptions(each=True))
    assert {pair.synthetic for pair in found.pairs} == {"c/fog/1", "c/fog/2", "pgd"}


def test_some_categories_or_all():
    def n_of(options, origins=ORIGINS):
        return report(["pgd"], ["v2"], options, origins=origins).pairs[0].n

    assert n_of(CorrelateOptions()) == 10
    assert n_of(CorrelateOptions(over=("more_data",))) == 4
    assert n_of(CorrelateOptions(over=("more_data", "standard"))) == 14
    everything = CorrelateOptions(line=RobustnessOptions(baseline=""))
    assert n_of(everything) == 20
    assert n_of(everything, origins={}) == 20
    # Models of which nobody says what they are take no part.
    assert n_of(CorrelateOptions(), {model: ORIGINS[model] for model in MODELS[:15]}) == 5


def test_a_least_accuracy_holds_for_lines_alone():
    limit = float(np.median(CLEAN["val"]))
    found = report(["pgd"], ["v2"], CorrelateOptions(line=RobustnessOptions(baseline_above=limit)))
    in_line = STANDARD & (CLEAN["val"] >= limit)
    a, b = (rho(CLEAN["val"], SHIFTED[name], in_line)[~STANDARD] for name in ("pgd", "v2"))
    assert found.pairs[0].n == (~STANDARD).sum()
    assert found.pairs[0].r.value == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert found.natural[0].baseline == in_line.sum()


def test_a_knee_bends_the_lines_as_in_robustness():
    line = RobustnessOptions(knee=float(np.median(CLEAN["val"][STANDARD])))
    found = report(["pgd"], ["v2"], CorrelateOptions(line=line))
    a, b = (
        [one.rho.value for one in robustness_of_table(ROWS, name, x=["val"], origins=ORIGINS, options=line).models]
        for name in ("pgd", "v2")
    )
    expected = np.corrcoef(np.array(a)[~STANDARD], np.array(b)[~STANDARD])[0, 1]
    assert found.pairs[0].r.value == pytest.approx(expected, rel=1e-12)


def test_models_left_out_of_the_lines():
    line = RobustnessOptions(leave_out=("m00", "m15", "x*"))
    found = report(["pgd"], ["v2"], CorrelateOptions(line=line))
    baseline = STANDARD & (np.arange(M) > 0)
    a, b = (rho(CLEAN["val"], SHIFTED[name], baseline)[~STANDARD] for name in ("pgd", "v2"))
    # Only out of the lines: m15 is correlated all the same, and m00 is not, being standard.
    assert (found.pairs[0].n, found.natural[0].baseline) == (10, 9)
    assert found.pairs[0].r.value == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert found.notes == ("--leave-out x*: fits no model here",)


def test_each_pair_takes_the_models_that_have_both():
    rows = rows_of({**CLEAN, **SHIFTED}, without={("m12", "pgd"), ("m13", "v2"), ("m01", "v2")})
    found = report(["pgd", "c"], ["v2"], rows=rows)
    n = {pair.synthetic: pair.n for pair in found.pairs}
    assert n == {"pgd": 8, "c": 9}
    assert found.natural[0].baseline == 9
    assert found.notes == (
        "left out, not measured on val and pgd: m12",
        "left out, not measured on val and v2: m01, m13",
    )
    keep = ~STANDARD & ~np.isin(MODELS, ["m12", "m13"])
    a = rho(CLEAN["val"], SHIFTED["pgd"], STANDARD)[keep]
    b = rho(CLEAN["val"], SHIFTED["v2"], STANDARD & ~np.isin(MODELS, ["m01"]))[keep]
    assert {p.synthetic: p.r.value for p in found.pairs}["pgd"] == pytest.approx(np.corrcoef(a, b)[0, 1])


def test_what_is_said_of_many_conditions_is_said_once():
    without = {("m19", "c/fog/1"), ("m19", "c/fog/2")}
    found = report(["c"], ["v2"], CorrelateOptions(each=True), rows=rows_of({**CLEAN, **SHIFTED}, without=without))
    assert found.notes == ("left out, not measured on val and c/fog/1 (as on 1 more): m19",)


def test_a_model_at_zero_is_in_no_line_on_the_logit_scale():
    nothing_right = {**SHIFTED, "v2": np.where(np.arange(M) == 3, 0.0, SHIFTED["v2"])}
    found = report(["pgd"], ["v2"], rows=rows_of({**CLEAN, **nothing_right}))
    whole = robustness_of_table(rows_of({**CLEAN, **nothing_right}), "v2", x=("val",), origins=ORIGINS)
    assert found.natural[0].baseline == whole.fitted.n == 9
    linear = CorrelateOptions(line=RobustnessOptions(scale="linear"))
    assert report(["pgd"], ["v2"], linear, rows=rows_of({**CLEAN, **nothing_right})).natural[0].baseline == 10


def test_too_few_models_are_undefined_and_a_shift_with_itself_is_certain():
    few = CorrelateOptions(over=("more_data",))
    rows = rows_of({**CLEAN, **SHIFTED}, without={("m19", "pgd")})
    found = report(["pgd", "v2"], ["v2"], few, rows=rows)
    certain, undefined = found.pairs  # what is undefined comes last
    assert (undefined.synthetic, undefined.r, undefined.n) == ("pgd", None, 3)
    assert certain.r.value == pytest.approx(1)
    assert "undefined" in str(found)
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["pairs"][1]["r"] is None


def test_what_can_not_be_asked():
    with pytest.raises(UsageError, match=r"no model of category 'robost'; did you mean robust\?"):
        report(["pgd"], ["v2"], CorrelateOptions(over=("robost",)))
    with pytest.raises(UsageError, match=r"all models are of category 'standard', and those of the line are not"):
        report(["pgd"], ["v2"], origins=dict.fromkeys(MODELS, Origin("standard")))
    with pytest.raises(UsageError, match="no categories are known"):
        report(["pgd"], ["v2"], origins={})
    with pytest.raises(UsageError, match="at least one synthetic and one natural shift"):
        report([], ["v2"])
    with pytest.raises(UsageError, match="nothing was measured on 'pdg'"):
        report(["pdg"], ["v2"])
    with pytest.raises(UsageError, match="nothing was measured on 'pdg'"):
        report(["pdg"], ["v2"], CorrelateOptions(each=True))
    few = CorrelateOptions(line=RobustnessOptions(baseline_above=float(np.sort(CLEAN["val"][STANDARD])[-2])))
    with pytest.raises(OodometerError, match=r"^pgd: 2 models: a line needs at least 3"):
        report(["pgd"], ["v2"], few)


@pytest.mark.parametrize("text", ["", "~val", "v2~"])
def test_a_shift_and_its_clean_set(text):
    with pytest.raises(UsageError, match="expected SHIFT or SHIFT~CLEAN"):
        report([text], ["pgd"])


def test_the_text_to_the_letter():
    found = report(["c"], ["v2"], CorrelateOptions(line=RobustnessOptions(resampling=Resampling(level=0.9))))
    a = rho(CLEAN["val"], np.mean([SHIFTED["c/fog/1"], SHIFTED["c/fog/2"]], axis=0), STANDARD)[~STANDARD]
    b = rho(CLEAN["val"], SHIFTED["v2"], STANDARD)[~STANDARD]
    expected = pearsonr(a, b)
    bounds = expected.confidence_interval(0.9)
    assert str(found).splitlines() == [
        "natural  synthetic  r of ρ",
        f"v2       c          {expected.statistic:+.3f} [{bounds.low:+.3f}, {bounds.high:+.3f}]  n=10",
    ]
    header, line = found.table(plot=True).splitlines()
    assert header.endswith("-1       0       +1")
    assert (line.count("●"), line.count("├"), line.count("┤")) == (1, 1, 1)


def test_json_is_stable():
    back = json.loads(json.dumps(report(["c"], ["v2"]).as_json(), allow_nan=False))
    assert set(back) == {"pairs", "synthetic", "natural", "scale", "level", "notes"}
    assert set(back["pairs"][0]) == {"synthetic", "natural", "r", "n"}
    assert set(back["pairs"][0]["r"]) == {"value", "low", "high", "n", "interval"}
    assert set(back["natural"][0]) == {"shift", "x", "conditions", "baseline"}
    assert (back["scale"], back["level"]) == ("logit", 0.95)


# From a store


def test_a_store_of_predictions(filled, make_dataset):
    rng = np.random.default_rng(5)
    val, new = make_dataset(300), make_dataset(200, ids=[f"new/{n}" for n in range(200)], name="v2")
    accuracy = {}
    for place, model in enumerate(MODELS):
        for condition, data in (("clean", val), ("c/fog/1", val), ("c/fog/2", val), ("natural", new)):
            share = CLEAN["val"][place] - (0 if condition == "clean" else 0.2) + 0.05 * rng.normal()
            wrong = rng.random(len(data)) >= share
            accuracy[condition, place] = 1 - wrong.mean()
            filled.add(data, wrong.astype(int), model=model, condition=condition)
    found = correlate(filled.store, ["c"], ["natural"], x="clean", origins=ORIGINS)
    x, fog_1, fog_2, y = (
        np.array([accuracy[condition, place] for place in range(M)])
        for condition in ("clean", "c/fog/1", "c/fog/2", "natural")
    )
    a, b = rho(x, (fog_1 + fog_2) / 2, STANDARD)[~STANDARD], rho(x, y, STANDARD)[~STANDARD]
    assert found.pairs[0].r.value == pytest.approx(np.corrcoef(a, b)[0, 1])
    options = CorrelateOptions(each=True)
    each = correlate(str(filled.store), ["c"], ["natural"], origins=ORIGINS, options=options)
    assert {pair.synthetic for pair in each.pairs} == {"c/fog/1", "c/fog/2"}


def test_a_store_of_imported_accuracies(filled):
    with pytest.raises(StoreError, match="nothing in it yet"):
        correlate(filled.store, ["c"], ["v2"], x="val")
    write_table(filled.store, ROWS)
    for each in (False, True):
        options = CorrelateOptions(each=each)
        stored = correlate(filled.store, ["c"], ["v2"], x="val", origins=ORIGINS, options=options)
        assert stored == report(["c"], ["v2"], options)


def test_a_store_may_take_all_models(filled):
    write_table(filled.store, ROWS)
    options = CorrelateOptions(line=replace(RobustnessOptions(), baseline=""))
    assert correlate(filled.store, ["pgd"], ["v2"], x="val", options=options).pairs[0].n == M
