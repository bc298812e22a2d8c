"""The summary: sentences about stores whose numbers are known; scipy, statsmodels and numpy are the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import confint_proportions_2indep

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.condition import Condition, Shift
from oodometer.core.records import record_of_shift
from oodometer.document.section import Words
from oodometer.document.table import Table
from oodometer.report.html.sections.summary import section
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))


def words(found, title: str) -> tuple[str, ...]:
    return next((one.lines for one in found.parts if isinstance(one, Words) and one.title == title), ())


def part(found, name: str) -> Table:
    return next(one for one in found.parts if isinstance(one, Table) and one.id == name)


BEST, BEYOND, DOUBTS = "Who holds up best", "Beyond the line", "What can’t be concluded"


def ranks(hits: int, n: int, first: int = 0) -> np.ndarray:
    """Right on ``hits`` images from the ``first`` on."""
    places = np.arange(n)
    return ((places < first) | (places >= first + hits)).astype(np.int64)


@pytest.fixture
def run(filled, make_dataset):
    """Three models on 200 clean images and on 200 others; by default clear winners."""
    clean = make_dataset(200, name="photos")
    other = make_dataset(200, name="drawings", ids=[f"d{at}" for at in range(200)])
    filled.store.add_shift(record_of_shift(Shift("drawn", "style", Condition("iid", clean), Condition("drawn", other))))

    def add(shifted: dict[str, np.ndarray], standard=None):
        for model, wrong in shifted.items():
            filled.add(clean, ranks((standard or {}).get(model, 180), 200), model=model, condition="iid")
            filled.add(other, wrong, model=model, condition="drawn")
        return study_of(filled.store, origins={name: Origin("standard") for name in shifted}, options=OPTIONS)

    return add


def test_what_was_measured(run):
    found = section(run({"a": ranks(100, 200), "b": ranks(90, 200)}))
    assert found.lead[0] == "2 models (all standard) were measured on 2 conditions."
    assert found.lead[1] == (
        "800 answers to labelled images were judged; the data are photos (200 images) and drawings (200 images)."
    )


def test_a_clear_winner_is_ahead_by_a_paired_difference(run):
    # a is right wherever b is, and on 60 more
    (line,) = words(section(run({"a": ranks(160, 200), "b": ranks(100, 200)})), BEST)
    own = binomtest(160, 200).proportion_ci(method="exact")
    lost = confint_proportions_2indep(180, 200, 160, 200, compare="diff", method="newcomb")
    behind = paired_difference(PairedCounts(both=100, only_a=0, only_b=60, neither=40))
    assert line == (
        f"On drawn (style shift), a is the most accurate: 80.0 % [{100 * own.low:.1f}, {100 * own.high:.1f}] of 200 "
        f"images, 10.0 points [{100 * lost[0]:.1f}, {100 * lost[1]:.1f}] below iid. The other, b, is 30.0 points "
        f"[{100 * behind.low:.1f}, {100 * behind.high:.1f}] behind."
    )
    (line,) = words(section(run({"a": ranks(160, 200), "b": ranks(100, 200), "c": ranks(20, 200)})), BEST)
    assert "It is ahead of all 2 others; the next, b, is 30.0 points [" in line


def test_overlapping_intervals_are_told_apart_where_the_pairs_do(run):
    # 104 and 96 of 200: the intervals overlap, but wherever b is right a is too
    (line,) = words(section(run({"a": ranks(104, 200), "b": ranks(96, 200)})), BEST)
    assert "can’t be told apart" not in line
    # as many, on other images
    paired = paired_difference(PairedCounts(both=0, only_a=96, only_b=104, neither=0))
    assert paired.low < 0 < paired.high


def test_what_can_t_be_told_apart_is_said(run):
    found = section(run({"a": ranks(104, 200), "b": ranks(96, 200, first=104), "c": ranks(20, 200)}))
    (line,) = words(found, BEST)
    assert line.endswith("b can’t be told apart from it.")
    assert any(
        "holds 0; each pair by itself" in text for part in found.parts if isinstance(part, Words) for text in part.lines
    )


def test_none_can_be_told_apart(run):
    (line,) = words(section(run({"a": ranks(101, 200), "b": ranks(100, 200, 90), "c": ranks(99, 200, 50)})), BEST)
    assert line.endswith("None of the 2 others can be told apart from it.")


def test_one_model_is_not_called_the_best(run):
    found = section(run({"a": ranks(100, 200)}))
    (line,) = words(found, BEST)
    own = binomtest(100, 200).proportion_ci(method="exact")
    bounds = f"[{100 * own.low:.1f}, {100 * own.high:.1f}]"
    assert line.startswith(f"On drawn (style shift), only a was measured: 50.0 % {bounds} of 200 images, 40.0 points [")
    assert line.endswith(" below iid.")
    assert not any("median" in one for one in found.lead)


def test_equals_are_not_called_better(run):
    (line,) = words(section(run({"a": ranks(100, 200), "b": ranks(100, 200, 50)})), BEST)
    assert line.startswith("On drawn (style shift), no model is more accurate than a: 50.0 % ")


def test_a_gain_is_not_called_a_loss(run):
    found = section(run({"a": ranks(190, 200), "b": ranks(188, 200)}))
    # 180 clean and 190 shifted of 200
    low, high = confint_proportions_2indep(190, 200, 180, 200, compare="diff", method="newcomb")
    assert f"5.0 points [{100 * low:.1f}, {100 * high:.1f}] above iid." in words(found, BEST)[0].replace("−", "-")
    assert found.lead[-1] == "On no natural shift does the median model lose accuracy."


def test_the_loss_is_the_median_with_its_middle_half(run):
    shifted = {"a": 160, "b": 140, "c": 120, "d": 100, "e": 60}
    found = section(run({name: ranks(hits, 200) for name, hits in shifted.items()}))
    # reference: numpy's quantiles of 10, 20, 30, 40, 60 points
    low, median, high = np.quantile([10, 20, 30, 40, 60], [0.25, 0.5, 0.75])
    assert found.lead[-1] == (
        f"On drawn, the only natural shift, the median of 5 models loses {median:.1f} points of accuracy against iid "
        f"(the middle half lose between {low:.1f} and {high:.1f})."
    )


def test_of_a_few_models_the_least_and_the_most_are_told(run):
    found = section(run({"a": ranks(160, 200), "b": ranks(100, 200)}))
    # 180 clean, and 160 and 100 shifted, of 200
    assert found.lead[-1] == (
        "On drawn, the only natural shift, the 2 models lose 10.0 to 40.0 points of accuracy against iid."
    )


TABLE = {"m0": 0.55, "m1": 0.6, "m2": 0.65, "m3": 0.7, "m4": 0.75}


@pytest.fixture
def table(tmp_path):
    """Standard models on a line, and others of which the second lies far above it."""

    def make(others: dict[str, tuple[float, float]], n: int | None = 10_000, **more):
        store = open_store(str(tmp_path / " ".join(["table", *others])), create=True)
        points = {name: (x, x - 0.1) for name, x in TABLE.items()} | others
        rows = [
            Accuracy(name, where, value, n, "t.csv")
            for name, both in points.items()
            for where, value in zip(("val", "imagenet-sketch"), both, strict=True)
        ]
        write_table(store, rows)
        origins = {name: Origin("standard") for name in TABLE} | {name: Origin("more_data") for name in others}
        return study_of(
            store, origins=origins, options=RobustnessOptions(scale="linear", resampling=Resampling(draws=400)), **more
        )

    return make


def test_who_is_beyond_the_line(table):
    study = table({"on": (0.68, 0.58), "above": (0.66, 0.7)})
    found = section(study)
    rho = study.shifts[0].of_model["above"].rho
    # on the line y = x - 0.1 that the others make, 0.56 is expected
    assert rho.value == pytest.approx(0.14)
    assert words(found, BEYOND)[0] == (
        "On imagenet-sketch, 1 of the 2 models beside the line is above it; the highest "
        f"is above, with ρ = +14.0 points [{100 * rho.low:+.1f}, {100 * rho.high:+.1f}]."
    )
    # two tails of 5 %, of which one is above
    assert "by chance alone 2.5 % of the models beside a line would be" in words(found, BEYOND)[-1]
    assert found.lead[0] == "7 models (5 standard and 2 more data) were measured on 2 conditions."
    assert found.lead[1] == "14 accuracies come from t.csv, without the answers behind them."


def test_where_the_line_is_only_extended(table):
    line, *_ = words(section(table({"far": (0.85, 0.9)})), BEYOND)
    assert "the only model beside the line, far, is above it, where that is only extended: ρ = +15.0 points [+" in line
    line, *_ = words(section(table({"far": (0.85, 0.9), "near": (0.66, 0.7)})), BEYOND)
    assert "2 of the 2 models beside the line are above it, 1 of them where it is only extended; the highest" in line


def test_none_beyond_the_line(table):
    line, *_ = words(section(table({"on": (0.68, 0.575)})), BEYOND)
    assert line == "On imagenet-sketch the only model beside the line is not above it."
    line, *_ = words(section(table({"on": (0.68, 0.575), "too": (0.6, 0.495)})), BEYOND)
    assert line == "On imagenet-sketch none of the 2 models beside the line is above it."


def test_the_table_counts_those_above_the_line_as_the_sentences_do(table):
    """Beside the line where there are such; of a line through all models, all that are above it."""
    beside = part(section(table({"on": (0.68, 0.58), "above": (0.66, 0.7)})), "summary-table")
    assert beside.rows[0][-1] == 1
    along = {f"on{at}": (0.56 + 0.01 * at, 0.46 + 0.01 * at) for at in range(20)}
    study = table({**along, "above": (0.66, 0.7)}, n=1_000_000)
    through_all = replace(study.options, baseline=None)
    found = section(study_of(study.index, origins={}, options=through_all))
    line, *_ = words(found, BEYOND)
    assert line.startswith("On imagenet-sketch the line goes through all 26 models; above it is above (ρ = +")
    assert part(found, "summary-table").rows[0][-1] == 1


def test_a_line_through_all_says_so(table):
    line, *_ = words(section(table({})), BEYOND)
    assert line.startswith("On imagenet-sketch the line goes through all 5 models; ")


def test_without_intervals_nothing_is_told_apart(table):
    found = section(table({}, n=None))
    assert words(found, BEST)[0].endswith(
        "m4 is the most accurate: 65.0 % (no interval), 10.0 points (no interval) below val. Whether it is ahead of "
        "the 4 others can’t be told without intervals."
    )
    assert "Some imported accuracies come without the number of images, and so without an interval." in words(
        found, DOUBTS
    )


def test_key_figures_are_those_of_the_study(table):
    study = table({"above": (0.66, 0.7)})
    (figures,) = (one for one in section(study).parts if isinstance(one, Table) and one.id == "summary-table")
    shift = study.shifts[0]
    best = next(one for one in shift.points.models if one.model == "above")
    assert figures.rows == (
        (
            "imagenet-sketch",
            "dataset",
            6,
            10_000,
            "above",
            best.y,
            shift.of_model["above"].drop,
            shift.robustness.fitted.r2,
            1,
        ),
    )


def test_hostile_names_are_only_words(run):
    name = "<script>alert(1)</script>"
    found = section(run({name: ranks(150, 200), "b": ranks(100, 200)}))
    assert name in words(found, BEST)[0]


def test_many_categories_are_summed_up(tmp_path):
    store = open_store(str(tmp_path / "many"), create=True)
    categories = ["standard"] * 4 + ["", "", "", "", ""] + ["a", "a", "b", "b", "c", "c", "d", "e_f"]
    write_table(store, [Accuracy(f"m{at}", "val", 0.5, 100, "t.csv") for at in range(len(categories))])
    origins = {f"m{at}": Origin(name) for at, name in enumerate(categories)}
    found = section(study_of(store, origins=origins))
    assert found.lead[0] == (
        "17 models (4 standard, 2 a, 2 b, 2 c, 2 of other categories and 5 of unknown category) were measured on 1 "
        "condition."
    )


def test_a_store_without_labels_has_a_summary_all_the_same(filled, make_dataset):
    data = make_dataset(10, labels=[-1] * 10)
    filled.add(data, [0] * 10, model="one")
    found = section(study_of(filled.store))
    assert found.lead == ("1 model (standard) was measured on 0 conditions.",)
    assert "no accuracy on clean: its images have no labels" in words(found, DOUBTS)
