"""The scatter plot's data: exact accuracies, the digits that the store has, the lines of `robustness`."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.estimate import Estimate
from oodometer.report.html.scatter_data import PARTS, parts_of, scatter_data
from oodometer.report.html.sections.scatter import section
from oodometer.stats.bootstrap import Resampling
from oodometer.store.tables import parse_table, write_table
from oodometer.study import study_of

OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))
CLEAN = np.array([0.55, 0.6, 0.64, 0.7, 0.73, 0.78, 0.8, 0.7])
SHIFTED = expit(0.9 * logit(CLEAN) - 0.5 + np.array([0.02, -0.03, 0.01, 0.02, -0.02, 0.01, -0.01, 0.2]))
ORIGINS = {f"m{place}": Origin("standard") for place in range(7)} | {"m7": Origin("more_data", "m3")}


@pytest.fixture
def table_study(filled):
    def make(*, n=None, origins=ORIGINS, options=OPTIONS, **columns):
        columns = columns or {"clean": CLEAN, "shifted": SHIFTED}
        lines = [",".join(["model", *columns])]
        for place, row in enumerate(zip(*columns.values(), strict=True)):
            lines.append(",".join([f"m{place}", *("" if one is None else str(float(one)) for one in row)]))
        write_table(filled.store, parse_table("\n".join(lines), source="table.csv", n=n))
        return study_of(filled.store, origins=origins, options=options)

    return make


@pytest.fixture
def run_study(filled, make_dataset, right):
    """Five models, right on known numbers of 200 images: clean, and two severities of fog on 100 of them."""

    def make():
        data = make_dataset(n=200, name="photos")
        for place, hits in enumerate((100, 120, 140, 160, 180)):
            about = {"model": f"m{place}", "digest": str(place) * 32}
            filled.add(data, right(hits, 200), **about)
            for severity in (1, 2):
                filled.add(data, right(hits - 20 * severity, 200), condition=f"many/fog/{severity}", **about)
        origins = {f"m{place}": Origin("standard") for place in range(5)}
        return study_of(filled.store, origins=origins, options=OPTIONS)

    return make


def unpacked(data, place):
    """Model to value, n, low and high of a column, as the script reads them."""
    column = data["columns"][place]
    found = {}
    for row, model in enumerate(data["sets"][column["set"]]):
        n = column["n"][row] if isinstance(column["n"], list) else column["n"]
        value = column["right"][row] / n if "right" in column else column["value"][row]
        ends = [None if column[end][row] is None else column[end][row] / PARTS for end in ("low", "high")]
        found[data["models"][model]] = (value, n, *ends)
    return found


def shown(share):
    return None if share is None else f"{100 * share:.1f}"


def test_columns_are_the_accuracies_of_the_store(run_study):
    study = run_study()
    data = scatter_data(study)
    for place, condition in enumerate(study.conditions):
        found = unpacked(data, place)
        assert data["columns"][place]["name"] == condition.name
        assert found.keys() == condition.accuracies.keys()
        for model, one in condition.accuracies.items():
            value, n, low, high = found[model]
            assert (value, n) == (one.value, one.n)  # exactly: a line through them is the same in the browser
            assert (shown(low), shown(high)) == (shown(one.low), shown(one.high))


def test_a_family_is_a_column_of_its_own(run_study):
    study = run_study()
    data = scatter_data(study)
    shift = next(one for one in data["shifts"] if one["name"] == "many/fog")
    assert data["columns"][shift["y"]]["name"] == "many/fog (mean of 2)"
    # the mean of two severities: 20 and 40 fewer right of 200
    means = {f"m{place}": (hits - 30) / 200 for place, hits in enumerate((100, 120, 140, 160, 180))}
    assert {model: one[0] for model, one in unpacked(data, shift["y"]).items()} == pytest.approx(means)
    assert data["columns"][shift["x"]]["name"] == study.shift("many/fog").standard


def test_rho_has_the_digits_of_robustness(run_study):
    study = run_study()
    data = scatter_data(study)
    for packed, shift in zip(data["shifts"], study.shifts, strict=True):
        of_model = shift.of_model
        names = [data["models"][place] for place in data["sets"][packed["set"]]]
        assert set(names) == set(of_model)
        for row, name in enumerate(names):
            rho = of_model[name].rho
            packed_rho = [packed[end][row] / PARTS for end in ("rho", "rhoLow", "rhoHigh")]
            assert [shown(one) for one in packed_rho] == [shown(rho.value), shown(rho.low), shown(rho.high)]
            assert packed_rho[0] == pytest.approx(rho.value, abs=1e-5)


def test_the_line_and_its_band_are_those_of_robustness(table_study):
    study = table_study(n=1000)
    shift = scatter_data(study)["shifts"][0]
    fitted = study.shifts[0].robustness.fitted
    piece = shift["line"]["pieces"][0]
    assert (piece["slope"], piece["intercept"]) == (fitted.slope.value, fitted.intercept.value)
    # reference: np.polyfit on logits of the seven standard models
    slope, intercept = np.polyfit(logit(CLEAN[:-1]), logit(SHIFTED[:-1]), 1)
    assert (piece["slope"], piece["intercept"]) == pytest.approx((slope, intercept))
    assert np.array(shift["line"]["band"]) == pytest.approx(np.array(study.shifts[0].robustness.band), rel=1e-5)
    assert (shift["line"]["n"], shift["line"]["knee"], shift["line"]["scale"]) == (7, None, "logit")


def test_a_knee_has_two_pieces(table_study):
    # A knee is for sets that are filtered by the mistakes of a model.
    columns = {"val-on-imagenet-a-classes": CLEAN, "imagenet-a": SHIFTED}
    study = table_study(n=1000, options=replace(OPTIONS, knee=0.69), **columns)
    line = scatter_data(study)["shifts"][0]["line"]
    assert (line["kind"], line["knee"], len(line["pieces"])) == ("two lines", 0.69, 2)
    below = CLEAN[:-1] <= 0.69
    slope, _ = np.polyfit(logit(CLEAN[:-1][below]), logit(SHIFTED[:-1][below]), 1)
    assert line["pieces"][0]["slope"] == pytest.approx(slope)


def test_notes_are_those_of_the_shift(table_study):
    study = table_study(clean=CLEAN, shifted=[None, *SHIFTED[1:]], n=100)
    assert scatter_data(study)["shifts"][0]["notes"] == ["left out, not measured on clean and shifted: m0"]


def test_where_no_line_is_the_reason_is_said(table_study):
    study = table_study(n=1000, origins={})
    shift = scatter_data(study)["shifts"][0]
    assert shift["line"] is None
    assert "rho" not in shift
    assert shift["why"] == study.shifts[0].why
    assert "no model of category 'standard'" in shift["why"]


def test_numbers_without_n_have_no_interval(table_study):
    data = scatter_data(table_study())
    assert data["columns"][0]["n"] is None
    assert set(data["columns"][0]["low"]) == {None}
    assert data["columns"][0]["interval"] == "none: n is not known"
    assert [one[0] for one in unpacked(data, 0).values()] == sorted(CLEAN, reverse=True)


def test_columns_hold_the_models_that_were_measured(table_study):
    data = scatter_data(table_study(clean=CLEAN, shifted=SHIFTED, fog=[None, *SHIFTED[1:]], n=100))
    fog = next(place for place, one in enumerate(data["columns"]) if one["name"] == "fog")
    assert "m0" not in unpacked(data, fog)
    assert len(unpacked(data, fog)) == 7
    assert len(data["sets"]) == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (OPTIONS, [True] * 7 + [False]),
        (replace(OPTIONS, baseline=""), [True] * 8),
        (replace(OPTIONS, leave_out=("m[01]",)), [False] * 2 + [True] * 5 + [False]),
        (replace(OPTIONS, baseline_above=0.62), [False] * 2 + [True] * 5 + [False]),
    ],
)
def test_the_models_of_the_line_are_those_of_robustness(table_study, options, expected):
    study = table_study(n=1000, options=options)
    data = scatter_data(study)
    column = unpacked(data, data["shifts"][0]["x"])
    found = {
        model: bool(data["baseline"][place]) and column[model][0] >= data["shifts"][0]["baselineAbove"]
        for place, model in enumerate(data["models"])
    }
    assert found == {f"m{place}": one for place, one in enumerate(expected)}
    assert found == {one.model: one.in_baseline for one in study.shifts[0].robustness.models}


def test_the_cut_of_a_published_shift_is_its_own(table_study):
    """The catalogue's 55 % of ImageNet-Sketch: the first model is below, and in no line there."""
    clean = np.array([0.5, *CLEAN[1:]])
    study = table_study(n=1000, **{"val": clean, "imagenet-sketch": SHIFTED, "shifted": SHIFTED})
    above = {one["name"]: one["baselineAbove"] for one in scatter_data(study)["shifts"]}
    assert above == {"imagenet-sketch": 0.55, "shifted": 0.0}
    in_line = {one.model for one in study.shift("imagenet-sketch").robustness.models if one.in_baseline}
    assert in_line == {f"m{place}" for place in range(1, 7)}


@pytest.mark.parametrize("value", [0.12649999, 0.0625, 0.9995, 0.99949999999, 1e-9, -0.00049999, 1 / 3, 0.0, 1.0])
def test_parts_are_written_with_the_same_digits(value):
    assert shown(parts_of(value) / PARTS) == shown(value)


def test_parts_of_many_numbers():
    values = np.random.default_rng(0).uniform(-1, 1, 20_000).tolist()
    parts = [parts_of(value) for value in values]
    assert [shown(one / PARTS) for one in parts] == [shown(value) for value in values]
    assert sum(isinstance(one, int) for one in parts) > 19_800


def test_the_section_is_a_plot_of_plain_values(table_study):
    found = section(table_study(n=1000))
    assert (found.id, found.parts[0].draw, found.parts[0].table) == ("scatter", "scatter", None)
    json.dumps(found.parts[0].data, allow_nan=False)


def test_no_section_of_one_condition(table_study):
    assert section(table_study(clean=CLEAN, n=10)) is None


def test_unknown_categories_have_a_name(table_study):
    data = scatter_data(table_study(n=1000, origins={**ORIGINS, "m0": Origin()}))
    assert data["categories"] == ["standard", "more_data", "category unknown"]
    assert data["categories"][data["category"][data["models"].index("m0")]] == "category unknown"


def test_a_shift_of_some_images_alone_has_its_own_clean_side(run_study):
    """A side whose numbers are not those of the condition gets a column that says so."""
    study = run_study()
    shift = study.shift("many/fog")
    fewer = tuple(
        replace(point, x=(Estimate(point.x[0].value / 2, 0.1, 0.9, 50, "clopper-pearson 95%"),))
        for point in shift.points.models
    )
    other = replace(shift, points=replace(shift.points, models=fewer))
    data = scatter_data(replace(study, shifts=(other,)))
    column = data["columns"][data["shifts"][0]["x"]]
    assert (column["name"], column["group"]) == (f"{shift.standard}, the images of many/fog", "sides of shifts")
    assert unpacked(data, data["shifts"][0]["x"])["m0"] == (0.25, 50, 0.1, 0.9)
