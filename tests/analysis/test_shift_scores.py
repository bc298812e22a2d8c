"""The gap of a shift: Newcombe's interval by statsmodels, Tango's by its own tests, the pair that the store knows."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from oodometer.analysis.gaps import gaps as gaps_of_store
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.robustness import robustness
from oodometer.analysis.score import score
from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.records import ShiftRecord, record_of_shift
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.store.tables import parse_table, write_table


def pair(store, name, standard, shifted, kind="dataset"):
    """Remember that two conditions, given as (name, data), are a pair."""
    store.add_shift(record_of_shift(Shift(name, kind, *(Condition(*side) for side in (standard, shifted)))))


@pytest.fixture
def apart(filled, make_dataset, right):
    """A model that is right on 160 of 200 clean images and on 60 of 100 others."""
    clean, other = make_dataset(200), make_dataset(100, ids=[f"new{index}" for index in range(100)], name="v2")
    filled.add(clean, right(160, 200))
    filled.add(other, right(60, 100), condition="imagenet-v2")
    pair(filled.store, "imagenet-v2", ("clean", clean), ("imagenet-v2", other))
    return filled


def gaps(store, **asked):
    return score(store, metrics=["gap"], **asked).rows


def test_different_images_have_newcombe_s_interval(apart):
    (row,) = gaps(apart.store)
    # reference: statsmodels, first minus second
    low, high = confint_proportions_2indep(160, 200, 60, 100, compare="diff", method="newcomb")
    assert (row.estimate.value, row.estimate.low, row.estimate.high) == pytest.approx((0.2, low, high))
    assert (row.condition, row.data, row.estimate.n, row.state) == ("imagenet-v2", "v2", 100, "complete")
    assert row.convention == (
        "top-1 on clean (0.8000 [0.7378, 0.8531]  n=200) minus top-1 on imagenet-v2 (0.6000 [0.4972, 0.6967]  n=100); "
        "different images; n is that of the shifted ones"
    )


def test_the_same_photographs_are_paired(filled, make_dataset):
    data = make_dataset(40)
    clean, fog = np.array([0] * 30 + [1] * 10), np.array([0] * 22 + [1] * 8 + [0] * 3 + [1] * 7)
    filled.add(data, clean)
    filled.add(data, fog, condition="fog")
    pair(filled.store, "fog", ("clean", data), ("fog", data), kind="corruption")
    (row,) = gaps(filled.store)
    # 8 right on the clean ones alone, 3 on the others alone; the interval is tested with `paired_difference`
    expected = paired_difference(PairedCounts(both=22, only_a=3, only_b=8, neither=7))
    assert row.estimate == expected
    assert expected.value == pytest.approx(5 / 40)
    assert row.convention.endswith("the same photographs, paired")


@pytest.mark.parametrize("same", [False, True])
def test_a_bootstrap_is_close_to_the_formula(apart, filled, make_dataset, right, same):
    if same:
        data = make_dataset(300, name="many")
        filled.add(data, right(240, 300), model="other")
        filled.add(data, right(180, 300), model="other", condition="fog")
        pair(filled.store, "fog", ("clean", data), ("fog", data))
    exact = gaps(filled.store)[-1].estimate
    drawn = gaps(filled.store, interval="bootstrap", options=ScoreOptions(draws=4000))[-1].estimate
    assert drawn.value == pytest.approx(exact.value)
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.02)
    assert drawn.interval.startswith("bootstrap")


def test_groups_of_images_are_drawn_together(filled, make_dataset, right):
    """Twenty pictures of each scene, all alike: the interval is that of five scenes, not of a hundred pictures."""
    scenes = np.repeat(np.arange(5), 20)
    data = make_dataset(100, columns={"scene": scenes})
    filled.add(data, np.zeros(100, dtype=int))
    filled.add(data, (scenes >= 3).astype(int), condition="fog")
    pair(filled.store, "fog", ("clean", data), ("fog", data))
    alone = gaps(filled.store, interval="bootstrap")[0].estimate
    grouped = gaps(filled.store, options=ScoreOptions(by="scene"))[0].estimate
    assert grouped.interval.startswith("cluster bootstrap")
    # of five scenes two are lost: a binomial share of 5 has a standard deviation of 0.22, one of 100 of 0.05
    assert alone.high - alone.low < 0.25 < 0.6 < grouped.high - grouped.low


def test_one_side_is_not_enough(filled, make_dataset, right):
    data, other = make_dataset(20), make_dataset(20, ids=[f"o{one}" for one in range(20)], name="r")
    filled.add(data, right(10, 20))
    pair(filled.store, "imagenet-r", ("clean", data), ("imagenet-r", other))
    with pytest.raises(OodometerError, match="gap: no shift was run on both sides; --on natural, or the name of"):
        gaps(filled.store)


def test_sides_over_different_classes_are_never_compared(filled, make_dataset, right):
    data, other = make_dataset(20), make_dataset(20, ids=[f"o{one}" for one in range(20)], name="a")
    standard = filled.add(data, right(10, 20))
    shifted = filled.add(other, right(5, 20), condition="imagenet-a", n_classes=200, label_map="f" * 32)
    filled.store.add_shift(ShiftRecord("bad", "dataset", standard.condition, shifted.condition))
    with pytest.raises(
        OodometerError, match="no model was run on clean and imagenet-a over the same classes; run both with"
    ):
        gaps(filled.store)


def test_images_of_no_class_have_no_gap_but_are_told_apart_from_their_other_side(filled, make_dataset, right):
    clean, outside = make_dataset(60), make_dataset(30, labels=[-1] * 30, ids=[f"o{i}" for i in range(30)], name="o")
    on_classes = make_dataset(50, name="val-on-o", ids=[f"v{i}" for i in range(50)])
    filled.add(clean, right(50, 60))
    filled.add(on_classes, right(40, 50), condition="val-on-imagenet-o-classes")
    filled.add(outside, np.zeros(30, dtype=int), condition="imagenet-o")
    sides = ("val-on-imagenet-o-classes", on_classes), ("imagenet-o", outside)
    pair(filled.store, "imagenet-o", *sides, kind="adversarially filtered")
    with pytest.raises(
        OodometerError, match="images without labels have no accuracy; 'score --ood imagenet-o' tells how"
    ):
        gaps(filled.store)
    with pytest.raises(
        OodometerError, match="the images of imagenet-o have no labels, so there is no accuracy on them"
    ):
        robustness(filled.store, "imagenet-o", options=RobustnessOptions(baseline=""))
    found = score(filled.store, metrics=["auroc"], options=ScoreOptions(ood="imagenet-o"))
    assert {row.convention for row in found.rows} == {
        "30 OOD images are positive, 50 of val-on-imagenet-o-classes negative"
    }


def test_robustness_knows_the_other_side(filled, make_dataset, right):
    clean, masked = make_dataset(100), make_dataset(50, name="val-on-a", ids=[f"v{i}" for i in range(50)])
    shifted = make_dataset(50, name="a", ids=[f"a{i}" for i in range(50)])
    for place, model in enumerate(["p", "q", "r", "s"]):
        filled.add(clean, right(40 + 10 * place, 100), model=model, digest=str(place) * 32)
        filled.add(masked, right(20 + 5 * place, 50), model=model, digest=str(place) * 32, condition="val-on-a")
        filled.add(shifted, right(5 + 4 * place, 50), model=model, digest=str(place) * 32, condition="imagenet-a")
    pair(filled.store, "imagenet-a", ("val-on-a", masked), ("imagenet-a", shifted))
    options = RobustnessOptions(baseline="")
    assert robustness(filled.store, "imagenet-a", options=options).x == ("val-on-a",)
    assert robustness(filled.store, "imagenet-a", x=["clean"], options=options).x == ("clean",)
    pair(filled.store, "imagenet-a", ("clean", clean), ("imagenet-a", shifted))
    with pytest.raises(UsageError, match="say which: imagenet-a against clean, imagenet-a against val-on-a"):
        robustness(filled.store, "imagenet-a", options=options)
    for name in ("clean", "val-on-a"):
        for asked in (f"imagenet-a against {name}", f"imagenet-a~{name}"):
            assert robustness(filled.store, asked, options=options).x == (name,)


def test_a_shift_that_a_table_alone_knows_has_no_score_of_a_model_of_that_name(filled, make_dataset, right):
    data = make_dataset(20)
    filled.add(data, right(15, 20))
    filled.add(data, right(10, 20), condition="greyscale")
    write_table(filled.store, parse_table("model,val,imagenet-sketch\nmine,80,70\n", source="t.csv"))
    assert [row.condition for row in gaps(filled.store)] == ["greyscale"]
    assert {row.shift for row in gaps_of_store(filled.store).rows} == {"greyscale", "imagenet-sketch"}


def test_a_side_that_is_unfinished_is_told(filled, make_dataset, right):
    """The shifted side is complete and the clean one is not: a run was stopped between them."""
    clean, other = make_dataset(200), make_dataset(100, ids=[f"new{index}" for index in range(100)], name="v2")
    filled.add(clean, right(60, 100), positions=range(100), finished=False)
    filled.add(other, right(60, 100), condition="imagenet-v2")
    pair(filled.store, "imagenet-v2", ("clean", clean), ("imagenet-v2", other))
    assert [row.state for row in gaps(filled.store)] == ["unfinished"]
    found = gaps_of_store(filled.store)
    assert found.rows[0].as_json()["state"] == "unfinished"
    assert found.table().splitlines()[2].endswith("]  (unfinished)")
