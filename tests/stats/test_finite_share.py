"""The exact interval of a share of a finite set, against a search through all that the set may be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from oodometer.core.errors import OodometerError
from oodometer.stats.finite_share import finite_share_of
from oodometer.stats.intervals import share_of


@given(st.integers(1, 60), st.data())
def test_it_is_all_that_neither_tail_rejects(of, data):
    # at a level of which no probability is a tail, so that rounding decides nothing
    # reference: scipy.stats.hypergeom, every number of successes tried in turn
    n = data.draw(st.integers(1, of))
    k = data.draw(st.integers(0, n))
    found = finite_share_of(k, n, of=of, level=0.9137)
    every = np.arange(k, of - (n - k) + 1)
    kept = every[(hypergeom.sf(k - 1, of, every, n) > 0.04315) & (hypergeom.cdf(k, of, every, n) > 0.04315)]
    assert (found.low, found.high) == pytest.approx((kept.min() / of, kept.max() / of))


def test_it_holds_the_share_at_least_as_often_as_it_says():
    # closed form: the probability of every outcome is known, so that the coverage is a sum
    for there in range(101):
        outcomes = [finite_share_of(k, 40, of=100) for k in range(41)]
        holds = [one.low - 1e-12 <= there / 100 <= one.high + 1e-12 for one in outcomes]
        assert hypergeom.pmf(np.arange(41), 100, there, 40)[holds].sum() >= 0.95


def test_of_a_large_set_it_is_clopper_and_pearsons():
    found, usual = finite_share_of(150, 200, of=10**8), share_of(150, 200)
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high), abs=1e-5)


def test_of_all_members_it_has_no_width():
    found = finite_share_of(7, 9, of=9)
    assert (found.low, found.value, found.high) == pytest.approx((7 / 9, 7 / 9, 7 / 9))


@pytest.mark.parametrize(("k", "n", "of"), [(3, 2, 5), (1, 6, 5), (0, 0, 5), (-1, 3, 5)])
def test_what_is_no_share_is_an_error(k, n, of):
    with pytest.raises(OodometerError, match="not a share"):
        finite_share_of(k, n, of=of)
