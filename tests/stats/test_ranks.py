"""Ranks and their changes: against scipy, a plain loop, and every rank of the ImageNetV2 tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata

from oodometer.core.errors import OodometerError
from oodometer.published.tables import read_table
from oodometer.stats.ranks import rank_change, rank_change_range, rank_range, ranks, swapped_pairs, top_overlap

quick = settings(deadline=None, derandomize=True, max_examples=100)
few_levels = st.integers(0, 6).map(lambda level: level / 10)
two_sets = st.integers(1, 12).flatmap(lambda m: st.tuples(*[st.lists(few_levels, min_size=m, max_size=m)] * 2))

# Recht et al. 2019, Table 15 (top-1, ImageNet and MatchedFrequency): original accuracy, new accuracy, new rank, change.
# The first 13 of 67 models, which are the first 13 on the new set too; the row is the original rank.
TABLE_15 = [
    (82.9, 72.2, 3, -2), (82.7, 72.1, 4, -2), (82.7, 72.2, 2, 1), (82.5, 72.2, 1, 3), (81.3, 70.5, 5, 0),
    (80.9, 70.3, 6, 0), (80.4, 69.7, 7, 0), (80.3, 69.6, 8, 0), (80.2, 69.3, 9, 0), (80.2, 68.8, 11, -1),
    (80.1, 69.1, 10, 1), (79.7, 68.1, 12, 0), (79.4, 67.9, 13, 0),
]  # fmt: skip


@quick
@given(two_sets)
def test_ranks_agree_with_scipy(sets):
    values = np.array(sets[0])
    # reference: scipy.stats.rankdata; "max" counts the equals too, which is the worst rank
    assert ranks(values).tolist() == rankdata(-values, method="min").tolist()
    found = rank_range(values, rounding=0)
    assert found.best.tolist() == rankdata(-values, method="min").tolist()
    assert found.worst.tolist() == rankdata(-values, method="max").tolist()


def test_the_range_is_what_all_values_that_round_to_the_published_ones_give():
    # Plain: accuracies of 1,000 images (three digits) that were published with two; every way they may have been.
    published = np.array([0.52, 0.50, 0.50, 0.49])
    inside = [np.arange(int(1000 * value) - 10, int(1000 * value) + 11) / 1000 for value in published]
    possible = [[one for one in near if round(one, 2) == value] for near, value in zip(inside, published, strict=True)]
    first = np.array([rankdata(-np.array(one), method="min") for one in itertools.product(*possible)])
    last = np.array([rankdata(-np.array(one), method="max") for one in itertools.product(*possible)])
    found = rank_range(published, rounding=0.005)
    assert found.best.tolist() == first.min(axis=0).tolist() == [1, 2, 2, 4]
    assert found.worst.tolist() == last.max(axis=0).tolist() == [1, 3, 3, 4]


@quick
@given(st.lists(st.integers(0, 1000), min_size=2, max_size=30), st.sampled_from((0, 1, 2)))
def test_true_ranks_lie_in_the_range_of_the_rounded_values(thousandths, digits):
    true = np.array(thousandths) / 1000
    found = rank_range(true.round(digits), rounding=0.5 * 10**-digits)
    order = rankdata(-true, method="ordinal")
    assert (found.best <= order).all()
    assert (order <= found.worst).all()


def test_first_rows_of_the_published_table():
    old, new, new_rank, change = np.array(TABLE_15).T
    here, there = rank_range(old / 100), rank_range(new / 100)
    place = np.arange(1, 14)
    assert ((here.best <= place) & (place <= here.worst)).all()
    assert ((there.best <= new_rank) & (new_rank <= there.worst)).all()
    assert (place - new_rank == change).all()
    allowed = rank_change_range(old / 100, new / 100)
    assert ((allowed.worst <= change) & (change <= allowed.best)).all()
    # Where no rounded values are equal the change is known: rows 5, 6, 7 and 8.
    assert rank_change(old, new)[4:8].tolist() == change[4:8].tolist() == [0, 0, 0, 0]
    assert ranks(new).tolist() != new_rank.tolist()  # three at 72.2: rounding matters


def test_the_sign_of_a_change_is_the_papers():
    # Recht et al. 2019, Table 12, ranks 4 to 6, which are 6, 4 and 5 on the new set: changes -2, 1 and 1
    old, new = np.array([97.5, 97.3, 97.1]) / 100, np.array([93.0, 93.2, 93.1]) / 100
    assert rank_change(old, new).tolist() == [-2, 1, 1]
    assert [one.tolist() for one in rank_change_range(old, new)] == [[-2, 1, 1], [-2, 1, 1]]


@quick
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30, unique=True))
def test_values_that_differ_in_the_last_digit_keep_their_order(thousandths):
    found = rank_range(np.array(thousandths) / 1000)
    assert found.best.tolist() == found.worst.tolist() == rankdata(-np.array(thousandths)).tolist()


NEW_SETS = [
    *(("cifar10", "cifar10_test", name, 34) for name in ("cifar10.1", "cifar10.1_balanced")),
    *(
        ("imagenet", f"val_{top}", f"{name}_{top}", 67)
        for name in ("matched_frequency", "threshold_0.7", "top_images")
        for top in ("top1", "top5")
    ),
]


@pytest.mark.parametrize(("table", "old_set", "new_set", "models"), NEW_SETS)
def test_every_published_rank_is_one_that_the_rounded_accuracies_allow(table, old_set, new_set, models):
    # Recht et al. 2019, Tables 11 and 12 (CIFAR-10) and 15 to 20 (ImageNet, three new sets, top-1 and top-5)
    accuracies, printed = (read_table(f"recht2019_{table}{kind}") for kind in ("", "_printed"))
    assert accuracies.models == printed.models
    assert len(accuracies.models) == models
    old, new = (accuracies.column(name) / 100 for name in (old_set, new_set))
    old_rank, new_rank, change = (
        printed.column(name).astype(int) for name in (f"{old_set}_rank", f"{new_set}_rank", f"{new_set}_rank_change")
    )
    for accuracies, published in ((old, old_rank), (new, new_rank)):
        assert sorted(published) == list(range(1, models + 1))  # equals do not share a rank
        found = rank_range(accuracies)
        assert ((found.best <= published) & (published <= found.worst)).all()
        assert (found.best < found.worst).any()
    assert (old_rank - new_rank == change).all()
    allowed = rank_change_range(old, new)
    assert ((allowed.worst <= change) & (change <= allowed.best)).all()


@quick
@given(two_sets)
def test_swapped_pairs_by_a_plain_loop(sets):
    old, new = sets
    pairs = itertools.combinations(range(len(old)), 2)
    assert swapped_pairs(*sets) == sum((old[i] - old[j]) * (new[i] - new[j]) < 0 for i, j in pairs)


def test_swapped_pairs_without_ties_are_what_is_missing_from_kendalls_tau():
    rng = np.random.default_rng(3)
    old, new = rng.random(40), rng.random(40)
    # closed form: tau = 1 - 2 swapped / pairs, with scipy.stats.kendalltau
    assert swapped_pairs(old, new) == round((1 - kendalltau(old, new).statistic) / 2 * 40 * 39 / 2)
    assert swapped_pairs(old, old) == 0
    assert swapped_pairs(old, -old) == 40 * 39 / 2


@quick
@given(two_sets, st.data())
def test_top_overlap_is_the_mean_over_all_orders_of_equals(sets, data):
    old, new = (np.array(one[:5]) for one in sets)
    k = data.draw(st.integers(1, len(old)))

    def tops(values: np.ndarray) -> list[set[int]]:
        orders = itertools.permutations(range(len(values)))
        return [set(one[:k]) for one in orders if (np.diff(values[list(one)]) <= 0).all()]

    shares = [len(a & b) / k for a in tops(old) for b in tops(new)]
    assert top_overlap(old, new, k) == pytest.approx(np.mean(shares))


def test_top_overlap_of_all_models_is_whole():
    assert top_overlap(np.array([0.1, 0.2, 0.2]), np.array([0.3, 0.1, 0.2]), 3) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ranks(np.array([])), "values of shape (0,): ranks need one for each of one or more models"),
        (lambda: ranks(np.ones((2, 2))), "values of shape (2, 2): ranks need one for each of one or more models"),
        (lambda: ranks(np.array([0.1, np.nan])), "1 of 2 values are NaN: leave these models out"),
        (lambda: rank_range(np.ones(2), rounding=-1), "rounding -1: must be 0 or more, for example 0.0005"),
        (
            lambda: rank_change(np.ones(2), np.ones(3)),
            "2 models on the old set but 3 on the new one: ranks need the same",
        ),
        (lambda: top_overlap(np.ones(2), np.ones(2), 3), "top 3 of 2 models: must lie between 1 and 2"),
        (lambda: top_overlap(np.ones(2), np.ones(2), 0), "top 0 of 2 models: must lie between 1 and 2"),
    ],
)
def test_what_has_no_rank_is_an_error(make, message):
    with pytest.raises(OodometerError) as caught:
        make()
    assert str(caught.value) == message


def test_one_model_is_the_first():
    assert ranks(np.array([0.3])).tolist() == [1]
    assert swapped_pairs(np.array([0.3]), np.array([0.1])) == 0
