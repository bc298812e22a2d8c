"""Draws that are kept are those that would be drawn again."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.stats import kept_draws
from oodometer.stats.bootstrap import Resampling, draws_of_means, resample_counts

N = 3_000


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(kept_draws, "_KEPT", kept_draws._Kept())


def plain(scores: np.ndarray, resampling: Resampling) -> np.ndarray:
    """The means of each resample, drawn one by one."""
    counts = np.concatenate(list(resample_counts(len(scores), resampling)))
    return np.stack([np.average(scores, axis=0, weights=times) for times in counts])


@pytest.mark.parametrize("kind", ["right or wrong", "shares"])
def test_kept_means_are_those_of_the_resamples(kind):
    rng = np.random.default_rng(0)
    scores = rng.random((N, 5)) < 0.6 if kind == "right or wrong" else rng.integers(0, 6, (N, 5)) / 5
    resampling = Resampling(draws=400, seed=3)
    first = draws_of_means(scores, resampling=resampling)
    np.testing.assert_allclose(first, plain(scores, resampling), rtol=0, atol=1e-13)
    # Other columns beside a known one, in another order; and fewer draws, which are the first of more.
    mixed = np.column_stack([rng.permutation(scores[:, 0]), scores[:, 3], scores[:, 1]])
    np.testing.assert_allclose(
        draws_of_means(mixed, resampling=resampling), plain(mixed, resampling), rtol=0, atol=1e-13
    )
    few = Resampling(draws=350, seed=3)
    np.testing.assert_array_equal(draws_of_means(scores, resampling=few), first[:350])


def test_another_seed_gives_other_draws():
    scores = np.random.default_rng(0).random((N, 2)) < 0.6
    a, b = (draws_of_means(scores, resampling=Resampling(draws=400, seed=seed)) for seed in (0, 1))
    assert not (a == b).all()
    np.testing.assert_allclose(b, plain(scores, Resampling(draws=400, seed=1)), rtol=0, atol=1e-13)


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(kept_draws, "MOST_SUMS", 1_000)
    scores = np.random.default_rng(0).random((N, 8)) < 0.6
    resampling = Resampling(draws=400)
    draws = draws_of_means(scores, resampling=resampling)
    assert len(kept_draws._KEPT._sums) == 2
    np.testing.assert_array_equal(draws_of_means(scores, resampling=resampling), draws)
