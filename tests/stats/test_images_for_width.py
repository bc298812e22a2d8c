"""How many images an interval of a wished width needs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, norm

from oodometer.core.errors import UsageError
from oodometer.metrics.corruption_error import COMMON, alexnet
from oodometer.stats.images_for_width import images_for_share, images_for_sum


def widest(n: int, level: float) -> float:
    """The widest half of Clopper and Pearson's interval of n images, over all shares; by scipy's beta."""
    right = np.arange(n + 1)
    tail = (1 - level) / 2
    low = np.nan_to_num(beta.ppf(tail, right, n - right + 1))
    high = np.nan_to_num(beta.ppf(1 - tail, right + 1, n - right), nan=1.0)
    return float((high - low).max() / 2)


@pytest.mark.parametrize(("width", "level"), [(0.05, 0.95), (0.1, 0.95), (0.05, 0.8), (0.03, 0.99)])
def test_as_many_images_are_enough_for_any_share_and_few_less_are_not(width, level):
    n = images_for_share(width, level=level)
    assert widest(n, level) <= width
    assert widest(n - 2, level) > width, "odd and even numbers differ by a little"


def test_the_mean_over_conditions_needs_as_many_as_one_share_in_all():
    # closed form: z² · 0.25 / w² answers, shared out
    in_all = norm.ppf(0.975) ** 2 * 0.25 / 0.01**2
    assert images_for_sum(np.full(75, 1 / 75), 0.25, 0.01) == int(np.ceil(in_all / 75))


def test_an_mce_needs_about_190_images_of_each_condition():
    # Var(mCE) = Σ_c [Σ_s p(1 − p) / n] / (15 Σ_s A_cs)²; at a coin's variance 202, with usual errors 190 (0.4 %)
    sums = alexnet(COMMON).errors.sum(axis=1)
    weights = np.repeat(1 / (15 * sums), 5)
    assert images_for_sum(weights, 0.25, 0.01) == int(np.ceil(norm.ppf(0.975) ** 2 * 0.25 * (weights**2).sum() / 1e-4))
    usual = images_for_sum(weights, 0.6 * 0.4, 0.01)
    assert 75 * usual / 3_750_000 < 0.005


def test_never_fewer_than_two_images():
    assert images_for_sum(np.array([1.0]), 0.0, 0.01) == 2


def test_what_nobody_can_have_is_refused():
    with pytest.raises(UsageError, match="needs more than 100,000,000 images"):
        images_for_share(1e-6)
