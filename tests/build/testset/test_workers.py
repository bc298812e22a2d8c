"""The quality of workers: the test against every possible guess, Holm, and who is called a spammer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from made_answers import from_table, tables, world
from oodometer.build.testset.workers import p_of_guessing, spammers, worker_qualities

quick = settings(deadline=None, derandomize=True, max_examples=100)
rates = st.sampled_from([0.0, 0.1, 0.37, 0.5, 0.9, 1.0])


@quick
@given(st.integers(0, 4), st.integers(0, 4), rates)
def test_guessing_by_listing_all_answers_that_can_be_given(positive, negative, rate):
    truth = [True] * positive + [False] * negative
    chances = [0.0] * (len(truth) + 1)
    for says in itertools.product([True, False], repeat=len(truth)):
        right = sum(one == other for one, other in zip(says, truth, strict=True))
        chances[right] += np.prod([rate if one else 1 - rate for one in says])
    for right in range(len(truth) + 1):
        assert p_of_guessing(right, positive, negative, rate) == pytest.approx(sum(chances[right:]), abs=1e-12)


@pytest.mark.parametrize("right", [0, 3, 17, 25])
def test_controls_of_one_kind_are_the_binomial_test(right):
    # reference: scipy.stats.binomtest
    for rate, negative in ((0.3, False), (0.8, True)):
        chance = 1 - rate if negative else rate
        reference = binomtest(right, 25, chance, alternative="greater").pvalue
        counts = (0, 25) if negative else (25, 0)
        assert p_of_guessing(right, *counts, rate) == pytest.approx(reference, rel=1e-10)


def test_many_controls_do_not_run_out_of_digits():
    # closed form: all right at a rate of one half
    assert p_of_guessing(1000, 500, 500, 0.5) == pytest.approx(0.5**1000, rel=1e-9)


@quick
@given(tables(), st.data())
def test_every_worker_against_a_plain_loop(table, data):
    known = np.array(data.draw(st.lists(st.integers(-1, 1), min_size=len(table), max_size=len(table))))
    found = worker_qualities(from_table(table, known))
    for worker, one in enumerate(found):
        column = table[:, worker]
        asked = column[column >= 0]
        hits, shown = sum((column == 1) & (known == 1)), sum((column >= 0) & (known == 1))
        noes, near = sum((column == 0) & (known == 0)), sum((column >= 0) & (known == 0))
        for share, part, whole in ((one.hits, hits, shown), (one.rejections, noes, near)):
            assert (share is None) == (whole == 0)
            assert share is None or (share.value, share.n, share.interval) == (part / whole, whole, "wilson 95%")
        assert one.selecting is None if len(asked) == 0 else one.selecting.value == np.mean(asked == 1)
        if shown and near:
            assert one.informedness.value == pytest.approx(hits / shown + noes / near - 1, abs=1e-12)
        else:
            assert one.informedness is None
        if shown + near == 0:
            assert (one.p_value, one.adjusted, one.verdict) == (None, None, "undecided")
        else:
            assert one.p_value == p_of_guessing(int(hits + noes), int(shown), int(near), float(np.mean(asked == 1)))


def test_all_workers_who_saw_a_control_are_corrected_together():
    table = np.random.default_rng(3).integers(-1, 2, (30, 9))
    table[:20, 4] = -1  # no controls
    found = worker_qualities(from_table(table, np.repeat([0, 1, -1], 10)))
    # reference: statsmodels' correction after Holm
    reference = multipletests([one.p_value for one in found if one.p_value is not None], method="holm")[1]
    assert [one.adjusted for one in found if one.worker != 4] == pytest.approx(list(reference), abs=1e-12)
    assert found[4].adjusted is None


@quick
@given(tables(), st.permutations(range(8)), st.permutations(range(5)))
def test_the_order_of_images_and_workers_does_not_matter(table, images, workers):
    known = np.arange(len(table)) % 3 - 1
    images = [one for one in images if one < table.shape[0]]
    workers = [one for one in workers if one < table.shape[1]]
    before = worker_qualities(from_table(table, known))
    after = worker_qualities(from_table(table[images][:, workers], known[images]))
    for one, at in zip(after, workers, strict=True):
        assert (one.hits, one.rejections, one.verdict) == (before[at].hits, before[at].rejections, before[at].verdict)
        assert (one.p_value, one.adjusted) == (before[at].p_value, pytest.approx(before[at].adjusted))


def qualities_of(columns, n_controls=40):
    """Of workers whose answers about controls, every second of which shows the class, are these."""
    return worker_qualities(from_table(np.array(columns).T, (np.arange(n_controls) + 1) % 2))


def test_who_is_a_spammer():
    truth = (np.arange(40) + 1) % 2
    always, never, alternating = np.ones(40), np.zeros(40), np.arange(40) // 2 % 2
    found = qualities_of([truth, always, never, alternating, 1 - truth])
    assert [one.verdict for one in found] == ["better than guessing"] + ["spammer"] * 4
    assert spammers(found).tolist() == [False, True, True, True, True]
    # closed forms: hits minus false alarms
    assert [one.informedness.value for one in found] == [1, 0, 0, 0, -1]
    # whoever always says the same is right as often as a guesser of that rate always is
    assert [one.p_value for one in found[1:3]] == [1, 1]


def test_few_controls_are_no_verdict():
    truth = np.array([1, 0] * 3)
    found = qualities_of([truth] + [np.ones(6)] * 4, 6)
    # 1/64 of one worker is 5/64 of five: more than 5 %, and of six controls the best guesser may still be good
    assert found[0].p_value == pytest.approx(1 / 64)
    assert found[0].adjusted == pytest.approx(5 / 64)
    assert [one.verdict for one in found] == ["undecided"] * 5


def test_controls_of_one_kind_alone_make_nobody_a_spammer():
    found = worker_qualities(from_table(np.ones((60, 2), dtype=np.int64), np.ones(60)))
    assert [one.verdict for one in found] == ["undecided"] * 2


def test_the_spammers_among_thirty_workers():
    rng = np.random.default_rng(5)
    sensitivity, specificity = rng.uniform(0.8, 0.98, (2, 30))
    sensitivity[:5] = [0.1, 0.3, 0.5, 0.7, 0.9]
    specificity[:5] = 1 - sensitivity[:5]
    made = world(sensitivity, specificity, n_images=1200, n_per_image=10, n_controls=200, seed=5)
    found = worker_qualities(made.answers)
    assert np.flatnonzero(spammers(found)).tolist() == [0, 1, 2, 3, 4]
    assert [one.verdict for one in found].count("better than guessing") == 25


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 0.8])
@pytest.mark.parametrize(
    ("positive", "negative", "candidates"), [(3, 3, 42), (12, 12, 168), (20, 5, 100), (30, 30, 400)]
)
def test_guessers_seldom_pass(rate, positive, negative, candidates):
    """By simulation: of 2,000 guessers at most one in twenty is told from one, though their rate is estimated."""
    rng = np.random.default_rng(1)
    n = positive + negative + candidates
    passed = 0
    for _ in range(2000):
        says = rng.random(n) < rate
        right = says[:positive].sum() + (~says[positive : positive + negative]).sum()
        passed += p_of_guessing(int(right), positive, negative, float(says.mean())) <= 0.05
    assert binomtest(passed, 2000, 0.05, alternative="greater").pvalue > 0.001
