"""What a drop is made of: simulated stores whose difficulties are known, and the paper's own tables."""

from __future__ import annotations

import json

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from oodometer.analysis.explain import DEFAULT, MEAN, explain, explain_table
from oodometer.core.errors import DataError, UsageError
from oodometer.published.tables import read_table
from oodometer.stats.contamination import contamination
from oodometer.stats.difficulty_model import Difficulty, accuracy_at, line_between, simulated_answers
from oodometer.stats.intervals import mean_of
from oodometer.store.tables import Accuracy

EASY, HARD = Difficulty(0.0, 1.2), Difficulty(0.6, 0.8)
SKILLS = np.linspace(0.2, 2.2, 9)


@pytest.fixture
def simulated(filled, make_dataset):
    """A store with the answers of nine models to two sets of the difficulty model, and these answers."""
    rng = np.random.default_rng(1)
    val = make_dataset(3000)
    new = make_dataset(2000, ids=[f"new/{one}" for one in range(2000)], name="new")
    right = {}
    for condition, data, difficulty in (("clean", val, EASY), ("v2", new, HARD)):
        right[condition] = simulated_answers(SKILLS, difficulty, len(data), rng)
        for place, one in enumerate(right[condition]):
            filled.add(data, (~one).astype(int), model=f"m{place}", condition=condition)
    return filled.store, right


def test_the_difficulties_are_read_back(simulated):
    store, right = simulated
    found = explain(store, "v2")
    line = line_between(EASY, HARD)
    assert found.probit.n == found.linear.n == len(SKILLS)
    assert found.difficulty.width_ratio.low <= line.slope <= found.difficulty.width_ratio.high
    assert found.difficulty.harder_by.low <= -line.offset <= found.difficulty.harder_by.high
    assert found.spreads.sd_first.low <= EASY.sd <= found.spreads.sd_first.high
    assert found.spreads.sd_second.low <= HARD.sd <= found.spreads.sd_second.high
    assert found.spreads.slope.low <= line.slope <= found.spreads.slope.high
    assert "the slope of the line agrees with it" in str(found)
    mean, best, *_, worst = found.models
    assert (mean.model, best.model, worst.model) == (MEAN, "m8", "m0")
    assert mean.clean == mean_of(right["clean"].mean(axis=0), bounds=(0, 1))
    assert mean.drop.value == pytest.approx(right["clean"].mean() - right["v2"].mean())
    low, high = proportion_confint(int(right["v2"][8].sum()), 2000, method="beta")  # statsmodels
    assert best.bounds.generalisation.low == pytest.approx(low - best.shifted.value)
    assert best.bounds.adaptivity_and_distribution.low == pytest.approx(best.clean.value - high)
    assert best.drop_almost_surely.high - best.drop_almost_surely.low > best.drop.high - best.drop.low
    assert (found.of_clean.n, found.of_shifted.n) == (3000, 2000)


def test_near_duplicates_of_a_store(simulated, make_dataset):
    store, right = simulated
    ids = [f"{at:04d}" for at in range(0, 3000, 10)]
    found = explain(store, "v2", duplicates=[*ids, "elsewhere"])
    has = np.arange(3000) % 10 == 0
    for one in found.models[1:]:
        assert one.near_duplicates == contamination(right["clean"][int(one.model[1])], has).gained
        assert one.near_duplicates.value <= one.near_duplicates_at_most
    gained = right["clean"].mean() - right["clean"][:, ~has].mean()
    assert found.models[0].near_duplicates.value == pytest.approx(gained)
    assert found.duplicates == 300
    assert "1 of 301 near-duplicates are not among the images of clean" in found.notes
    assert not any("near-duplicates" in line for line in found.unknown)
    with pytest.raises(DataError, match=r"none of the 3000 images of clean"):
        explain(store, "v2", duplicates=["0000.png"])
    with pytest.raises(UsageError, match="a share of 2 near-duplicates"):
        explain(store, "v2", duplicates=2)


def test_shifted_copies_of_the_clean_images_are_no_new_set(filled, make_dataset):
    rng, data = np.random.default_rng(2), make_dataset(500)
    for place, skill in enumerate(SKILLS[:2]):
        for condition, hard in (("clean", EASY), ("fog/3", HARD)):
            one = simulated_answers(np.array([skill]), hard, 500, rng)[0]
            filled.add(data, (~one).astype(int), model=f"m{place}", condition=condition)
    found = explain(filled.store, "fog/3")
    assert found.same_images
    assert "made from the clean ones" in found.unknown[0]
    assert found.linear is None
    assert found.difficulty is found.adaptivity is found.spreads is None
    assert found.why == "2 models: a line needs at least 3; add models"
    assert "nothing is known of it without a line" in str(found)


def rows_of(new: str, leave_out: str = "fv_") -> list[Accuracy]:
    table = read_table("recht2019_imagenet")
    return [
        Accuracy(model, column, share / 100, n, "t")
        for column, n in (("val_top1", 50_000), (new, 10_000))
        for model, share in zip(table.models, table.column(column).tolist(), strict=True)
        if not model.startswith(leave_out)
    ]


def test_the_paper_itself():
    found = explain_table(rows_of("matched_frequency_top1"), "matched_frequency_top1", clean=["val_top1"])
    # Section 3.3: slope 1.11; section 5.1: each point is worth more than one
    assert found.linear.slope.value == pytest.approx(1.11, abs=0.005)
    assert found.adaptivity.slope.low > 1
    assert found.adaptivity.returns == "growing"
    assert "no diminishing returns" in str(found)
    # Section 2: chance alone cannot explain drops of 11 to 14 points
    assert found.models[0].drop_almost_surely.low > 0.09
    assert found.difficulty.harder_by.low > 0
    assert "matched_frequency_top1 is harder: its mean difficulty is higher by" in str(found)
    # Table 2: on TopImages the models are 2 points better
    easier = explain_table(rows_of("top_images_top1"), "top_images_top1", clean=["val_top1"])
    assert easier.models[0].drop.value == pytest.approx(-0.022, abs=0.001)
    assert easier.difficulty.harder_by.high < 0
    assert "top_images_top1 is easier: its mean difficulty is higher by -" in str(easier)
    assert "there is no drop" in str(easier)


def test_few_models_do_not_tell_which_set_is_harder():
    shares = {"val": (0.70, 0.74, 0.76, 0.80), "v2": (0.71, 0.72, 0.78, 0.79)}
    rows = [Accuracy(f"m{at}", side, share, 1000, "t") for side in shares for at, share in enumerate(shares[side])]
    found = explain_table(rows, "v2", clean=["val"])
    assert found.difficulty.harder_by.low < 0 < found.difficulty.harder_by.high
    assert "it can't be told whether v2 is harder or easier: its mean difficulty" in str(found)


def test_weak_models_do_not_make_returns_diminish():
    """All on one line of the difficulty model: its lower end is flat in points, which is no adaptivity."""
    skills = np.linspace(-2.5, 1.5, 40)
    x, y = (accuracy_at(skills, Difficulty(mean, 1.0)).tolist() for mean in (0.0, 0.4))
    rows = [
        Accuracy(f"m{at}", side, share, 10_000, "t")
        for side, shares in (("val", x), ("v2", y))
        for at, share in enumerate(shares)
    ]
    found = explain_table(rows, "v2", clean=["val"])
    assert found.linear.slope.high < 1
    assert found.adaptivity.returns == "growing"
    assert found.adaptivity.least == pytest.approx(np.median(x))
    assert found.adaptivity.most == max(x)
    rise = (max(y) - np.interp(np.median(x), x, y)) / (max(x) - np.median(x))
    assert found.adaptivity.slope.value == pytest.approx(rise, abs=0.01)


def test_json_and_text_say_the_same():
    rows = rows_of("matched_frequency_top1", "none of them")
    found = explain_table(rows, "matched_frequency_top1", clean=["val_top1"], duplicates=0.01)
    plain = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert [one["model"] for one in plain["models"][:2]] == [MEAN, "pnasnet_large_tf"]
    slope = plain["difficulty"]["width_ratio"]
    text = str(found)
    assert f"{slope['value']:.3f} times that of matched_frequency_top1 (between {slope['low']:.3f}" in text
    assert all(line in text for line in plain["unknown"])
    most = plain["models"][1]["near_duplicates_at_most"]
    assert most == pytest.approx(0.829 - (0.829 - 0.01) / 0.99)
    assert "fv_4k" in found.text(["fv_*"])
    with pytest.raises(UsageError, match="fw_4k: no such model; did you mean fv_4k"):
        found.text(["fw_4k"])


def test_what_cannot_be_explained():
    rows = rows_of("matched_frequency_top1")
    with pytest.raises(UsageError, match="only a share of right answers on one clean set"):
        explain_table(
            [*rows, *rows_of("top_images_top1")], "matched_frequency_top1", clean=["val_top1", "top_images_top1"]
        )
    with pytest.raises(UsageError, match="here are accuracies alone: give their share"):
        explain_table(rows, "matched_frequency_top1", clean=["val_top1"], duplicates=["a.png"])
    assert DEFAULT.scale == "probit"
