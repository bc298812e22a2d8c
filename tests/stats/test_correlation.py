"""Correlations over models: against scipy and numpy, and by the coverage of their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, kendalltau, norm, pearsonr, spearmanr

from oodometer.core.errors import OodometerError
from oodometer.stats.correlation import (
    correlations_in_draws,
    kendall,
    pearson,
    pearson_matrix,
    spearman,
    weighted_kendall,
    weighted_pearson,
    weighted_spearman,
)

quick = settings(deadline=None, derandomize=True, max_examples=100)
OURS = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
WEIGHTED = {"pearson": weighted_pearson, "spearman": weighted_spearman, "kendall": weighted_kendall}
SCIPY = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}
NAMES = {"pearson": "fisher z", "spearman": "bonett-wright", "kendall": "fieller"}


@st.composite
def two_values(draw, most=25):
    """Values of a few models with many ties, that vary."""
    m = draw(st.integers(4, most))
    x, y = (np.array(draw(st.lists(st.integers(0, 8), min_size=m, max_size=m))) / 10 for _ in range(2))
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    return x, y


@pytest.mark.parametrize("name", OURS)
@quick
@given(values=two_values())
def test_the_value_agrees_with_scipy(name, values):
    found = OURS[name](*values)
    # reference: scipy.stats.pearsonr, spearmanr, kendalltau (variant b)
    assert found.value == pytest.approx(SCIPY[name](*values).statistic, abs=1e-12)
    assert found.n == len(values[0])


@quick
@given(values=two_values(), level=st.sampled_from((0.9, 0.95, 0.995)))
def test_pearsons_interval_agrees_with_scipy(values, level):
    found = pearson(*values, level=level)
    assume(found.low is not None)
    expected = pearsonr(*values).confidence_interval(level)  # reference: scipy, Fisher's z
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found.interval == f"fisher z {100 * level:g}%"


def test_intervals_of_rank_correlations_are_the_closed_forms():
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    # Bonett & Wright, Psychometrika 65 (2000): sqrt((1 + r^2 / 2) / (n - 3)) on the scale of atanh
    # Fieller, Hartley & Pearson, Biometrika 44 (1957): sqrt(0.437 / (n - 4))
    r, tau = spearmanr(x, y).statistic, kendalltau(x, y).statistic
    for found, value, error in (
        (spearman(x, y, by="formula"), r, np.sqrt((1 + r**2 / 2) / 27)),
        (kendall(x, y, by="formula"), tau, np.sqrt(0.437 / 26)),
    ):
        half = norm.ppf(0.975) * error
        expected = np.tanh(np.arctanh(value) - half), np.tanh(np.arctanh(value) + half)
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", OURS)
@quick
@given(values=two_values(most=10), data=st.data())
def test_weighted_correlations_are_those_of_the_repeated_models(name, values, data):
    x, y = values
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x))))
    assume(times.sum() > 0)
    x_repeated, y_repeated = np.repeat(x, times), np.repeat(y, times)
    found = WEIGHTED[name](x, y)(np.stack([times, np.ones_like(times)]))
    if np.ptp(x_repeated) == 0 or np.ptp(y_repeated) == 0:
        assert np.isnan(found[0])
    else:
        assert found[0] == pytest.approx(SCIPY[name](x_repeated, y_repeated).statistic, abs=1e-12)
    assert found[1] == pytest.approx(SCIPY[name](x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("name", OURS)
def test_the_bootstrap_resamples_models(name):
    rng = np.random.default_rng(5)
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    found = OURS[name](x, y, by="bootstrap")
    formula = OURS[name](x, y, by="formula")
    assert found.interval == "bca bootstrap 95%"
    assert (found.value, found.n) == (pytest.approx(formula.value, abs=1e-12), 60)
    # Normal values of 60 models: both intervals are right, and differ by less than a fifth of their width.
    assert abs(found.low - formula.low) < 0.2 * (formula.high - formula.low)
    assert abs(found.high - formula.high) < 0.2 * (formula.high - formula.low)
    assert OURS[name](x, y, by="bootstrap", seed=1) != found
    assert OURS[name](x, y, by="bootstrap") == found


TRUTHS = {
    "pearson": lambda rho: rho,
    # of a bivariate normal: 6/pi arcsin(rho/2) and 2/pi arcsin(rho) (Kruskal, JASA 53, 1958)
    "spearman": lambda rho: 6 / np.pi * np.arcsin(rho / 2),
    "kendall": lambda rho: 2 / np.pi * np.arcsin(rho),
}


def covered(name: str, n: int, rho: float, sets: int, **options) -> int:
    """In how many of the sets of normal values the interval holds the truth; sets without an interval count as not."""
    rng, truth = np.random.default_rng([n, int(100 * rho)]), TRUTHS[name](rho)
    x = rng.normal(size=(sets, n))
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=(sets, n))
    found = [OURS[name](*values, **options) for values in zip(x, y, strict=True)]
    return sum(one.low is not None and one.low <= truth <= one.high for one in found)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("n", [15, 67])
@pytest.mark.parametrize("name", OURS)
def test_intervals_by_formula_cover_what_they_say(name, n, rho):
    # 2,000 sets. The formulas are approximations, good to about 0.015 here: a coverage inside of [0.935, 0.97] fails
    # with probability below 0.001.
    hits = covered(name, n, rho, 2000, by="formula")
    assert binomtest(hits, 2000, 0.935, alternative="less").pvalue > 0.001
    assert binomtest(hits, 2000, 0.97, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_intervals_by_bootstrap_cover_what_they_say(name):
    # 300 sets of 30 models: Pearson's BCa interval covers a little less than it says (0.94), Kendall's more (0.97). A
    # coverage of 0.93 or more fails with probability below 0.001.
    assert binomtest(covered(name, 30, 0.5, 300, by="bootstrap"), 300, 0.93, alternative="less").pvalue > 0.001


@pytest.mark.parametrize("name", OURS)
def test_a_perfect_correlation_has_no_interval_by_formula_rather_than_one_of_no_width(name):
    x = np.arange(6.0)
    up, down = OURS[name](x, 0.1 * x + 3, by="formula"), OURS[name](x, -x, by="formula")
    assert (up.value, up.low, up.high) == (1, None, None)
    assert (down.value, down.low, down.high) == (-1, None, None)
    assert up.interval == f"none: {NAMES[name]} has no interval at 1"
    assert OURS[name](x, x, by="bootstrap").interval == "none: all bootstrap draws are equal"


def test_four_models_are_too_few_for_fieller():
    found = kendall(np.arange(4.0), np.array([0.0, 2.0, 1.0, 3.0]), by="formula")
    assert (found.low, found.interval) == (None, "none: 4 models are too few for fieller")
    assert found.value == pytest.approx(2 / 3)  # 5 of 6 pairs in order, 1 not


def test_nearly_constant_values_are_still_exact():
    # Accuracies that differ in the eighth digit: centring first keeps the precision that sums of squares would lose.
    rng = np.random.default_rng(2)
    x, y = 0.75 + 1e-8 * rng.normal(size=(2, 20))
    assert pearson(x, y).value == pytest.approx(pearsonr(x - 0.75, y - 0.75).statistic, abs=1e-6)
    assert pearson_matrix(x[:, None], y[:, None]).r[0, 0] == pytest.approx(pearson(x, y).value, abs=1e-9)


@quick
@given(st.integers(0, 1000))
def test_the_matrix_is_scipys_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, 14))
    x, y = rng.integers(0, 3, (m, 3)) / 10, rng.integers(0, 4, (m, 4)) / 10
    x[rng.random(x.shape) < 0.3] = np.nan
    y[rng.random(y.shape) < 0.3] = np.nan
    r, n = pearson_matrix(x, y)
    assert r.shape == n.shape == (3, 4)
    for a, b in np.ndindex(3, 4):
        both = ~np.isnan(x[:, a]) & ~np.isnan(y[:, b])
        x_both, y_both = x[both, a], y[both, b]
        assert n[a, b] == both.sum()
        if len(x_both) < 4 or np.ptp(x_both) == 0 or np.ptp(y_both) == 0:
            assert np.isnan(r[a, b])
        else:
            assert r[a, b] == pytest.approx(pearsonr(x_both, y_both).statistic, abs=1e-12)  # reference: scipy


def test_the_matrix_of_full_tables_is_numpys():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 6)), rng.normal(size=(50, 3))
    r, n = pearson_matrix(x, y)
    assert r == pytest.approx(np.corrcoef(x.T, y.T)[:6, 6:], abs=1e-12)  # reference: numpy.corrcoef
    assert (n == 50).all()
    assert (pearson_matrix(x, y, fewest=51).r.size, np.isnan(pearson_matrix(x, y, fewest=51).r).all()) == (18, True)


FOUR = np.array([1.0, 2.0, 3.0, 5.0])


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        (FOUR, FOUR[:3], {}, "values of shapes (4,) and (3,): expected one of each for each model"),
        (FOUR[:3], FOUR[:3], {}, "3 models: a correlation needs 4 or more"),
        (FOUR, np.ones(4), {}, "all models have the same value: the correlation is undefined"),
        (np.ones(4), FOUR, {}, "all models have the same value: the correlation is undefined"),
        (
            FOUR,
            np.array([1, np.nan, 2, 3]),
            {},
            "some values are NaN or infinite: leave these models out of the correlation",
        ),
        (FOUR, FOUR, {"level": 1.5}, "level 1.5: must lie between 0 and 1, for example 0.95"),
    ],
)
def test_what_has_no_correlation_is_an_error(name, x, y, options, message):
    with pytest.raises(OodometerError) as caught:
        OURS[name](x, y, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", OURS)
def test_an_unknown_way_is_an_error_that_names_the_known(name):
    known = "bootstrap, formula" if name == "pearson" else "bootstrap, formula, simulation"
    with pytest.raises(OodometerError) as caught:
        OURS[name](FOUR, FOUR[::-1], by="magic")
    assert str(caught.value) == f"no interval of {name}'s correlation by 'magic'; known: {known}"
    if name == "pearson":
        with pytest.raises(OodometerError, match=r"known: bootstrap, formula$"):
            pearson(FOUR, FOUR, by="simulation")


def test_tables_of_other_models_are_an_error():
    with pytest.raises(OodometerError, match=r"^tables of shapes \(3, 1\) and \(4, 1\): expected the same models"):
        pearson_matrix(np.ones((3, 1)), np.ones((4, 1)))
    with pytest.raises(OodometerError, match=r"^fewest 1: a correlation needs 2 models or more$"):
        pearson_matrix(np.ones((4, 1)), np.ones((4, 1)), fewest=1)


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_correlations_of_many_draws_are_those_of_each(kind):
    """Against scipy, with ties, and with a row that does not vary."""
    reference = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}[kind]
    rng = np.random.default_rng(1)
    x = rng.integers(0, 9, (40, 12)) / 8
    y = x + rng.integers(0, 5, (40, 12)) / 8
    x[7] = 0.5
    found = correlations_in_draws(kind, x, y)
    assert np.isnan(found).tolist() == [at == 7 for at in range(40)]
    expected = [reference(*row).statistic for at, row in enumerate(zip(x, y, strict=True)) if at != 7]
    np.testing.assert_allclose(np.delete(found, 7), expected, rtol=0, atol=1e-12)
