"""Many models at once: every pair as the comparison of two has it, corrected together, in three states."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

import oodometer as odo
from numbered_images import Knowing, damaged_family, numbered_images
from oodometer.analysis.compare import compare
from oodometer.analysis.compare_many import compare_many
from oodometer.analysis.judged_pair import CompareOptions
from oodometer.core.errors import StoreError, UsageError
from oodometer.sampling.aim import Aim
from oodometer.sampling.run import run_sampled

CONDITIONS = ("imagenet-c/fog/1", "imagenet-c/fog/2")
SKILLS = {"a": 0.9, "b": 0.8, "c": 0.79, "d": 0.4}


@pytest.fixture
def four(filled, make_dataset):
    """Four models on 400 images, clean and under a family of two; whether each was right."""
    data = make_dataset(400, k=4)
    rng = np.random.default_rng(0)
    right = {}
    for number, (model, skill) in enumerate(SKILLS.items()):
        for condition in ("clean", *CONDITIONS):
            ranks = (rng.random(400) > skill - 0.2 * (condition != "clean")).astype(np.int64)
            filled.add(data, ranks, model=model, condition=condition, digest=f"{number}" * 32)
            right[model, condition] = ranks == 0
    return filled, data, right


def table_of(one: np.ndarray, other: np.ndarray) -> list[list[int]]:
    return [
        [int((one & other).sum()), int((one & ~other).sum())],
        [int((~one & other).sum()), int((~one & ~other).sum())],
    ]


def pair_in(found, side: str, a: str, b: str):
    (on,) = [one for one in found.sides if one.name == side]
    (pair,) = [one for one in on.pairs if {one.model_a, one.model_b} == {a, b}]
    return pair


def message_of(kind, make) -> str:
    with pytest.raises(kind) as caught:
        make()
    return str(caught.value)


def test_every_pair_is_that_of_statsmodels_corrected_by_statsmodels(four):
    filled, _, right = four
    found = compare_many(filled.store, on=["clean"])
    pairs = list(combinations(SKILLS, 2))
    p_values = [mcnemar(table_of(right[a, "clean"], right[b, "clean"]), exact=True).pvalue for a, b in pairs]
    adjusted = multipletests(p_values, method="holm")[1]
    for (a, b), p, corrected in zip(pairs, p_values, adjusted, strict=True):
        pair = pair_in(found, "clean", a, b)
        assert pair.p_value == pytest.approx(p)
        assert pair.p_adjusted == pytest.approx(corrected)
        assert pair.state == ("separated" if corrected <= 0.05 else "tied")
        one, other = (right[name, "clean"] for name in (pair.model_a, pair.model_b))
        assert pair.difference.value == pytest.approx(other.mean() - one.mean())
        assert pair.difference.value <= 0, "the model further down is B"
        (alone,) = compare(filled.store, pair.model_a, pair.model_b, on="clean")
        assert pair.difference == alone.difference
    assert found.n_tests == 6


@pytest.mark.parametrize(("correct", "name"), [("benjamini-hochberg", "fdr_bh"), ("bonferroni", "bonferroni")])
def test_all_sides_are_corrected_together(four, correct, name):
    filled, _, _ = four
    found = compare_many(filled.store, options=CompareOptions(correct=correct))
    pairs = [pair for side in found.sides for pair in side.pairs]
    assert [side.name for side in found.sides] == ["clean", "imagenet-c/fog"]
    assert len(pairs) == found.n_tests == 12
    reference = multipletests([pair.p_value for pair in pairs], method=name)[1]
    assert [pair.p_adjusted for pair in pairs] == pytest.approx(list(reference))
    without = compare_many(filled.store, options=CompareOptions(correct="none"))
    assert all(pair.p_adjusted == pair.p_value for side in without.sides for pair in side.pairs)


def test_a_family_is_the_paired_t_test_of_images(four):
    filled, _, _ = four
    pair = pair_in(compare_many(filled.store), "imagenet-c/fog", "a", "b")
    (alone,) = compare(filled.store, "a", "b", on="imagenet-c/fog")
    assert (pair.test, pair.p_value) == ("paired t", pytest.approx(alone.p_value))
    assert pair.difference == alone.difference
    assert compare_many(filled.store).sides[1].conditions == 2


def test_ranks_and_letters_are_of_those_that_can_be_told_apart(four):
    filled, _, right = four
    found = compare_many(filled.store, on=["clean"])
    (side,) = found.sides
    assert [model.model for model in side.models] == sorted(SKILLS, key=lambda name: -right[name, "clean"].mean())
    by_name = {model.model: model for model in side.models}
    assert by_name["a"].letters == "a"
    assert by_name["b"].letters == by_name["c"].letters == "b"
    assert (by_name["b"].best_rank, by_name["b"].worst_rank) == (2, 3)
    assert (by_name["d"].best_rank, by_name["d"].worst_rank) == (4, 4)
    assert by_name["a"].value == odo.share_of(int(right["a", "clean"].sum()), 400)


def test_the_text(four):
    filled, _, _ = four
    text = str(compare_many(filled.store, ["a", "b", "c"], on=["clean"]))
    lines = text.splitlines()
    assert lines[0] == "clean (clean): 3 models, top-1"
    assert lines[1].split() == ["rank", "tied", "model", "accuracy"]
    assert lines[2].split()[:3] == ["1", "a", "a"]
    assert lines[3].split()[:2] == lines[4].split()[:2] == ["2-3", "b"]
    assert any(line.endswith("separated") for line in lines)
    assert lines[-1].startswith("exact McNemar; 3 comparisons corrected after Holm, 95%")
    assert "over all sides together" not in text
    assert str(compare_many(filled.store)).endswith(
        "ranks are corrected over all sides together: --on NAME gives those of one alone"
    )
    none = compare_many(filled.store, ["a", "b", "c"], on=["clean"]).table(pairs=False)
    assert "separated" not in none


def test_json_is_json(four):
    filled, _, _ = four
    found = compare_many(filled.store)
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["n_tests"] == 12


@pytest.mark.parametrize("test", ["bootstrap", "bootstrap-by-class"])
def test_bootstraps_are_those_of_two_models(four, test):
    filled, _, _ = four
    options = CompareOptions(test=test, draws=2000)
    found = compare_many(filled.store, on=["clean"], options=options)
    pair = pair_in(found, "clean", "a", "b")
    (alone,) = compare(filled.store, pair.model_a, pair.model_b, on="clean", options=options)
    assert (alone.difference, alone.p_value, alone.test) == (pair.difference, pair.p_value, pair.test)
    assert pair.state == "separated"


def test_too_few_classes_are_told(four):
    filled, _, _ = four
    options = CompareOptions(test="bootstrap-by-class", draws=2000)
    found = compare_many(filled.store, on=["clean"], options=options)
    assert found.notes == ("4 classes in val; a bootstrap of fewer than 10 classes is often too narrow",)
    assert {pair.test for pair in found.sides[0].pairs} == {"bootstrap over 4 classes"}


def test_too_few_draws_for_so_many_comparisons_are_told(four):
    filled, _, _ = four
    found = compare_many(filled.store, options=CompareOptions(test="bootstrap", draws=200))
    assert "200 draws can't tell anything apart in 12 comparisons: no p-value is below 0.01" in found.notes[0]
    assert {pair.state for side in found.sides for pair in side.pairs} == {"tied"}
    assert not compare_many(filled.store, options=CompareOptions(test="bootstrap", draws=500)).notes


def test_a_model_that_saw_a_part_is_compared_on_that_part(four, right):
    filled, data, answers = four
    filled.add(data, right(90, 100), model="e", digest="e" * 32, positions=range(100), finished=False)
    found = compare_many(filled.store, on=["clean"])
    assert pair_in(found, "clean", "a", "e").difference.n == 100
    assert pair_in(found, "clean", "a", "b").difference.n == 400, "that takes no images from the others"
    of_e = np.arange(100) < 90
    expected = mcnemar(table_of(of_e, answers["a", "clean"][:100]), exact=True).pvalue
    assert pair_in(found, "clean", "a", "e").p_value == pytest.approx(expected)


def test_what_can_not_be_tested_says_why(four, tmp_path):
    filled, _, _ = four
    table = tmp_path / "theirs.csv"
    table.write_text("model,clean,imagenet-c/fog/1,imagenet-c/fog/2\ntheirs,85.0,70.0,60.0\n")
    odo.import_table(str(table), store=str(filled.store))
    found = compare_many(filled.store)
    pair = pair_in(found, "clean", "a", "theirs")
    assert (pair.state, pair.difference, pair.p_value) == ("can't be tested", None, None)
    assert pair.why == "accuracies alone are known: no answers to pair"
    by_name = {model.model: model for model in found.sides[0].models}
    assert (by_name["theirs"].letters, by_name["theirs"].untested) == ("", 4)
    assert (by_name["theirs"].best_rank, by_name["theirs"].worst_rank) == (1, 5)
    assert by_name["a"].letters == "a"
    assert found.n_tests == 12, "what is no test is not corrected for"
    assert "? can't be tested" in str(found)


def test_imported_accuracies_of_so_many_images_are_tested_unpaired(four, tmp_path):
    filled, _, right = four
    table = tmp_path / "theirs.csv"
    table.write_text("model,clean,imagenet-c/fog/1,imagenet-c/fog/2\ntheirs,50.0,40.0,30.0\n")
    odo.import_table(str(table), store=str(filled.store), n=400)
    pair = pair_in(compare_many(filled.store), "clean", "a", "theirs")
    hits = int(right["a", "clean"].sum())
    assert pair.test == "unpaired z"
    assert pair.p_value == pytest.approx(chi2_contingency([[hits, 400 - hits], [200, 200]], correction=True).pvalue)
    assert pair.difference.interval == "newcombe 95%"
    assert pair.difference.value == pytest.approx(0.5 - hits / 400)


def test_a_named_side_has_the_imported_models_too(four, tmp_path):
    filled, _, _ = four
    table = tmp_path / "theirs.csv"
    table.write_text("model,clean,imagenet-c/fog/1,imagenet-c/fog/2\ntheirs,50.0,40.0,30.0\n")
    odo.import_table(str(table), store=str(filled.store), n=400)
    for side in compare_many(filled.store).sides:
        (alone,) = compare_many(filled.store, on=[side.name]).sides
        assert [model.model for model in alone.models] == [model.model for model in side.models]
        assert [pair.p_value for pair in alone.pairs] == [pair.p_value for pair in side.pairs]


def test_ranks_follow_the_images_in_common(filled, make_dataset, right):
    # B is better on the images that both saw, and worse on the others
    data = make_dataset(300, k=3)
    filled.add(data, right(80, 100), model="a", digest="a" * 32, positions=range(100), finished=False)
    filled.add(data, right(100, 300), model="b", digest="b" * 32)
    (side,) = compare_many(filled.store).sides
    assert [model.model for model in side.models] == ["a", "b"], "by the accuracy on all that each saw"
    assert (side.pairs[0].state, side.pairs[0].difference.value) == ("separated", pytest.approx(0.2))
    assert {model.model: model.best_rank for model in side.models} == {"a": 2, "b": 1}


def test_models_that_saw_no_common_image_can_not_be_tested(filled, make_dataset, right):
    data = make_dataset(40, k=3)
    filled.add(data, right(15, 20), model="a", positions=range(20), finished=False)
    filled.add(data, right(5, 20), model="b", digest="b" * 32, positions=range(20, 40), finished=False)
    (pair,) = compare_many(filled.store).sides[0].pairs
    assert pair.state == "can't be tested"
    assert "no labelled image in common" in pair.why


def test_what_is_refused(four):
    filled, _, _ = four
    assert "no predictions of a model named 'z'" in message_of(
        UsageError, lambda: compare_many(filled.store, ["a", "z"])
    )
    assert "1 model; a comparison needs two" in message_of(StoreError, lambda: compare_many(filled.store, ["a", "a"]))
    assert "no test 'exakt'; did you mean exact" in message_of(UsageError, lambda: CompareOptions(test="exakt"))
    assert "no correction 'hohm'; did you mean holm" in message_of(UsageError, lambda: CompareOptions(correct="hohm"))
    assert "nothing was measured on 'snow'" in message_of(UsageError, lambda: compare_many(filled.store, on=["snow"]))


@pytest.mark.slow
def test_equal_models_are_hardly_ever_told_apart():
    """600 times five equal models on 300 images: Holm makes any error in at most 5 %; through the arrays alone."""
    from scipy.stats import binomtest

    from oodometer.stats.ties import adjusted_pairs, p_of_counts

    rng = np.random.default_rng(1)
    for test in ("exact", "mid-p"):
        wrong = sum((adjusted_pairs(p_of_counts(rng.random((5, 300)) < 0.8, test)) <= 0.05).any() for _ in range(600))
        assert binomtest(int(wrong), 600, 0.055, alternative="greater").pvalue > 0.001


# Samples that were stopped when sure


def test_samples_that_were_stopped_are_compared_by_a_bet(tmp_path):
    models = [Knowing("good", 0.9, 0.5), Knowing("fair", 0.82, 0.5), Knowing("same", 0.82, 0.9)]
    clean = [odo.clean(numbered_images(4000))]
    run = run_sampled([one.model for one in models], clean, Aim(0.04, "until"), store=str(tmp_path / "runs"))
    (found,) = compare(run, "good", "fair")
    assert found.test == "betting, valid whenever it was stopped"
    assert found.difference.interval == "betting, of 4000 images, 95%"
    assert found.accuracy_a.interval == "betting, of 4000 images, 95%"
    truth = models[1].right()[:4000].mean() - models[0].right()[:4000].mean()
    assert found.difference.low <= truth <= found.difference.high
    assert found.difference.value == pytest.approx((found.counts.only_b - found.counts.only_a) / found.counts.n)
    # The p-value and the interval say the same at every level.
    for level in (0.5, 0.9, 0.99, 1 - 1.01 * found.p_value, 1 - 0.99 * found.p_value):
        at = found.difference_at(level)
        assert (at.low <= 0 <= at.high) == (found.p_value > 1 - level)
    many = compare_many(run)
    assert pair_in(many, "clean", "good", "fair").difference.interval == "betting, of 4000 images, 95%"
    (turned,) = compare(run, "fair", "good")
    assert turned.difference.value == pytest.approx(-found.difference.value)


def test_what_was_stopped_in_other_orders_has_no_images_in_common_but_by_chance(tmp_path):
    store = str(tmp_path / "runs")
    for name, seed in (("a", 0), ("b", 1)):
        run_sampled(
            [Knowing(name, 0.8).model], [odo.clean(numbered_images(2000))], Aim(0.05, "until", seed=seed), store=store
        )
    assert "drawn in different orders; run both with one --seed" in message_of(
        StoreError, lambda: compare(store, "a", "b")
    )
    pair = pair_in(compare_many(store), "clean", "a", "b")
    assert pair.state == "can't be tested"


def test_families_that_were_stopped_are_compared_by_a_bet_too(tmp_path):
    shifts = damaged_family(numbered_images(3000), ("fog", "snow"))
    models = [Knowing("a", 0.9, 0.5).model, Knowing("b", 0.7, 0.5).model]
    run = run_sampled(models, shifts, Aim(0.04, "until"), store=str(tmp_path / "runs"))
    (found,) = compare(run, "a", "b", on="damage")
    assert found.test == "betting, valid whenever it was stopped"
    assert found.difference.interval.startswith("betting, of 3000 images")
    # Each damage of 10 x severity + place takes a hundredth of the skill for each unit.
    truth = np.mean([-0.2 * (1 - (10 * severity + place) / 100) for severity in (1, 2, 3) for place in (0, 1)])
    assert found.difference.low - 0.02 <= truth <= found.difference.high + 0.02
