"""Scales: against closed forms, and there and back."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.core.errors import OodometerError, UsageError
from oodometer.stats.scales import SCALES, from_scale, to_scale

quick = settings(deadline=None, derandomize=True, max_examples=100)
inner = st.floats(1e-6, 1 - 1e-6)

# reference: log(p / (1 − p)), and the standard library's normal quantile
REFERENCE = {"linear": lambda p: p, "logit": lambda p: math.log(p / (1 - p)), "probit": NormalDist().inv_cdf}


def test_every_scale_has_a_reference():
    assert set(REFERENCE) == set(SCALES)


@pytest.mark.parametrize("scale", SCALES)
@quick
@given(share=inner)
def test_scales_agree_with_the_closed_form_and_come_back(scale, share):
    there = to_scale(share, scale)
    assert there == pytest.approx(REFERENCE[scale](share), rel=1e-7, abs=1e-9)
    assert from_scale(there, scale) == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize("scale", ["logit", "probit"])
def test_nothing_and_everything_lie_at_infinity_and_come_back(scale):
    there = to_scale(np.array([0.0, 1.0]), scale)
    assert there.tolist() == [-np.inf, np.inf]
    assert from_scale(there, scale).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("scale", SCALES)
def test_the_middle_is_the_middle_and_not_measured_stays_so(scale):
    assert to_scale(0.5, scale) == (0.5 if scale == "linear" else 0)
    assert np.isnan(to_scale([0.2, np.nan], scale)).tolist() == [False, True]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("share", [-0.01, 1.01, 76.1, [0.5, 76.1, np.nan]])
def test_percentages_are_refused(scale, share):
    with pytest.raises(OodometerError, match="divide percentages by 100"):
        to_scale(share, scale)


def test_the_worst_number_is_named():
    with pytest.raises(OodometerError, match=r"^76\.1 is no share"):
        to_scale([0.5, np.nan, 76.1, 1.5], "logit")


def test_the_given_array_is_left_alone():
    shares = np.array([0.2, 0.8])
    to_scale(shares, "linear")[0] = 9
    from_scale(shares, "linear")[0] = 9
    assert shares.tolist() == [0.2, 0.8]


@pytest.mark.parametrize("function", [to_scale, from_scale])
def test_unknown_scales_are_a_usage_error(function):
    with pytest.raises(UsageError, match="no scale named 'logits'; did you mean logit"):
        function(0.5, "logits")
