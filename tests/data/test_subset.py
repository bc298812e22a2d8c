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


@given(
    labels=st.lists(st.integers(-1, 6), min_size=2, max_size=80),
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 5),
    order=st.randoms(use_true_random=False),
)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_proportional_and_independent_of_the_order(labels, share, seed, order):
    data = data_of([*labels, 0])
    n = max(1, int(share * len(data)))
    chosen = stratified(data, n, seed=seed)
    assert len(chosen) == n
    for label in np.unique(data.labels):
        exact = n * (data.labels == label).mean()
        assert np.floor(exact - 1e-9) <= (chosen.labels == label).sum() <= np.ceil(exact + 1e-9)
    shuffled = list(range(len(data)))
    order.shuffle(shuffled)
    assert set(stratified(data.take(np.array(shuffled)), n, seed=seed).ids) == set(chosen.ids)


def test_the_order_is_the_data_sets_own():
    data = data_of(np.arange(100) % 10)
    chosen = stratified(data, 30)
    assert chosen.rows.tolist() == sorted(chosen.rows.tolist())
    assert np.bincount(chosen.labels).tolist() == [3] * 10
    assert chosen.title == "val[30, seed 0]"


def test_seeds_differ_and_repeat():
    data = data_of(np.arange(100) % 10)
    assert stratified(data, 30, seed=1).ids == stratified(data, 30, seed=1).ids
    assert stratified(data, 30, seed=1).ids != stratified(data, 30, seed=2).ids


def test_equal_remainders_do_not_favour_the_first_classes():
    data = data_of(np.arange(1000))
    chosen = stratified(data, 100)
    # the mean of 100 of 0..999 drawn fairly is 499.5 with a standard error of 27
    assert abs(chosen.labels.mean() - 499.5) < 4 * 27


def test_a_subset_of_everything_is_everything():
    data = data_of([0, 1])
    assert stratified(data, 2) is data
    assert stratified(data, 5) is data


@pytest.mark.parametrize("n", [0, -3])
def test_less_than_one_is_an_error(error_of, n):
    assert error_of(lambda: stratified(data_of([0, 1]), n)) == f"a subset of {n} images: ask for at least 1"
