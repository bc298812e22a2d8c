import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.core.dataset import Dataset
from oodometer.core.labels import numbered
from oodometer.data.subset import stratified


class NoImages:
    """A source that is never asked."""


def data_of(labels):
    labels = np.asarray(labels)
    ids = tuple(f"{label}/{place}" for place, label in enumerate(labels.tolist()))
    return Dataset("val", ids, labels, numbered(int(labels.max()) + 1), NoImages(), np.arange(len(ids)))


def shares_are_rounded(data, chosen):
    for label in np.unique(data.labels):
        exact = len(chosen) * (data.labels == label).sum() / len(data)
        assert np.floor(exact - 1e-9) <= (chosen.labels == label).sum() <= np.ceil(exact + 1e-9)


def labels_of(sizes):
    return [label for label, size in enumerate(sizes, start=-1) for _ in range(size)]


@given(
    labels=st.lists(st.integers(-1, 6), min_size=2, max_size=80),
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 5),
    order=st.randoms(use_true_random=False),
)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_independent_of_the_order(labels, share, seed, order):
    data = data_of([*labels, 0])
    n = max(1, int(share * len(data)))
    shuffled = list(range(len(data)))
    order.shuffle(shuffled)
    chosen = stratified(data, n, seed=seed)
    assert set(stratified(data.take(np.array(shuffled)), n, seed=seed).ids) == set(chosen.ids)


# Sizes far apart, and many classes of the same: there largest remainders are not nested, and plain orders of priority
# not proportional.
@given(
    sizes=st.lists(st.one_of(st.integers(0, 2), st.integers(0, 20)), min_size=2, max_size=12),
    seed=st.integers(0, 5),
)
@settings(deadline=None, derandomize=True, max_examples=40)
def test_every_subset_is_proportional_and_lies_within_the_larger_ones(sizes, seed):
    data = data_of([*labels_of(sizes), 0, 1])
    smaller = set()
    for n in range(1, len(data) + 1):
        chosen = stratified(data, n, seed=seed)
        assert len(chosen) == n
        assert smaller < set(chosen.ids)
        shares_are_rounded(data, chosen)
        smaller = set(chosen.ids)


@pytest.mark.parametrize("sizes", [[6, 6, 2], [100, *[1] * 100], [1, 10, 300], [10] * 20])
def test_where_other_ways_of_sharing_out_fail(sizes):
    """Of 6, 6 and 2 largest remainders give the last class 2 of 10 and 1 of 11, the Alabama paradox."""
    data = data_of(labels_of(sizes))
    smaller = set()
    for n in range(1, len(data), max(1, len(data) // 40)):
        chosen = stratified(data, n)
        assert smaller < set(chosen.ids)
        shares_are_rounded(data, chosen)
        smaller = set(chosen.ids)


def test_the_order_is_the_data_sets_own():
    data = data_of(np.arange(100) % 10)
    chosen = stratified(data, 30)
    assert chosen.rows.tolist() == sorted(chosen.rows.tolist())
    assert np.bincount(chosen.labels).tolist() == [3] * 10
    assert (chosen.name, chosen.subset, chosen.title) == ("val", "30, seed 0", "val[30, seed 0]")


def test_seeds_differ_and_repeat():
    data = data_of(np.arange(100) % 10)
    assert stratified(data, 30, seed=1).ids == stratified(data, 30, seed=1).ids
    assert stratified(data, 30, seed=1).ids != stratified(data, 30, seed=2).ids


def test_equal_remainders_do_not_favour_the_first_classes():
    data = data_of(np.arange(1000))
    chosen = stratified(data, 100)
    # the mean of 100 of 0..999 drawn fairly is 499.5 with a standard error of 27
    assert abs(chosen.labels.mean() - 499.5) < 4 * 27


def test_neither_large_nor_small_classes_are_favoured():
    data = data_of([0] * 7 + [1] * 3)
    n_small = [int((stratified(data, 2, seed=seed).labels == 1).sum()) for seed in range(400)]
    # The exact share is 0.6 of 1 image, and none or one is chosen: a coin with a standard error of 0.0245.
    assert set(n_small) == {0, 1}
    assert abs(np.mean(n_small) - 0.6) < 4 * 0.0245


def test_many_small_classes_together_have_their_share():
    data = data_of([*np.repeat(np.arange(10), 70), *np.repeat(np.arange(10, 80), 5)])
    n_small = [int((stratified(data, 40, seed=seed).labels >= 10).sum()) for seed in range(40)]
    # 350 of 1,050 images: 13.33 of 40; of classes that are drawn independently, with a standard error of 0.52
    assert abs(np.mean(n_small) - 40 / 3) < 4 * 0.52


def test_a_subset_of_everything_is_everything():
    data = data_of([0, 1])
    assert stratified(data, 2) is data
    assert stratified(data, 5) is data


@pytest.mark.parametrize("n", [0, -3])
def test_less_than_one_is_an_error(error_of, n):
    assert error_of(lambda: stratified(data_of([0, 1]), n)) == f"a subset of {n} images: ask for at least 1"
