"""Corrections for many tests: against statsmodels, their definitions, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from statsmodels.stats.multitest import multipletests

from oodometer.core.errors import UsageError
from oodometer.stats.corrections import benjamini_hochberg, corrected, holm

quick = settings(deadline=None, derandomize=True, max_examples=80)
IN_STATSMODELS = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.sampled_from(sorted(IN_STATSMODELS)))
def test_corrections_are_those_of_statsmodels(p_values, correction):
    reference = multipletests(p_values, method=IN_STATSMODELS[correction])[1]
    assert corrected(np.array(p_values), correction) == pytest.approx(reference)
    with_unknown = corrected(np.array([np.nan, *p_values]), correction)
    assert with_unknown[1:] == pytest.approx(reference)  # what is no test counts for none
    assert np.isnan(with_unknown[0])


def test_no_correction_is_none():
    assert corrected(np.array([0.01, 0.6]), "none").tolist() == [0.01, 0.6]


def test_another_word_is_refused():
    with pytest.raises(UsageError, match="no correction 'hohlm'; did you mean holm"):
        corrected(np.array([0.1]), "hohlm")


@pytest.mark.parametrize("correction", sorted({*IN_STATSMODELS, "none"}))
def test_no_tests_have_no_p_values(correction):
    assert corrected(np.array([]), correction).tolist() == []
    assert np.isnan(corrected(np.array([np.nan]), correction)).all()


def test_holm_by_its_definition():
    p = np.random.default_rng(0).random(30) ** 3
    order = np.argsort(p)
    # Holm 1979: the k-th smallest is compared with level / (m - k + 1), and nothing after the first that is not below.
    for level in (0.05, 0.2):
        rejected = set()
        for step, at in enumerate(order):
            if p[at] > level / (len(p) - step):
                break
            rejected.add(int(at))
        assert set(np.flatnonzero(holm(p) <= level).tolist()) == rejected


def test_unknown_p_values_stay_unknown_and_are_not_counted():
    adjusted = holm(np.array([0.01, np.nan, 0.03]))
    np.testing.assert_allclose(adjusted, [0.02, np.nan, 0.03])


def test_what_they_promise_by_simulation():
    """Of 20 z tests 15 are of nothing. Holm: an error at all in at most 5 % of 4,000 repetitions; Benjamini and
    Hochberg: at most 5 % of what is found is wrong, on average, and more of the five is found."""
    rng = np.random.default_rng(4)
    effects = np.r_[np.zeros(15), np.full(5, 3.2)]
    p_values = 2 * norm.sf(np.abs(effects + rng.standard_normal((4000, 20))))
    by_holm = np.array([holm(row) for row in p_values]) <= 0.05
    by_hochberg = np.array([benjamini_hochberg(row) for row in p_values]) <= 0.05
    errors = int(by_holm[:, :15].any(axis=1).sum())
    assert binomtest(errors, 4000, 0.05, alternative="greater").pvalue > 0.001
    shares = by_hochberg[:, :15].sum(axis=1) / np.maximum(by_hochberg.sum(axis=1), 1)
    # The share of true nulls times the level is exact for independent tests: 0.75 x 0.05 (Benjamini & Hochberg 1995)
    assert shares.mean() == pytest.approx(0.75 * 0.05, abs=4 * shares.std() / np.sqrt(4000))
    assert by_hochberg[:, 15:].mean() > by_holm[:, 15:].mean() + 0.05
