"""Comparisons: who is better on the same images, and everything that is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar

from oodometer.analysis.compare import compare, compare_cells
from oodometer.analysis.judged_pair import CompareOptions
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.store.index import look
from oodometer.store.look_at_cell import look_at


def ranks_of(both: int, only_a: int, only_b: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of two models that are right together, alone, or not at all."""
    blocks = [(0, 0)] * both + [(0, 1)] * only_a + [(1, 0)] * only_b + [(1, 1)] * neither
    a, b = np.array(blocks).T
    return a, b


def add_two(filled, data, counts: tuple[int, int, int, int]) -> None:
    a, b = ranks_of(*counts)
    filled.add(data, a, model="a")
    filled.add(data, b, model="b", digest="b" * 32)


def message_of(kind, make) -> str:
    with pytest.raises(kind) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_comparison_is_counts_of_numpy_and_tests_of_others(filled, make_dataset):
    rng = np.random.default_rng(5)
    data = make_dataset(300, k=4, labels=rng.integers(-1, 4, 300))
    a, b = rng.integers(0, 3, 300), rng.integers(0, 2, 300)
    filled.add(data, a, model="a")
    filled.add(data, b, model="b")
    (found,) = compare(filled.store, "a", "b")
    labelled = data.labels >= 0
    good_a, good_b = (a == 0)[labelled], (b == 0)[labelled]
    n = int(labelled.sum())
    counts = PairedCounts(
        int((good_a & good_b).sum()),
        int((good_a & ~good_b).sum()),
        int((~good_a & good_b).sum()),
        int((~good_a & ~good_b).sum()),
    )
    assert found.counts == counts
    assert (found.n_a, found.n_b, found.counts.n) == (n, n, n)
    for estimate, good in ((found.accuracy_a, good_a), (found.accuracy_b, good_b)):
        bounds = binomtest(int(good.sum()), n).proportion_ci()  # reference: scipy
        assert estimate.value == good.mean()
        assert (estimate.low, estimate.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
    assert found.difference.value == pytest.approx(good_b.mean() - good_a.mean())
    assert found.difference == paired_difference(counts)  # itself tested against a numerical likelihood
    table = [[counts.both, counts.only_a], [counts.only_b, counts.neither]]
    assert found.p_value == pytest.approx(float(mcnemar(table, exact=True).pvalue), abs=1e-12)  # statsmodels


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ((60, 2, 20, 18), "b is better"),
        ((60, 20, 2, 18), "b is worse"),
        ((60, 10, 12, 18), "no difference shown"),
        ((80, 0, 0, 20), "no difference shown"),
        ((0, 100, 0, 0), "b is worse"),
        ((0, 0, 100, 0), "b is better"),
        # 5 to 0: the exact p is 2 / 2^5 = 0.0625, though Tango's interval leaves out 0: the exact test decides
        ((85, 0, 5, 10), "no difference shown"),
    ],
)
def test_verdicts(filled, make_dataset, counts, verdict):
    add_two(filled, make_dataset(100, k=3), counts)
    (found,) = compare(filled.store, "a", "b")
    assert found.verdict == verdict
    (turned,) = compare(filled.store, "b", "a")
    assert turned.difference.value == -found.difference.value
    assert turned.p_value == pytest.approx(found.p_value)
    opposite = {"b is better": "a is worse", "b is worse": "a is better"}
    assert turned.verdict == opposite.get(verdict, verdict)


def test_the_text_to_the_letter(filled, make_dataset):
    add_two(filled, make_dataset(100, k=3), (80, 2, 8, 10))
    (found,) = compare(filled.store, "a", "b")
    # binomtest(82, 100) and (88, 100).proportion_ci(), binomtest(2, 10).pvalue of scipy; Tango's bounds: the doctest of
    # paired_difference, checked in tests/stats; same answer: binomtest(90, 100); kappa: tests/stats
    assert str(found).splitlines() == [
        "clean on val, top-1, the 100 images that both saw",
        "  a           0.8200 [0.7305, 0.8897]  n=100",
        "  b           0.8800 [0.7998, 0.9364]  n=100",
        "  difference  +0.0600 [-0.0024, +0.1336]  n=100  (tango score 95%)",
        "  only a right 2, only b right 8, both 80, neither 10",
        "  same answer 0.9000 [0.8238, 0.9510], error consistency κ 0.6106 [0.3657, 0.8100]",
        "  exact McNemar p = 0.109: no difference shown",
    ]


def test_json_is_json(filled, make_dataset):
    add_two(filled, make_dataset(100, k=3), (80, 2, 8, 10))
    (found,) = compare(filled.store, "a", "b")
    back = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert back == found.as_json()
    assert back["verdict"] == "no difference shown"
    assert back["counts"] == {"both": 80, "only_a": 2, "only_b": 8, "neither": 10}


def test_the_level_is_that_of_all_intervals(filled, make_dataset):
    add_two(filled, make_dataset(100, k=3), (80, 2, 8, 10))
    (found,) = compare(filled.store, "a", "b", level=0.9)
    assert found.accuracy_a.interval == "clopper-pearson 90%"
    assert found.difference.interval == "tango score 90%"


def test_a_p_value_that_underflows_is_not_nought(filled, make_dataset):
    add_two(filled, make_dataset(1200, k=3), (0, 1200, 0, 0))
    (found,) = compare(filled.store, "a", "b")
    assert found.p_value < 1e-300  # closed form: 2 / 2^1200
    assert "  exact McNemar p < 1e-300: b is worse" in str(found).splitlines()


def test_no_two_headings_are_the_same(filled, make_dataset, right):
    """Two sets of one name, and two conditions of one name on the same data."""
    first = make_dataset(10, k=3, name="iid")
    second = make_dataset(10, k=3, ids=[f"o{at}" for at in range(10)], name="iid")
    for model in "ab":
        for data in (first, second):
            filled.add(data, right(5, 10), model=model)
            filled.add(data, right(5, 10), model=model, label_map="f" * 32)
    comparisons = compare(filled.store, "a", "b")
    headings = [comparison.heading for comparison in comparisons]
    assert len(headings) == len(set(headings)) == 4
    assert all(any(digest in heading for digest in (first.digest[:8], second.digest[:8])) for heading in headings)
    asked = f"clean@iid@{second.digest[:8]}"
    assert len(compare(filled.store, "a", "b", on=asked)) == 2


def test_several_conditions_are_named_once_each(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    for model in "ab":
        for condition in ("clean", "fog/1", "fog/2"):
            filled.add(data, right(5, 10), model=model, condition=condition)
    found = compare(filled.store, "a", "b", on=["fog/2", "clean", "clean@val"])
    assert [comparison.condition for comparison in found] == ["fog/2", "clean"]


def test_a_model_that_saw_a_part_is_compared_on_that_part(filled, make_dataset, right):
    data = make_dataset(100, k=3)
    filled.add(data, right(70, 100), model="a")
    filled.add(data, right(40, 50), model="b", positions=range(50), finished=False)
    (found,) = compare(filled.store, "a", "b")
    assert (found.counts.n, found.n_a, found.n_b) == (50, 100, 50)
    assert (found.accuracy_a.value, found.accuracy_b.value) == (1.0, 0.8)
    assert str(found).startswith("clean on val, top-1, the 50 images that both saw")


def test_subsets_are_compared_on_the_images_in_common(filled, make_dataset, right):
    whole = make_dataset(100, k=3)
    some = whole.take(np.arange(20, 60), name="some")
    filled.add(whole, right(30, 100), model="a")
    filled.add(some, right(40, 40), model="b")
    (found,) = compare(filled.store, "a", "b")
    assert found.counts == PairedCounts(both=10, only_a=0, only_b=30, neither=0)
    assert found.data == "val and some"
    assert (found.n_a, found.n_b) == (100, 40)


def test_the_same_data_are_preferred(filled, make_dataset, right):
    whole = make_dataset(100, k=3)
    some = whole.take(np.arange(40), name="some")
    for model in "ab":
        filled.add(whole, right(50, 100), model=model)
    filled.add(some, right(20, 40), model="a")
    assert [(one.data, one.counts.n) for one in compare(filled.store, "a", "b")] == [("val", 100)]


def test_every_common_condition_or_one(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    for model in "ab":
        for condition in ("clean", "fog/1"):
            filled.add(data, right(5, 10), model=model, condition=condition)
    filled.add(data, right(5, 10), model="a", condition="snow/1")
    assert [one.condition for one in compare(filled.store, "a", "b")] == ["clean", "fog/1"]
    assert [one.condition for one in compare(filled.store, "a", "b", on="fog/1")] == ["fog/1"]
    assert message_of(StoreError, lambda: compare(filled.store, "a", "b", on="snow/1")) == (
        f"{filled.store}: a and b have not both been run on condition 'snow/1'; there is: clean, fog/1, snow/1"
    )


def test_no_condition_in_common(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    filled.add(data, right(5, 10), model="a", condition="clean")
    filled.add(data, right(5, 10), model="b", condition="fog/1")
    assert message_of(StoreError, lambda: compare(str(filled.store), "a", "b")) == (
        f"{filled.store}: a and b have not both been run on a condition; there is: clean, fog/1"
    )


def test_other_content_under_the_same_id_is_refused(filled, make_dataset, right):
    contents = [index.to_bytes(16, "big") for index in range(10)]
    filled.add(make_dataset(10, k=3, contents=contents), right(5, 10), model="a")
    contents[7] = b"another picture!"
    filled.add(make_dataset(10, k=3, contents=contents), right(5, 10), model="b")
    assert message_of(StoreError, lambda: compare(filled.store, "a", "b")) == (
        "a and b on clean: not the same images: '0007' has other content in the two runs"
    )


def test_other_labels_are_refused(filled, make_dataset, right):
    filled.add(make_dataset(4, k=3, labels=[0, 1, 2, 0]), right(2, 4), model="a")
    filled.add(make_dataset(4, k=3, labels=[0, 1, 2, 1]), right(2, 4), model="b")
    assert message_of(StoreError, lambda: compare(filled.store, "a", "b")) == (
        "a and b on clean: not the same labels: '0003' has another label in the two runs"
    )


def test_the_same_classes_under_other_numbers_are_the_same_labels(filled, make_dataset, right):
    pets, sorted_otherwise = LabelSpace("pets", ("cat", "dog")), LabelSpace("pets", ("dog", "cat"))
    filled.add(make_dataset(4, labels=[0, 1, 0, 1], space=pets), right(2, 4), model="a")
    filled.add(make_dataset(4, labels=[1, 0, 1, 0], space=sorted_otherwise), right(3, 4), model="b")
    (found,) = compare(filled.store, "a", "b")
    assert (found.accuracy_a.value, found.accuracy_b.value) == (0.5, 0.75)
    assert found.agreement is None  # the same class has two numbers, so equal numbers say nothing


def test_nothing_in_common_is_refused(filled, make_dataset, right):
    filled.add(make_dataset(4, k=3), right(2, 4), model="a")
    filled.add(make_dataset(5, k=3, ids=["v", "w", "x", "y", "z"], name="v2"), right(2, 5), model="b")
    assert message_of(StoreError, lambda: compare(filled.store, "a", "b")) == (
        "a and b on clean: no labelled image in common (val: 4, v2: 5)"
    )


def test_a_model_is_not_compared_with_itself(filled, make_dataset):
    add_two(filled, make_dataset(100, k=3), (80, 2, 8, 10))
    assert message_of(UsageError, lambda: compare(filled.store, "a", "a")) == ("a and a are the same model: name two")
    assert message_of(UsageError, lambda: compare(filled.store, "a", "a@aaaa")) == (
        "a and a@aaaa are the same model: name two"
    )


def test_an_unknown_name(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    filled.add(data, right(5, 10), model="resnet50")
    filled.add(data, right(5, 10), model="vit")
    assert message_of(UsageError, lambda: compare(filled.store, "resent50", "vit")) == (
        f"{filled.store}: no predictions of a model named 'resent50'; did you mean resnet50?"
    )
    assert message_of(UsageError, lambda: compare(filled.store, "vit", "zzz")) == (
        f"{filled.store}: no predictions of a model named 'zzz'; known: resnet50, vit"
    )
    assert "no predictions of a model named 'vit@ffff'" in message_of(
        UsageError, lambda: compare(filled.store, "resnet50", "vit@ffff")
    )


def test_several_weights_under_one_name_are_named_by_digest(filled, make_dataset, right):
    data = make_dataset(100, k=3)
    filled.add(data, right(50, 100), digest="1" * 32)
    filled.add(data, right(90, 100), digest="2" * 32)
    filled.add(data, right(70, 100), model="other", digest="3" * 32)
    assert message_of(UsageError, lambda: compare(filled.store, "mine", "other")) == (
        f"{filled.store}: mine stands for several models; say which: mine@11111111, mine@22222222"
    )
    (found,) = compare(filled.store, "mine@22222222", "other")
    assert (found.model_a, found.accuracy_a.value) == ("mine", 0.9)
    (found,) = compare(filled.store, "mine@1", "mine@2")
    assert (found.accuracy_a.value, found.accuracy_b.value) == (0.5, 0.9)
    assert found.verdict == "mine@22222222 is better"
    assert "only mine@11111111 right 0, only mine@22222222 right 40" in str(found)


def test_a_name_may_hold_an_at_sign(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    filled.add(data, right(5, 10), model="net@v2")
    filled.add(data, right(6, 10), model="net@v1", digest="c" * 32)
    (found,) = compare(filled.store, "net@v1", "net@v2")
    assert (found.model_a, found.model_b) == ("net@v1", "net@v2")


def test_a_model_that_has_only_begun_is_told(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    filled.add(data, right(5, 10), model="a")
    cell = filled.add(data, right(5, 10), model="b")
    (rows,) = look_at(filled.store, cell.key).files
    filled.store.files.remove(rows.path)
    assert message_of(StoreError, lambda: compare(filled.store, "a", "b")) == (
        f"{filled.store}: no predictions of b on clean yet; run it again"
    )


def test_two_precisions_of_one_model_must_be_told_apart(filled, make_dataset, right):
    data = make_dataset(10, k=3)
    filled.add(data, right(5, 10), model="a")
    cells = [
        filled.add(data, right(hits, 10), model="b", precision=how) for hits, how in ((6, "float32"), (7, "mixed"))
    ]
    with pytest.raises(
        UsageError,
        match=r"b stands for several models; say which: b \(float32\), b \(mixed\)",
    ):
        compare(filled.store, "a", "b")
    for name in (f"b@{cells[1].key[:8]}", "b (mixed)"):
        (found,) = compare(filled.store, "a", name)
        assert found.accuracy_b.value == 0.7


def test_data_without_a_common_image_are_passed_over_where_others_have_some(filled, make_dataset, right):
    whole = make_dataset(20, k=3)
    left, last = whole.take(np.arange(10), name="left"), whole.take(np.arange(12, 20), name="last")
    filled.add(left, right(10, 10), model="a")
    filled.add(whole.take(np.arange(5, 11), name="middle"), right(3, 6), model="b")
    filled.add(last, right(8, 8), model="b")
    assert [(one.data, one.counts.n) for one in compare(filled.store, "a", "b")] == [("left and middle", 5)]


def test_a_level_beyond_any_bootstrap(filled, make_dataset):
    add_two(filled, make_dataset(100, k=3), (80, 2, 8, 10))
    (found,) = compare(filled.store, "a", "b", level=0.9999999)
    assert found.error_consistency.low is None
    assert found.difference.low < found.difference.high


def test_two_cells_alone_are_compared_like_all_of_two_models(filled, make_dataset, right):
    data, others = make_dataset(20), make_dataset(20, ids=[f"o{at}" for at in range(20)], name="others")
    a, b = filled.add(data, right(12, 20), model="a"), filled.add(data, right(15, 20), model="b", digest="b" * 32)
    assert [compare_cells(look(filled.store), a, b)] == compare(filled.store, "a", "b")
    apart = filled.add(others, right(15, 20), model="c", digest="c" * 32)
    with pytest.raises(StoreError, match=r"^a and c on clean: no labelled image in common$"):
        compare_cells(look(filled.store), a, apart)


def three_conditions(filled, make_dataset):
    """Two models of which B is better, worse, and about as good."""
    data = make_dataset(200, k=3)
    for condition, counts in {
        "clean": (150, 5, 20, 25),
        "fog/1": (120, 30, 10, 40),
        "fog/2": (100, 20, 22, 58),
    }.items():
        a, b = ranks_of(*counts)
        filled.add(data, a, model="a", condition=condition)
        filled.add(data, b, model="b", digest="b" * 32, condition=condition)
    return filled.store


@pytest.mark.parametrize(("correct", "name"), [("holm", "holm"), ("benjamini-hochberg", "fdr_bh")])
def test_several_comparisons_are_corrected(filled, make_dataset, correct, name):
    from statsmodels.stats.multitest import multipletests

    store = three_conditions(filled, make_dataset)
    found = compare(store, "a", "b", options=CompareOptions(correct=correct))
    reference = multipletests([one.p_value for one in found], method=name)[1]
    assert [one.p_adjusted for one in found] == pytest.approx(list(reference))
    for one in found:
        assert one.correction == f"corrected after {correct.title()}, 3 comparisons"
        told = one.p_adjusted <= 0.05
        assert one.verdict == (
            f"b is {'better' if one.difference.value > 0 else 'worse'}" if told else "no difference shown"
        )
    last = str(found[0]).splitlines()[-1]
    assert last == (
        f"  exact McNemar p = {found[0].p_value:.3g}, = {reference[0]:.3g} corrected after {correct.title()}, "
        f"3 comparisons: {found[0].verdict}"
    )


def test_one_comparison_or_none_asked_for_is_not_corrected(filled, make_dataset):
    store = three_conditions(filled, make_dataset)
    (alone,) = compare(store, "a", "b", on="clean")
    assert (alone.p_adjusted, alone.correction) == (None, "")
    plain = compare(store, "a", "b", options=CompareOptions(correct="none"))
    assert [one.p_adjusted for one in plain] == [None] * 3
    assert plain[0] == alone


def test_mid_p_decides_where_it_is_asked_for(filled, make_dataset):
    # 5 to 0: exact p is 2 / 2^5 = 0.0625; of mid-p half of that
    add_two(filled, make_dataset(100, k=3), (85, 0, 5, 10))
    (found,) = compare(filled.store, "a", "b", options=CompareOptions(test="mid-p"))
    assert (found.p_value, found.test, found.verdict) == (0.03125, "mid-p McNemar", "b is better")


def test_a_bootstrap_of_classes_is_wider_where_classes_differ(filled, make_dataset):
    data = make_dataset(600, k=20)
    by_class = np.random.default_rng(0).normal(0, 0.25, 20)[data.labels]
    own = np.random.default_rng(1).random((2, 600))
    filled.add(data, (own[0] > 0.6).astype(int), model="a")
    filled.add(data, (own[1] > 0.7 + by_class).astype(int), model="b", digest="b" * 32)
    images, classes = (
        compare(filled.store, "a", "b", options=CompareOptions(test=test, draws=2000))[0].difference
        for test in ("bootstrap", "bootstrap-by-class")
    )
    assert images.value == classes.value
    assert classes.high - classes.low > 1.3 * (images.high - images.low)
