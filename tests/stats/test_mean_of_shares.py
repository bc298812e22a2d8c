"""The mean of several shares: exact where one formula is known, and its interval by simulation elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.core.errors import OodometerError
from oodometer.stats.intervals import difference_of, share_of
from oodometer.stats.mean_of_shares import Answers, mean_of_differences, mean_of_shares


def answers(right: list[int] | np.ndarray, first: int = 0) -> Answers:
    hits = np.asarray(right, dtype=bool)
    return Answers(np.arange(first, first + len(hits)), hits)


def ends(estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


# reference: scipy's Clopper-Pearson interval of the counts
@pytest.mark.parametrize(("hits", "n"), [(7, 50), (0, 12), (12, 12), (49, 50)])
def test_one_share_and_equal_shares_of_other_images_are_as_exact_ones(hits, n):
    right = [1] * hits + [0] * (n - hits)
    once = binomtest(hits, n).proportion_ci(method="exact")
    assert ends(mean_of_shares([answers(right)])) == pytest.approx((hits / n, once.low, once.high))
    twice = mean_of_shares([answers(right), answers(right, first=n)])
    if 0 < hits < n:  # where all are right, nothing tells that the two vary alike: the fewest count
        both = binomtest(2 * hits, 2 * n).proportion_ci(method="exact")
        assert ends(twice) == pytest.approx((hits / n, both.low, both.high))
    assert twice.n == 2 * n
    # The same answers to the same images once more tell nothing new.
    assert ends(mean_of_shares([answers(right)] * 3)) == pytest.approx((hits / n, once.low, once.high))


def test_the_mean_is_plain_however_many_images_each_has():
    estimate = mean_of_shares([answers([1] * 10), answers([0, 0], first=10)])
    assert (estimate.value, estimate.n, estimate.interval) == (0.5, 12, "korn-graubard 95%")


# reference: difference_of, Newcombe's way, of the two exact intervals
def test_a_difference_of_other_images_is_newcombes():
    a, b = [1] * 80 + [0] * 20, [1] * 30 + [0] * 20
    found = mean_of_differences([answers(a)], [answers(b, first=100)])
    expected = difference_of(share_of(80, 100), share_of(30, 50), n=50, level=0.95)
    assert ends(found) == pytest.approx(ends(expected))
    # The same answers to the same images: the correlation leaves only that the exact interval is not symmetric.
    same = mean_of_differences([answers(a)], [answers(a)])
    assert (same.value, same.low, same.high) == pytest.approx((0, 0, 0), abs=0.02)


def test_nothing_is_no_mean():
    for several in ([], [answers([])]):
        with pytest.raises(OodometerError, match="no images"):
            mean_of_shares(several)


def nested(rng: np.random.Generator, difficulty: np.ndarray, n_images: int) -> tuple[list[Answers], list[Answers]]:
    """As on CIFAR-100: four models, of which the n-th is tested on n fifths of the images as unseen, the rest as seen.

    An image is hard or easy for all models alike.
    """
    group = np.arange(n_images) % 5
    hard = rng.random(n_images) < 0.3
    kept, held_out = [], []
    for n in range(1, 5):
        unseen = group < n
        chance = np.where(hard, difficulty[0], difficulty[1]) - np.where(unseen, difficulty[2], 0)
        right = rng.random(n_images) < chance
        kept.append(Answers(np.flatnonzero(~unseen), right[~unseen]))
        held_out.append(Answers(np.flatnonzero(unseen), right[unseen]))
    return kept, held_out


@pytest.mark.parametrize("n_images", [40, 200])
def test_the_intervals_cover_the_truth_as_often_as_they_say(n_images):
    rng, n_draws, difficulty = np.random.default_rng(3), 1500, np.array([0.5, 0.95, 0.4])
    mean = 0.3 * difficulty[0] + 0.7 * difficulty[1]
    truths = mean, mean - difficulty[2], difficulty[2]
    covered = np.zeros(3, dtype=int)
    for _ in range(n_draws):
        kept, held_out = nested(rng, difficulty, n_images)
        found = mean_of_shares(kept), mean_of_shares(held_out), mean_of_differences(kept, held_out)
        covered += [one.low <= truth <= one.high for one, truth in zip(found, truths, strict=True)]
    for hits in covered.tolist():
        # Not less often, by a one-sided binomial test; the exact interval covers more often, but has a use.
        assert binomtest(hits, n_draws, 0.95, alternative="less").pvalue > 0.001, covered
        assert hits < 0.995 * n_draws
