"""Two models over a family of conditions: one summary of all, paired by image."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import ttest_rel

from oodometer.analysis.compare import compare
from oodometer.core.errors import StoreError
from oodometer.stats.paired import PairedCounts, mean_paired_difference, paired_difference

CONDITIONS = ("imagenet-c/fog/1", "imagenet-c/fog/2", "imagenet-c/snow/1")


def add_family(filled, data, seed: int = 0) -> dict[str, np.ndarray]:
    """Both models under all conditions; whether each was right, (conditions, N)."""
    rng = np.random.default_rng(seed)
    right = {"a": [], "b": []}
    for model in "ab":
        for condition in ("clean", *CONDITIONS):
            ranks = rng.integers(0, 2 if model == "a" else 4, len(data))
            filled.add(data, ranks, model=model, condition=condition, digest=model * 32)
            right[model] += [] if condition == "clean" else [ranks == 0]
    return {model: np.array(rows) for model, rows in right.items()}


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_the_summary_is_the_paired_t_test_of_the_means_of_images(filled, make_dataset, level):
    data = make_dataset(60, k=4)
    right = add_family(filled, data)
    (found,) = compare(filled.store, "a", "b", on="imagenet-c", level=level)
    means = {model: rows.mean(axis=0) for model, rows in right.items()}
    reference = ttest_rel(means["b"], means["a"]).confidence_interval(level)  # scipy
    assert found.difference.value == pytest.approx(right["b"].mean() - right["a"].mean())
    assert (found.difference.low, found.difference.high) == pytest.approx((reference.low, reference.high), abs=1e-12)
    assert found.accuracy_a.value == pytest.approx(right["a"].mean())
    assert (found.difference.n, found.conditions, found.left_out) == (60, CONDITIONS, ())
    at_another = ttest_rel(means["b"], means["a"]).confidence_interval(0.999)
    assert found.difference_at(0.999).low == pytest.approx(at_another.low, abs=1e-12)
    assert str(found).splitlines()[0] == (
        "imagenet-c on val, mean top-1 over 3 conditions, the 60 images that both saw under each"
    )
    assert str(found).splitlines()[-1] == "  b is worse"
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["verdict"] == "b is worse"


def test_a_corruption_of_it_and_any_spelling(filled, make_dataset):
    add_family(filled, make_dataset(20, k=4))
    (found,) = compare(filled.store, "a", "b", on="imagenet-c/fog")
    assert found.conditions == CONDITIONS[:2]
    (found,) = compare(filled.store, "a", "b", on="ImageNet_C")
    assert (found.condition, found.conditions) == ("imagenet-c", CONDITIONS)
    (found,) = compare(filled.store, "a", "b", on="imagenet-c/fog/1")
    assert found.counts.n == 20  # a member is a condition


def test_what_one_lacks_is_left_out_and_told(filled, make_dataset, right):
    data = make_dataset(10, k=4)
    for model, conditions in (("a", CONDITIONS), ("b", CONDITIONS[1:])):
        for condition in conditions:
            filled.add(data, right(5, 10), model=model, condition=condition)
    (found,) = compare(filled.store, "a", "b", on="imagenet-c")
    assert (found.conditions, found.left_out) == (CONDITIONS[1:], CONDITIONS[:1])
    assert "  left out, as one of the two lacks it: imagenet-c/fog/1" in str(found).splitlines()
    # No image differs: the interval of no disagreement, which is never of no width.
    assert found.difference == paired_difference(PairedCounts(10, 0, 0, 0))
    assert found.verdict == "no difference shown"


def test_two_data_sets_are_two_summaries_of_two_names(filled, make_dataset):
    add_family(filled, make_dataset(20, k=4, name="val"))
    add_family(filled, make_dataset(10, k=4, name="other", ids=[f"o{at}" for at in range(10)]))
    found = compare(filled.store, "a", "b", on="imagenet-c")
    assert sorted(summary.heading for summary in found) == ["imagenet-c on other", "imagenet-c on val"]


def test_other_images_under_the_same_ids_are_refused(filled, make_dataset, right):
    contents = [index.to_bytes(16, "big") for index in range(10)]
    for model in "ab":
        data = make_dataset(10, k=3, contents=[*contents[:9], model.encode() * 16])
        for condition in CONDITIONS:
            filled.add(data, right(5, 10), model=model, condition=condition)
    with pytest.raises(StoreError, match="not the same images: '0009' has other content"):
        compare(filled.store, "a", "b", on="imagenet-c")


def test_a_family_that_nobody_ran(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    for model in "ab":
        filled.add(data, right(5, 10), model=model)
    with pytest.raises(StoreError, match="have not both been run on condition 'imagenet-c'; there is: clean"):
        compare(filled.store, "a", "b", on="imagenet-c")


def test_differences_that_are_all_the_same_have_no_interval():
    estimate = mean_paired_difference(-0.2, 0.0, 5)
    assert (estimate.low, estimate.high) == (None, None)


def test_a_family_beside_a_condition_is_corrected_with_it(filled, make_dataset):
    from statsmodels.stats.multitest import multipletests

    data = make_dataset(60, k=4)
    right = add_family(filled, data)
    family, clean = compare(filled.store, "a", "b", on=["imagenet-c", "clean"])
    means = {model: rows.mean(axis=0) for model, rows in right.items()}
    assert family.test == "paired t"
    assert family.p_value == pytest.approx(ttest_rel(means["b"], means["a"]).pvalue)  # scipy
    adjusted = multipletests([family.p_value, clean.p_value], method="holm")[1]
    assert [family.p_adjusted, clean.p_adjusted] == pytest.approx(list(adjusted))
    assert str(family).splitlines()[-1].startswith("  paired t p ")
    assert str(family).splitlines()[-1].endswith(f"corrected after Holm, 2 comparisons: {family.verdict}")
