"""How many images tell a difference: exact sums against scipy, against simulations, and against the normal law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest, multinomial, norm

from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.paired import mcnemar_p_values
from oodometer.stats.power import (
    POWER,
    difference_shown,
    images_for_difference,
    images_for_mean_difference,
    images_to_tell,
    mean_difference_shown,
    power_of_mcnemar,
)


@pytest.mark.parametrize("test", ["exact", "mid-p"])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
@pytest.mark.parametrize(("n", "difference", "disagreement"), [(25, 0.2, 0.4), (60, 0.0, 0.3), (60, 0.3, 0.3)])
def test_power_is_the_sum_over_all_outcomes(n, difference, disagreement, level, test):
    # every (wins, losses) by the multinomial of scipy
    outcomes = np.array([(wins, losses) for wins in range(n + 1) for losses in range(n + 1 - wins)])
    shares = [(disagreement + difference) / 2, (disagreement - difference) / 2, 1 - disagreement]
    chances = multinomial.pmf(np.column_stack([outcomes, n - outcomes.sum(axis=1)]), n, shares)
    wins, losses = outcomes.T
    told = (mcnemar_p_values(wins, losses, test) <= 1 - level + 1e-15) & (wins > losses)
    found = power_of_mcnemar(n, difference, disagreement, level=level, test=test)
    assert found == pytest.approx(chances[told].sum(), abs=1e-9)


@pytest.mark.parametrize(("n", "difference", "disagreement"), [(500, 0.04, 0.12), (4000, 0.01, 0.08), (300, 0.1, 0.3)])
def test_power_by_simulation(n, difference, disagreement):
    rng = np.random.default_rng(n)
    shares = [(disagreement + difference) / 2, (disagreement - difference) / 2, 1 - disagreement]
    wins, losses, _ = rng.multinomial(n, shares, 10_000).T
    told = int(((mcnemar_p_values(wins, losses) <= 0.05) & (wins > losses)).sum())
    assert binomtest(told, 10_000, power_of_mcnemar(n, difference, disagreement)).pvalue > 0.001


@pytest.mark.parametrize(("difference", "disagreement"), [(0.02, 0.1), (0.05, 0.05), (0.1, 0.4), (0.03, 0.31)])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_so_many_images_are_enough_and_fewer_are_not(difference, disagreement, power):
    n = images_for_difference(difference, disagreement, power=power)
    assert power_of_mcnemar(n, difference, disagreement) >= power
    # The power of an exact test is a saw: 3 % fewer images lie below all its teeth here.
    assert power_of_mcnemar(int(0.97 * n) - 3, difference, disagreement) < power
    by_simulation = np.random.default_rng(0).multinomial(
        n, [(disagreement + difference) / 2, (disagreement - difference) / 2, 1 - disagreement], 4000
    )
    wins, losses, _ = by_simulation.T
    told = int(((mcnemar_p_values(wins, losses) <= 0.05) & (wins > losses)).sum())
    assert binomtest(told, 4000, power, alternative="less").pvalue > 0.001


def test_of_many_images_it_is_connors_formula():
    # Connor, Biometrics 43 (1987): ((z_(1-a/2) sqrt(psi) + z_power sqrt(psi - d^2)) / d)^2; the exact test needs more
    # by about one disagreement on either side: 1 / d
    psi, d = 0.1, 0.005
    formula = ((norm.ppf(0.975) * np.sqrt(psi) + norm.ppf(0.8) * np.sqrt(psi - d * d)) / d) ** 2
    assert images_for_difference(d, psi, test="mid-p") == pytest.approx(formula, rel=0.003)
    assert images_for_difference(d, psi) == pytest.approx(formula + 2 / d, rel=0.003)


def test_what_can_be_shown_is_what_the_number_of_images_is_for():
    for n, disagreement in [(500, 0.1), (10_000, 0.05), (80, 0.5)]:
        difference = difference_shown(n, disagreement)
        assert power_of_mcnemar(n, difference, disagreement) == pytest.approx(POWER, abs=1e-6)
        assert images_for_difference(difference, disagreement) == pytest.approx(n, rel=0.03, abs=3)
    assert difference_shown(0, 0.1) is None
    assert difference_shown(100, 0.0) is None
    # 5 disagreements of 5 on one side are not told: 2 / 2^5 = 0.0625
    assert difference_shown(5, 1.0) is None


def test_a_difference_beyond_all_disagreement_counts_as_all_of_it():
    # All disagreements are won: it is told where there are six of them, 2 / 2^6 = 0.031
    n = images_for_difference(0.05, 0.01)
    assert binom.sf(5, n, 0.05) >= POWER > binom.sf(5, n - 1, 0.05)


def test_means_by_the_normal_law_and_by_simulation():
    n = images_for_mean_difference(0.02, 0.3)
    assert mean_difference_shown(n, 0.3) == pytest.approx(0.02, rel=0.001)
    rng = np.random.default_rng(5)
    means = 0.02 + 0.3 * rng.standard_normal(20_000) / np.sqrt(n)
    told = int((means / (0.3 / np.sqrt(n)) > norm.ppf(0.975)).sum())
    assert binomtest(told, 20_000, POWER).pvalue > 0.001


def test_the_shortcut_by_an_interval_agrees_with_the_exact_number():
    wins, losses, n = 260, 240, 5000
    share, difference = (wins + losses) / n, (wins - losses) / n
    half = norm.ppf(0.975) * np.sqrt(share - difference**2) / np.sqrt(n)
    found = images_to_tell(Estimate(difference, difference - half, difference + half, n, "wald"), 0.95)
    assert found == pytest.approx(images_for_difference(difference, share, test="mid-p"), rel=0.01)


def test_what_nobody_has_is_none():
    assert images_for_difference(1e-6, 0.5) is None
    assert images_for_difference(0.0, 0.5) is None
    assert images_for_mean_difference(0.0, 0.5) is None


def test_what_is_refused():
    with pytest.raises(UsageError, match=r"^power 1\.5: must lie between 0 and 1"):
        images_for_difference(0.1, 0.2, power=1.5)
    with pytest.raises(OodometerError, match="there is none"):
        power_of_mcnemar(10, 0.3, 0.2)
    with pytest.raises(OodometerError, match="must be a share above 0"):
        power_of_mcnemar(10, 0.0, 0.0)
