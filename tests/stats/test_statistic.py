"""Numbers that are held against others: p-values from intervals."""

from __future__ import annotations

import pytest

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.statistic import ByInterval


def test_a_bound_of_the_interval_has_the_p_value_of_its_level():
    number = ByInterval(Estimate(0.7, 0.4, 0.8, 9, "bootstrap 90%"), 0.9)
    assert number.p_value(0.4) == pytest.approx(0.1)
    assert number.p_value(0.8) == pytest.approx(0.1)
    assert number.p_value(0.7) == pytest.approx(1.0)
    with pytest.raises(OodometerError, match=r"at 0\.9 alone"):
        number.estimate(0.95)


def test_without_an_interval_nothing_is_told():
    assert ByInterval(Estimate(0.7, None, None, 9, "none"), 0.95).p_value(0.1) == 1.0
