"""The bootstrap over images: against scipy on the same draws, a plain loop, and by its coverage."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from oodometer.core.errors import OodometerError
from oodometer.stats import bootstrap as module
from oodometer.stats.bootstrap import (
    Resampling,
    bootstrap,
    bootstrap_means,
    draws_of_means,
    interval_of,
    resample_counts,
)

quick = settings(deadline=None, derandomize=True, max_examples=25)
PERCENTILE, BCA = Resampling(), Resampling(method="bca")
METHODS = {"percentile": PERCENTILE, "bca": BCA}
SKEWED = np.random.default_rng(0).exponential(size=80)


def counts(n: int, resampling: Resampling = PERCENTILE) -> np.ndarray:
    return np.concatenate(list(resample_counts(n, resampling)))


def bounds(found) -> tuple[float, float]:
    return found.low, found.high


# The resamples


def test_a_resample_draws_as_many_images_as_there_are_each_alike():
    found = counts(50, Resampling(draws=20_000))
    assert (found.sum(axis=1) == 50).all()
    # closed form: the count of one image is binomial(50, 1/50); each mean within 5 standard errors of 1
    error = np.sqrt(50 * (1 / 50) * (49 / 50) / 20_000)
    assert np.abs(found.mean(axis=0) - 1).max() < 5 * error
    assert found.var() == pytest.approx(49 / 50, rel=0.01)
    # two images in one resample: covariance -1/50 (multinomial), with a standard error near 0.007 for one pair
    pairs = np.cov(found.T)[np.triu_indices(50, 1)]
    assert pairs.mean() == pytest.approx(-1 / 50, abs=1e-3)


@pytest.mark.parametrize("cells", [1, 70, 777])
def test_blocks_do_not_change_the_draws(monkeypatch, cells):
    scores = np.random.default_rng(1).normal(size=(7, 3))
    whole, clustered = draws_of_means(scores), draws_of_means(scores, clusters=np.array([0, 0, 1, 1, 2, 2, 2]))
    value = bootstrap_means(scores, lambda means: means[:, 0] * means[:, 1], resampling=BCA)
    monkeypatch.setattr(module, "CELLS", cells)
    assert draws_of_means(scores) == pytest.approx(whole, abs=1e-15)
    assert draws_of_means(scores, clusters=np.array([0, 0, 1, 1, 2, 2, 2])) == pytest.approx(clustered, abs=1e-15)
    again = bootstrap_means(scores, lambda means: means[:, 0] * means[:, 1], resampling=BCA)
    assert bounds(again) == pytest.approx(bounds(value), abs=1e-12)


def test_the_seed_is_the_resample():
    assert (counts(9) == counts(9)).all()
    assert not (counts(9) == counts(9, Resampling(seed=1))).all()
    assert (counts(9, Resampling(draws=200)) == counts(9)[:200]).all()


# Means


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
def test_draws_of_means_by_a_plain_loop(dtype):
    rng = np.random.default_rng(2)
    scores = (rng.random((30, 4)) < 0.6).astype(dtype) if dtype != np.float64 else rng.normal(size=(30, 4))
    rows = [np.repeat(np.arange(30), times) for times in counts(30)]
    expected = np.array([[scores[row, column].astype(float).mean() for column in range(4)] for row in rows])
    assert draws_of_means(scores) == pytest.approx(expected, abs=1e-14)
    assert draws_of_means(scores).dtype == np.float64


def test_single_precision_is_used_only_where_it_is_exact():
    right = np.random.default_rng(3).random(10_000) < 0.7
    hits = counts(10_000, Resampling(draws=100)) @ right.astype(np.int64)
    assert (draws_of_means(right, resampling=Resampling(draws=100))[:, 0] == hits / 10_000).all()
    third = right / 3
    assert draws_of_means(third, resampling=Resampling(draws=100))[:, 0] == pytest.approx(hits / 30_000, rel=1e-14)


def test_one_resample_serves_all_columns():
    # The same column twice: the difference of their means is zero in every draw.
    draws = draws_of_means(np.stack([SKEWED, SKEWED], axis=1))
    assert (draws[:, 0] == draws[:, 1]).all()
    # ... and in two calls: the resamples depend on the seed and the number of images alone.
    assert draws[:, 0] == pytest.approx(draws_of_means(SKEWED)[:, 0], abs=1e-12)


def test_a_share_spreads_as_the_binomial_says():
    right = np.arange(400) < 300
    found = bootstrap_means(right, resampling=Resampling(draws=20_000))
    # closed form: resampled hits are binomial(400, 0.75); quantiles of 20,000 draws are off by about 0.0006
    expected = stats.binom.ppf([0.025, 0.975], 400, 0.75) / 400
    assert bounds(found) == pytest.approx(expected, abs=0.0026)
    assert (found.value, found.n, found.interval) == (0.75, 400, "bootstrap 95%")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("clustered", [False, True])
def test_means_are_a_case_of_any_statistic(method, clustered):
    clusters = np.arange(80) % 11 if clustered else None
    options = {"resampling": METHODS[method], "clusters": clusters}
    means = bootstrap_means(SKEWED, **options)
    plain = bootstrap([SKEWED], np.mean, **options)
    assert bounds(means) == pytest.approx(bounds(plain), abs=1e-9)
    assert (means.value, means.n, means.interval) == (pytest.approx(plain.value), 80, plain.interval)
    assert means.interval == ("bca " * (method == "bca") + "cluster " * clustered + "bootstrap 95%")


def test_a_function_of_means_is_evaluated_on_each_draw():
    scores = np.stack([SKEWED, SKEWED**2], axis=1)
    found = bootstrap_means(scores, lambda means: means[:, 1] - means[:, 0] ** 2, resampling=BCA)
    plain = bootstrap([SKEWED], np.var, resampling=BCA)
    assert found.value == pytest.approx(np.var(SKEWED))
    assert bounds(found) == pytest.approx(bounds(plain), abs=1e-9)


# The intervals, against scipy on the same draws


def of_scipy(scores: np.ndarray, statistic, draws: np.ndarray, resampling: Resampling):
    """scipy.stats.bootstrap asked for no draws of its own: only the interval of ours."""
    method = {"percentile": "percentile", "bca": "BCa"}[resampling.method]
    prior = SimpleNamespace(bootstrap_distribution=draws)
    return stats.bootstrap(
        (scores,),
        statistic,
        n_resamples=0,
        bootstrap_result=prior,
        confidence_level=resampling.level,
        method=method,
        vectorized=False,
    ).confidence_interval


@pytest.mark.parametrize("statistic", [np.mean, np.var, np.median, lambda scores: scores.std() / scores.mean()])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.995])
@pytest.mark.parametrize("method", METHODS)
def test_intervals_agree_with_scipy_on_the_same_draws(method, level, statistic):
    resampling = Resampling(method=method, level=level)
    draws = np.array([statistic(np.repeat(SKEWED, times)) for times in counts(80)])
    found = bootstrap([SKEWED], statistic, resampling=resampling)
    assert bounds(found) == pytest.approx(tuple(of_scipy(SKEWED, statistic, draws, resampling)), abs=1e-9)
    assert found.value == statistic(SKEWED)


@quick
@given(st.lists(st.integers(0, 3), min_size=5, max_size=30).filter(lambda scores: len(set(scores)) > 1))
def test_bca_agrees_with_scipy_where_draws_tie_with_the_value(scores):
    scores = np.array(scores)
    # Whole scores: means of sums are exact, so that scipy sees the same ties as we do.
    draws = (counts(len(scores)) @ scores) / len(scores)
    found = bootstrap_means(scores, resampling=BCA)
    assert bounds(found) == pytest.approx(tuple(of_scipy(scores, np.mean, draws, BCA)), abs=1e-9)


def test_scipy_with_draws_of_its_own_agrees_up_to_chance():
    expected = stats.bootstrap((SKEWED,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1))
    found = bootstrap_means(SKEWED, resampling=Resampling(draws=20_000, method="bca"))
    # A quantile at 2.5 % of 20,000 draws has a standard error near 0.02 of the draws' deviation, here 0.11.
    assert bounds(found) == pytest.approx(tuple(expected.confidence_interval), abs=0.012)


def test_groups_left_out_stand_for_single_images():
    scores = np.sort(np.random.default_rng(4).lognormal(sigma=1.2, size=3000))
    exact, grouped = bootstrap_means(scores, resampling=BCA), bootstrap([scores], np.mean, resampling=BCA)
    assert bounds(grouped) == pytest.approx(bounds(exact), abs=0.02 * (exact.high - exact.low))
    assert bounds(grouped) != bounds(bootstrap([scores], np.mean))


# Any statistic


def test_rows_are_resampled_together_and_stay_in_order():
    seen = []

    def statistic(position, label, table):
        seen.append(position)
        assert (label == position % 7).all()
        assert (table == position[:, None] * [1, 2]).all()
        return position.mean()

    position = np.arange(40)
    bootstrap([position, position % 7, position[:, None] * [1, 2]], statistic)
    assert len(seen) == 1001
    assert all((np.diff(one) >= 0).all() and len(one) == 40 for one in seen)


def test_clusters_are_drawn_whole():
    clusters = np.array(["b", "a", "b", "c", "a", "b"])
    sizes = []

    def statistic(position, cluster):
        times = np.bincount(position, minlength=6)
        assert times[0] == times[2] == times[5]
        assert times[1] == times[4]
        assert times[3] + times[0] + times[1] == 3  # as many clusters as there are
        sizes.append(len(position))
        return position.mean()

    found = bootstrap([np.arange(6), clusters], statistic, clusters=clusters)
    assert set(sizes) == set(range(3, 10))
    assert (found.n, found.interval) == (6, "cluster bootstrap 95%")


def test_draws_without_a_value_are_left_out_and_said():
    scores = np.concatenate([np.zeros(4), np.ones(36)])

    def undefined_without_a_zero(drawn):
        return np.nan if drawn.all() else drawn.sum() / (drawn == 0).sum()

    def refuses_without_a_zero(drawn):
        if drawn.all():
            raise OodometerError("undefined")
        return undefined_without_a_zero(drawn)

    missing = int((counts(40)[:, :4].sum(axis=1) == 0).sum())
    assert 0 < missing < 50
    found = bootstrap([scores], undefined_without_a_zero)
    assert found.interval == f"bootstrap 95% ({missing} of 1000 draws undefined)"
    assert bootstrap([scores], refuses_without_a_zero) == found
    draws = [undefined_without_a_zero(np.repeat(scores, times)) for times in counts(40)]
    assert bounds(found) == pytest.approx(tuple(np.nanquantile(draws, [0.025, 0.975])))


def test_too_many_draws_without_a_value_are_an_error():
    scores = np.concatenate([np.zeros(1), np.ones(39)])
    with pytest.raises(OodometerError, match=r"^the statistic is undefined in \d+ of 1000 draws: too few images"):
        bootstrap([scores], lambda drawn: np.nan if drawn.all() else 1.0 / (drawn == 0).sum())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scores", [np.ones(1000), np.zeros(5), np.full(7, 0.1), np.array([0.3])])
def test_draws_that_are_all_equal_give_no_interval(method, scores):
    for found in (bootstrap_means(scores, resampling=METHODS[method]), bootstrap([scores], np.mean)):
        assert (found.value, found.low, found.high) == (pytest.approx(scores[0]), None, None)
        assert (found.n, found.interval) == (len(scores), "none: all bootstrap draws are equal")


def test_interval_of_takes_draws_from_anywhere():
    draws = np.arange(1000.0)
    found = interval_of(draws, 500.0, n=12, resampling=Resampling(level=0.9), name="band")
    assert bounds(found) == pytest.approx((49.95, 949.05))  # closed form: 5 % and 95 % of 0...999, linear
    assert (found.n, found.interval) == (12, "band 90%")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Resampling(draws=99), "99 draws: a 95% bootstrap needs 100 or more"),
        (lambda: Resampling(draws=399, level=0.995), "399 draws: a 99.5% bootstrap needs 400 or more"),
        (lambda: Resampling(level=1.0), "level 1.0: must lie between 0 and 1, for example 0.95"),
        (lambda: Resampling(method="basic"), "no bootstrap method named 'basic'; known: bca, percentile"),
        (lambda: bootstrap([], np.mean), "no columns to resample"),
        (lambda: bootstrap([np.array([])], np.mean), "no images to resample"),
        (lambda: bootstrap([np.ones(3), np.ones(4)], np.dot), "columns of different lengths: [3, 4]"),
        (lambda: bootstrap_means(np.array([])), "no images to resample"),
        (lambda: bootstrap_means(np.ones((2, 2, 2))), "scores of 3 dimensions: expected (N,) or (N, C)"),
        (lambda: bootstrap_means(np.array(1.0)), "scores of 0 dimensions: expected (N,) or (N, C)"),
        (lambda: bootstrap_means(np.eye(3)), "scores of 3 columns: say which function of their means is wanted"),
        (
            lambda: bootstrap_means(np.array([1.0, np.nan])),
            "some scores are NaN or infinite: leave these images out, or find out where it comes from",
        ),
        (
            lambda: bootstrap_means(np.ones(3), clusters=np.zeros(3)),
            "all images are in one cluster: a cluster bootstrap needs two or more",
        ),
        (
            lambda: bootstrap([np.ones(3)], np.mean, clusters=np.zeros(2)),
            "3 images but clusters of shape (2,): expected one for each image",
        ),
        (
            lambda: bootstrap([np.arange(3)], lambda _: float("nan")),
            "the statistic of all 3 images is nan: there is nothing to resample",
        ),
        (
            lambda: interval_of(np.arange(100.0), 5.0, n=9, resampling=BCA),
            "bca needs the values with each unit left out; use the percentile method",
        ),
    ],
)
def test_what_cannot_be_resampled_is_an_error(make, message):
    with pytest.raises(OodometerError) as caught:
        make()
    assert str(caught.value) == message


def test_draws_on_one_side_of_the_value():
    """As many different images as there are, which no resample has."""
    bca, percentile = (
        bootstrap([np.arange(30)], lambda drawn: len(set(drawn.tolist())), resampling=resampling)
        for resampling in (BCA, PERCENTILE)
    )
    assert (bca.value, bca.low, bca.high) == (30.0, None, None)
    assert bca.interval == "none: bca is undefined for draws so far to one side of the value"
    assert (percentile.low, percentile.high) == (pytest.approx(16, abs=1), 30.0)  # 30 (1 - 1/e) = 19, less two of 1.7


# Coverage


def coverage(sets: list[np.ndarray], truth: float, method: str, clusters: np.ndarray | None = None) -> int:
    """In how many sets the interval holds the truth, each with draws of its own."""
    found = [
        bootstrap_means(one, resampling=Resampling(method=method, seed=seed), clusters=clusters)
        for seed, one in enumerate(sets)
    ]
    return sum(one.low is not None and one.low <= truth <= one.high for one in found)


def at_least(covered: int, of: int, share: float) -> bool:
    """Whether so many may come from a coverage of that share; one that is true is denied one time in a thousand."""
    return bool(binomtest(covered, of, share, alternative="less").pvalue > 0.001)


@pytest.mark.slow
def test_coverage_of_a_skewed_mean():
    # 1,000 sets of 50 exponential scores. All bootstrap intervals of a mean cover too little where scores are few and
    # skewed; 2,000 sets gave 0.920 (percentile) and 0.931 (BCa), as Student's interval did (0.933). The tolerance of
    # 1,000 sets is 0.027 below the stated coverage.
    sets = list(np.random.default_rng(50).exponential(size=(1000, 50)))
    percentile, bca = coverage(sets, 1.0, "percentile"), coverage(sets, 1.0, "bca")
    assert at_least(percentile, 1000, 0.92)
    assert at_least(bca, 1000, 0.93)
    assert bca >= percentile


@pytest.mark.slow
def test_coverage_of_a_share():
    # 1,000 sets of 200 images of which three in four are right: nominal, up to the jumps of a count.
    sets = list(np.random.default_rng(51).random((1000, 200)) < 0.75)
    covered = coverage(sets, 0.75, "percentile")
    assert at_least(covered, 1000, 0.945)
    assert binomtest(covered, 1000, 0.96, alternative="greater").pvalue > 0.001


@pytest.mark.slow
def test_coverage_of_clustered_images():
    # 500 sets of 40 videos of 25 frames; the share right of a video is beta(2, 1), with mean 2/3. 1,000 sets gave 0.56
    # without clusters and 0.936 (percentile) and 0.942 (BCa) with them. The tolerance of 500 sets is 0.036.
    rng = np.random.default_rng(52)
    videos = np.repeat(np.arange(40), 25)
    sets = [rng.random(1000) < rng.beta(2, 1, 40)[videos] for _ in range(500)]
    assert at_least(coverage(sets, 2 / 3, "percentile", videos), 500, 0.935)
    assert at_least(coverage(sets, 2 / 3, "bca", videos), 500, 0.935)
    assert not at_least(coverage(sets[:100], 2 / 3, "percentile"), 100, 0.8)
