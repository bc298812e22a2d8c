"""Intervals of metrics: which one a metric gets, and that the bootstraps are those of a plain loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, binomtest, bootstrap, norm
from scipy.stats import t as student

from few_groups import stretched
from oodometer.analysis.cell_estimates import SORTING, CellEstimates
from oodometer.analysis.intervals import (
    IntervalOptions,
    estimate_of,
    share_estimate,
    shared_draws,
)
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.predictions import Predictions, from_logits, from_top_classes
from oodometer.metrics.metric import Metric, columns_of, metrics
from oodometer.metrics.per_class import balanced_accuracy, class_accuracies
from oodometer.metrics.resampled import OF_ANSWERS, OF_CLASSES
from oodometer.stats.bootstrap import resample_counts

RESAMPLED = (*OF_ANSWERS, *OF_CLASSES)


def rows_of(n: int, seed: int = 0, *, k: int = 12, unlabelled: int = 0) -> Predictions:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    logits = rng.normal(size=(n, k)) + 2 * rng.random((n, 1)) * (np.arange(k) == labels[:, None])
    labels[:unlabelled] = -1
    return from_logits(logits, labels, np.arange(n))


def plain_draws(
    metric: Metric, columns: tuple[np.ndarray, ...], how: IntervalOptions, clusters: np.ndarray | None
) -> np.ndarray:
    """The metric of each resample, one after the other."""
    n = len(columns[0])
    codes = np.arange(n) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    found = []
    for block in resample_counts(int(codes.max()) + 1, how.resampling):
        for times in block:
            drawn = np.concatenate([np.full(times[code], image) for image, code in enumerate(codes)])
            found.append(metric.of(*(column[drawn] for column in columns)))
    return np.array(found)


@pytest.mark.parametrize("name", RESAMPLED)
@pytest.mark.parametrize("clustered", [False, True])
def test_a_whole_metric_gets_the_quantiles_of_a_plain_loop(name, clustered):
    rows = rows_of(260, unlabelled=10)
    clusters = np.arange(260) // 4 if clustered else None
    how = IntervalOptions("bootstrap", draws=100, level=0.9, by="video" if clustered else None, seed=3)
    metric = metrics.get(name)
    columns = columns_of(metric, rows)
    found = CellEstimates(rows, [metric], how, clusters).of(metric)
    draws = plain_draws(metric, columns, how, None if clusters is None else clusters[10:])
    assert found.n == 250
    assert found.value == metric.of(*columns)
    low, high = np.nanquantile(draws, [0.05, 0.95])
    if clustered:
        groups = len(np.unique(clusters[10:]))
        low, high = np.clip(stretched(np.array([low, high]), found.value, groups, 0.9), *metric.bounds)
    # the value is in its interval, also where nearly all draws lie on one side of it
    assert (found.low, found.high) == pytest.approx((min(low, found.value), max(high, found.value)), abs=1e-12)
    undefined = int(np.isnan(draws).sum())
    assert undefined == 0
    assert found.interval == f"{'cluster bootstrap' if clustered else 'bootstrap'} 90%"


def test_metrics_of_one_cell_do_not_depend_on_each_other():
    rows, how = rows_of(230), IntervalOptions(draws=100)
    several = [metrics.get(name) for name in ("aurra", "worst-class", "ece", "balanced", "top-1", "nll")]
    together = CellEstimates(rows, several, how)
    for metric in reversed(several):
        assert together.of(metric) == CellEstimates(rows, [metric], how).of(metric)


def test_more_counts_than_are_kept_are_the_same_counts(monkeypatch):
    rows, how, metric = rows_of(230), IntervalOptions(draws=100), metrics.get("aurra")
    kept = CellEstimates(rows, [metric], how).of(metric)
    monkeypatch.setattr("oodometer.analysis.intervals.KEPT_COUNTS", 1)
    assert CellEstimates(rows, [metric], how).of(metric) == kept
    groups = np.arange(230) % 7
    by = CellEstimates(rows, [metric], IntervalOptions(draws=100, by="x"), groups).of(metric)
    monkeypatch.undo()
    assert by == CellEstimates(rows, [metric], IntervalOptions(draws=100, by="x"), groups).of(metric)


@pytest.mark.parametrize(("interval", "method"), [("clopper-pearson", "exact"), ("wilson", "wilson")])
def test_shares_and_means_have_intervals_of_their_own(interval, method):
    rows, how = rows_of(300), IntervalOptions(interval, level=0.8)
    right = rows.rank == 0
    bounds = binomtest(int(right.sum()), 300).proportion_ci(0.8, method=method)  # scipy
    estimates = CellEstimates(rows, [metrics.get("top-1"), metrics.get("nll")], how)
    share = estimates.of(metrics.get("top-1"))
    assert (share.low, share.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
    scores = -rows.label_log_probability.astype(np.float64)
    mean = estimates.of(metrics.get("nll"))
    half = student.ppf(0.9, 299) * scores.std(ddof=1) / np.sqrt(300)  # scipy
    assert mean.value == pytest.approx(scores.mean())
    assert (mean.low, mean.high) == pytest.approx((scores.mean() - half, scores.mean() + half))
    assert mean.interval == "student-t 80%"


@pytest.mark.parametrize("name", ["top-1", "nll", "aurra"])
def test_bootstrap_and_bca_are_for_everything(name):
    rows, metric = rows_of(400), metrics.get(name)
    columns = columns_of(metric, rows)
    for interval, method in (("bootstrap", "percentile"), ("bca", "BCa")):
        found = CellEstimates(rows, [metric], IntervalOptions(interval, draws=2000)).of(metric)
        assert found.interval == f"{'bca ' if interval == 'bca' else ''}bootstrap 95%"
        # reference: scipy, whose draws are others; 2,000 draws give bounds to some 4 % of the width
        reference = bootstrap(
            columns, lambda *some: np.mean(metric.of(*some)), paired=True, vectorized=False, n_resamples=2000,
            method=method, rng=np.random.default_rng(8),
        ).confidence_interval  # fmt: skip
        width = reference.high - reference.low
        assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=0.15 * width)


def test_a_share_by_groups_is_wider_where_groups_agree():
    groups = np.repeat(np.arange(40), 10)
    right = np.random.default_rng(1).random(40)[groups] < 0.5  # all of a group alike
    alone = share_estimate(right, IntervalOptions("bootstrap", draws=4000), None)
    together = share_estimate(right, IntervalOptions(draws=4000, by="video"), groups)
    # the standard error of a mean of 400 against that of a mean of 40, in closed form
    sd = right.std()
    wide = 2 * norm.ppf(0.975) * sd
    assert alone.high - alone.low == pytest.approx(wide / np.sqrt(400), rel=0.08)
    assert together.high - together.low == pytest.approx(wide / np.sqrt(40), rel=0.08)
    assert together.interval == "cluster bootstrap 95%"


@pytest.mark.parametrize("hits", [0, 50])
def test_all_right_or_all_wrong_has_no_bootstrap_interval(hits):
    right = np.arange(50) < hits
    found = share_estimate(right, IntervalOptions("bootstrap"), None)
    assert (found.value, found.low, found.high, found.n) == (hits / 50, None, None, 50)
    assert found.interval == "none: all bootstrap draws are equal"
    exact = share_estimate(right, IntervalOptions(), None)
    bounds = binomtest(hits, 50).proportion_ci()  # scipy
    assert (exact.low, exact.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)


@pytest.mark.parametrize("name", sorted(set(metrics._addresses) - {"rms-calibration:published"}))
def test_one_image(name):
    rows, metric = rows_of(1), metrics.get(name)
    found = CellEstimates(rows, [metric], IntervalOptions()).of(metric)
    assert found.n == 1
    assert np.isfinite(found.value)
    if metric.kind == "share" or name in ("balanced", "worst-class"):
        # scipy: of one image any share is possible
        bounds = binomtest(int(found.value), 1).proportion_ci(method="exact")
        assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high), abs=1e-12)
    else:
        assert (found.low, found.high) == (None, None)
        assert found.interval.startswith("none: ")


def test_one_cluster_is_an_error():
    metric = metrics.get("ece")
    with pytest.raises(OodometerError, match="all images are in one cluster"):
        CellEstimates(rows_of(20), [metric], IntervalOptions(by="class"), np.zeros(20)).of(metric)


def test_what_only_all_logits_tell_is_an_error_without_them():
    rows = from_top_classes(np.array([[1, 2], [3, 4]]), np.array([1, 4]), np.arange(2))
    for name in ("ece", "brier", "nll", "aurra"):
        with pytest.raises(OodometerError, match=f"^{name}: needs .* only the best classes"):
            CellEstimates(rows, [metrics.get(name)], IntervalOptions()).of(metrics.get(name))


def test_shared_draws_are_a_plain_loop_over_images():
    scores = np.random.default_rng(2).random((30, 3)) < 0.4
    how = IntervalOptions("bca", draws=150, seed=5)
    found = shared_draws(scores, how)
    means = [scores.mean(axis=0)]
    for block in resample_counts(30, how.resampling):
        for times in block:
            drawn = [image for image in range(30) for _ in range(times[image])]
            means.append(np.mean([scores[image] for image in drawn], axis=0))
    np.testing.assert_allclose(found.means, means, atol=1e-12)
    estimate = found.estimate(found.means[:, 0] - found.means[:, 2])
    difference = np.array(means)[:, 0] - np.array(means)[:, 2]
    assert estimate.value == pytest.approx(difference[0])
    assert (estimate.low, estimate.high) == pytest.approx(tuple(np.quantile(difference[1:], [0.025, 0.975])))
    assert estimate.low < 0
    assert found.estimate(found.means[:, 0] - found.means[:, 2], least=0.0).low == 0  # of what can't lie below
    # functions of several means are never BCa, and the name says so
    assert (estimate.n, estimate.interval) == (30, "bootstrap 95%")


def test_what_is_no_interval_is_refused():
    with pytest.raises(UsageError, match="did you mean bootstrap"):
        IntervalOptions("bootstraps")
    with pytest.raises(UsageError, match="100 or more"):
        _ = IntervalOptions(draws=99).resampling
    assert (IntervalOptions("bca").of_counts, IntervalOptions("wilson").of_counts) == ("clopper-pearson", "wilson")


def test_a_metric_of_ones_own_that_is_no_metric():
    columns = (np.zeros(5, dtype=int),)
    one_number = Metric("mine", "", ("rank",), lambda rank: rank.mean(), kind="mean")
    with pytest.raises(OodometerError, match=r"mine: gave an array of shape \(\) for 5 images"):
        estimate_of(one_number, columns, IntervalOptions(), None)
    half = Metric("mine", "", ("rank",), lambda rank: rank + 0.5, kind="share")
    with pytest.raises(OodometerError, match="mine: gave scores other than 0 and 1; make it of kind 'mean'"):
        estimate_of(half, columns, IntervalOptions(), None)


def test_an_interval_ends_where_the_metric_does():
    scores = np.array([0.0] * 19 + [9.0])
    free = Metric("mine", "", ("nll",), lambda nll: nll, kind="mean")
    bounded = Metric("mine", "", ("nll",), lambda nll: nll, kind="mean", bounds=(0.0, np.inf))
    assert estimate_of(free, (scores,), IntervalOptions(), None).low < 0
    found = estimate_of(bounded, (scores,), IntervalOptions(), None)
    assert (found.low, found.high) == (0.0, estimate_of(free, (scores,), IntervalOptions(), None).high)


@pytest.mark.parametrize(
    ("interval", "by"), [("clopper-pearson", None), ("bootstrap", None), ("bca", None), ("wilson", "x")]
)
def test_balanced_with_one_image_per_class_is_top_1(interval, by):
    rng = np.random.default_rng(6)
    labels = np.arange(60)
    rows = from_logits(rng.normal(size=(60, 60)) + 2.5 * np.eye(60), labels, labels)
    how = IntervalOptions(interval, by=by)
    estimates = CellEstimates(rows, [], how, None if by is None else labels // 2)
    balanced, top_1 = (estimates.of(metrics.get(name)) for name in ("balanced", "top-1"))
    assert 0.2 < top_1.value < 0.9
    assert (balanced.value, balanced.n) == (pytest.approx(top_1.value), 60)
    assert (balanced.low, balanced.high) == pytest.approx((top_1.low, top_1.high), abs=1e-9)


def test_balanced_by_hand():
    label, rank = np.repeat([3, 5, 8], [2, 4, 1]), np.array([0, 1, 0, 0, 0, 1, 0])
    rows = Predictions(**{**vars_of(rows_of(7)), "label": label, "rank": rank})
    found = CellEstimates(rows, [], IntervalOptions(level=0.9)).of(metrics.get("balanced"))
    mean = (1 / 2 + 3 / 4 + 1) / 3
    # the formula, class by class; the class of one image has the variance of the mean
    variance = (1 / 4 / 1 + 3 / 16 / 3 + mean * (1 - mean)) / 9
    effective = mean * (1 - mean) / variance
    hits = mean * effective
    assert found.value == pytest.approx(mean) == balanced_accuracy(label, rank)
    # reference: scipy's beta distribution, of which Clopper and Pearson's ends are quantiles
    assert (found.low, found.high) == pytest.approx(
        (beta.ppf(0.05, hits, effective - hits + 1), beta.ppf(0.95, hits + 1, effective - hits))
    )
    assert (found.n, found.interval) == (7, "korn-graubard 90%")


def vars_of(rows: Predictions) -> dict:
    return {name: getattr(rows, name) for name in rows.__dataclass_fields__}


def test_the_worst_class_has_the_least_of_exact_intervals():
    rows = rows_of(200, seed=8, k=5)
    found = CellEstimates(rows, [], IntervalOptions()).of(metrics.get("worst-class"))
    classes = class_accuracies(rows.label, rows.rank)
    # scipy, class by class; the upper ends at 1 - 0.05 / 5
    each = [binomtest(int(k), int(n)) for k, n in zip(classes.right, classes.n, strict=True)]
    low = min(one.proportion_ci(0.95, method="exact").low for one in each)
    high = min(one.proportion_ci(0.99, method="exact").high for one in each)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["balanced", "worst-class"])
@pytest.mark.parametrize("sizes", [[1] * 40, [2] * 30, [10] * 10, [1, 2, 3, 40, 80]])
def test_coverage_of_class_accuracies(name, sizes):
    rng = np.random.default_rng(sum(sizes))
    truths = rng.uniform(0.4, 0.95, len(sizes))
    label = np.repeat(np.arange(len(sizes)), sizes)
    plain, truth = rows_of(len(label)), {"balanced": truths.mean(), "worst-class": truths.min()}[name]

    def holds() -> bool:
        rank = (rng.random(len(label)) > truths[label]).astype(int)
        rows = Predictions(**{**vars_of(plain), "label": label, "rank": rank})
        found = CellEstimates(rows, [], IntervalOptions()).of(metrics.get(name))
        return found.low <= truth <= found.high

    covered = sum(holds() for _ in range(500))
    # a coverage of 94 % is denied one time in a thousand
    assert binomtest(covered, 500, 0.94, alternative="less").pvalue > 0.001


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", ["aurra", "aurc"])
def test_areas_over_many_images_have_the_interval_of_a_bootstrap(name, ties, monkeypatch):
    """5,000 draws give bounds to some 3 % of the width; the images are few here, so that it takes a moment."""
    monkeypatch.setattr("oodometer.analysis.cell_estimates.MANY_IMAGES", 2_000)
    rows, metric = rows_of(2_000), metrics.get(name)
    if ties:
        rows = replace(rows, confidence=rows.confidence.round(2))
    found = CellEstimates(rows, [metric], IntervalOptions()).of(metric)
    drawn = CellEstimates(rows, [metric], IntervalOptions("bootstrap", draws=5000)).of(metric)
    assert (found.interval, drawn.interval) == ("infinitesimal jackknife 95%", "bootstrap 95%")
    assert (found.value, found.n) == (drawn.value, drawn.n)
    width = drawn.high - drawn.low
    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.06 * width)


def test_an_area_of_answers_that_are_all_alike_has_no_interval(monkeypatch):
    monkeypatch.setattr("oodometer.analysis.cell_estimates.MANY_IMAGES", 100)
    rows = rows_of(100)
    found = CellEstimates(replace(rows, rank=np.zeros_like(rows.rank)), [metrics.get("aurra")], IntervalOptions())
    assert str(found.of(metrics.get("aurra")).interval) == "none: all images are answered alike"


@pytest.mark.parametrize("name", SORTING)
def test_sorted_images_give_the_same_to_the_last_digit(name, monkeypatch):
    rows, metric = rows_of(2_500), metrics.get(name)
    found = CellEstimates(rows, [metric], IntervalOptions(draws=100)).of(metric)
    monkeypatch.setattr("oodometer.analysis.cell_estimates.SORTING", ())
    assert CellEstimates(rows, [metric], IntervalOptions(draws=100)).of(metric) == found


def test_cells_prepared_together_have_the_estimates_of_each_alone():
    """Of as many images, of fewer, without labels, and with confidences that none can be."""
    several = [metrics.get(name) for name in (*SORTING, "ece")]
    rng = np.random.default_rng(5)
    cells = [rows_of(12_000, seed) for seed in range(5)] + [rows_of(300, 8), rows_of(12_000, 9, unlabelled=12_000)]
    tied = replace(cells[0], confidence=rng.choice(np.array([0.25, 0.5, 1.0], np.float32), 12_000))
    all_right = replace(cells[1], rank=np.zeros(12_000, np.int32))
    wrong = replace(cells[2], confidence=cells[2].confidence + 1)
    cells += [tied, all_right, wrong]
    how = IntervalOptions(draws=100)
    together = [CellEstimates(rows, several, how) for rows in cells]
    CellEstimates.prepare(together)

    def said(estimates: CellEstimates, metric: Metric) -> object:
        try:
            return estimates.of(metric)
        except OodometerError as error:
            return str(error)

    for rows, estimates in zip(cells, together, strict=True):
        for metric in several:
            assert said(estimates, metric) == said(CellEstimates(rows, [metric], how), metric), metric.name
    assert "outside of [0, 1]" in said(together[-1], metrics.get("aurra"))
    assert "undefined" in said(together[6], metrics.get("ece"))
