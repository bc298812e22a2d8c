"""How many images would show a difference: from the answers of a store, against the functions on numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

import oodometer as odo
from numbered_images import Knowing, damaged_family, numbered_images
from oodometer.analysis.image_plan import PlanOptions, plan
from oodometer.core.errors import StoreError, UsageError
from oodometer.sampling.aim import Aim
from oodometer.sampling.run import run_sampled
from oodometer.stats.intervals import share_of
from oodometer.stats.power import difference_shown, images_for_difference, images_for_mean_difference

CONDITIONS = ("imagenet-c/fog/1", "imagenet-c/fog/2")


@pytest.fixture
def three(filled, make_dataset):
    data = make_dataset(500, k=4)
    rng = np.random.default_rng(0)
    right = {}
    for model, skill in {"a": 0.9, "b": 0.8, "c": 0.4}.items():
        for condition in ("clean", *CONDITIONS):
            ranks = (rng.random(500) > skill - 0.1 * (condition != "clean")).astype(np.int64)
            filled.add(data, ranks, model=model, condition=condition, digest=model * 32)
            right[model, condition] = ranks == 0
    return filled, data, right


def message_of(kind, make) -> str:
    with pytest.raises(kind) as caught:
        make()
    return str(caught.value)


def test_a_pair_needs_what_its_disagreement_says(three):
    filled, _, right = three
    (found,) = plan(filled.store, "a", "b", options=PlanOptions(0.02, power=0.9, level=0.99), on=["clean"]).pairs
    differ = share_of(int((right["a", "clean"] != right["b", "clean"]).sum()), 500, level=0.99)
    assert (found.model_a, found.model_b, found.disagreement) == ("a", "b", differ)
    expected = [
        images_for_difference(0.02, share, power=0.9, level=0.99) for share in (differ.value, differ.low, differ.high)
    ]
    assert (found.images.value, found.images.low, found.images.high) == tuple(map(float, expected))
    assert found.shown == difference_shown(500, differ.value, power=0.9, level=0.99)
    assert found.images.interval == "by the disagreement, clopper-pearson 99%"
    assert not found.enough
    assert found.difference.value == pytest.approx(right["b", "clean"].mean() - right["a", "clean"].mean())


def test_a_larger_difference_needs_no_more_than_there_are(three):
    filled, _, _ = three
    (found,) = plan(filled.store, "a", "b", options=PlanOptions(0.15), on=["clean"]).pairs
    assert found.enough
    assert found.shown < 0.15


def test_a_family_goes_by_the_variance_of_the_images(three):
    filled, _, right = three
    (found,) = plan(filled.store, "a", "b", options=PlanOptions(0.01), on=["imagenet-c/fog"]).pairs
    means = {model: np.mean([right[model, one] for one in CONDITIONS], axis=0) for model in "ab"}
    variance = (means["b"] - means["a"]).var()
    assert found.disagreement.value == pytest.approx(variance)
    assert found.disagreement.low < variance < found.disagreement.high
    assert found.images.value == images_for_mean_difference(0.01, float(np.sqrt(variance)))
    assert found.images.low < found.images.value < found.images.high


def test_all_pairs_where_they_are_few_else_neighbours(three, right):
    filled, data, _ = three
    few = plan(filled.store, options=PlanOptions(0.01))
    assert {(pair.model_a, pair.model_b) for pair in few.pairs if pair.on == "clean"} == {
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    }
    assert {pair.on for pair in few.pairs} == {"clean", "imagenet-c/fog"}
    for model, hits in {"d": 300, "e": 100}.items():
        filled.add(data, right(hits, 500), model=model, digest=model * 32)
    many = plan(filled.store, options=PlanOptions(0.01), on=["clean"])
    assert [(pair.model_a, pair.model_b) for pair in many.pairs] == [("a", "b"), ("b", "d"), ("d", "c"), ("c", "e")]


def test_a_correction_needs_more(three):
    filled, _, _ = three
    alone, of_ten = (
        plan(filled.store, "a", "b", options=PlanOptions(0.02, comparisons=n), on=["clean"]) for n in (1, 10)
    )
    assert of_ten.pairs[0].images.value > alone.pairs[0].images.value
    assert of_ten.pairs[0].images.value == images_for_difference(0.02, of_ten.pairs[0].disagreement.value, level=0.995)


def test_the_text_and_json(three):
    filled, _, _ = three
    found = plan(filled.store, "a", "b", options=PlanOptions(0.005))
    lines = str(found).splitlines()
    assert lines[0] == "to see a difference of 0.005 with a probability of 80 % (exact McNemar, 95%):"
    assert lines[1].split() == ["on", "pair", "seen", "disagree", "images", "so", "far", "which", "shows"]
    assert lines[2].split()[:4] == ["clean", "b", "-", "a"]
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["options"]["detect"] == 0.005


def test_as_many_images_as_planned_show_the_difference():
    """From 2,000 images of two models that differ by 4 points, the plan; then 500 sets of so many: 80 % show it."""
    from scipy.stats import binomtest

    from oodometer.stats.paired import mcnemar_p_values

    rng = np.random.default_rng(3)
    shares = [0.08, 0.04, 0.88]
    n = images_for_difference(0.04, 0.12)
    wins, losses, _ = rng.multinomial(n, shares, 5000).T
    told = int(((mcnemar_p_values(wins, losses) <= 0.05) & (wins > losses)).sum())
    assert binomtest(told, 5000, 0.8, alternative="less").pvalue > 0.001
    assert told / 5000 < 0.84


def test_samples_that_were_drawn_apart_are_not_planned_here(tmp_path):
    shifts = damaged_family(numbered_images(2000), ("fog", "snow"))
    models = [Knowing("a", 0.9, 0.5).model, Knowing("b", 0.7, 0.5).model]
    run = run_sampled(models, shifts, Aim(0.05, "within"), store=str(tmp_path / "runs"))
    found = plan(run, "a", "b", options=PlanOptions(0.01))
    assert [pair.on.partition("@")[0] for pair in found.pairs] == ["clean"]
    assert "'run --within' plans these" in found.notes[0]


def test_samples_that_were_stopped_are_not_planned_by_another_test(tmp_path):
    models = [Knowing("a", 0.9, 0.5).model, Knowing("b", 0.7, 0.5).model]
    store, data = str(tmp_path / "runs"), numbered_images(2000)
    run_sampled(models, [odo.clean(data)], Aim(0.05, "until"), store=store)
    with pytest.raises(StoreError, match="stopped samples are compared by a bet"):
        plan(store, "a", "b", options=PlanOptions(0.01))
    odo.run(models, damaged_family(data, ("fog",), (1,)), store=store)
    found = plan(store, "a", "b", options=PlanOptions(0.01))
    assert "damage/fog/1" in {pair.on.partition("@")[0] for pair in found.pairs}


def test_what_is_refused(three, tmp_path):
    filled, _, _ = three
    options = PlanOptions(0.01)
    assert "name two models, or none" in message_of(UsageError, lambda: plan(filled.store, "a", options=options))
    assert "for example 0.005" in message_of(UsageError, lambda: PlanOptions(0.0))
    assert "for example 0.8" in message_of(UsageError, lambda: PlanOptions(0.1, power=1.0))
    assert "there is at least one" in message_of(UsageError, lambda: PlanOptions(0.1, comparisons=0))
    table = tmp_path / "theirs.csv"
    table.write_text("model,val,imagenet-a\nx,85.0,7.0\ny,83.0,8.0\n")
    store = str(tmp_path / "tables")
    odo.import_table(str(table), store=store)
    assert "nothing can be planned: val, y and x: accuracies alone are known" in message_of(
        StoreError, lambda: plan(store, options=options)
    )
