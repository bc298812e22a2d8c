"""Numbers that are held against others: p-values from intervals, and corrections by statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.statistic import ByInterval, corrected


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
def test_corrections_are_those_of_statsmodels(correction):
    p_values = np.random.default_rng(0).uniform(0, 0.2, 12)
    reference = multipletests(p_values, method=correction)[1]
    assert corrected(p_values, correction) == pytest.approx(reference)
    with_unknown = corrected(np.append(p_values, np.nan), correction)
    assert with_unknown[:-1] == pytest.approx(reference)  # what is no test counts for none
    assert np.isnan(with_unknown[-1])


def test_no_correction_is_none():
    assert corrected(np.array([0.01, 0.6]), "none").tolist() == [0.01, 0.6]


def test_a_bound_of_the_interval_has_the_p_value_of_its_level():
    number = ByInterval(Estimate(0.7, 0.4, 0.8, 9, "bootstrap 90%"), 0.9)
    assert number.p_value(0.4) == pytest.approx(0.1)
    assert number.p_value(0.8) == pytest.approx(0.1)
    assert number.p_value(0.7) == pytest.approx(1.0)
    with pytest.raises(OodometerError, match=r"at 0\.9 alone"):
        number.estimate(0.95)


def test_without_an_interval_nothing_is_told():
    assert ByInterval(Estimate(0.7, None, None, 9, "none"), 0.95).p_value(0.1) == 1.0
