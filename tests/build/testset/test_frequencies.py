"""Selection frequencies: against scipy and plain loops; what has no answers has no frequency."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from made_answers import from_table, tables
from oodometer.build.testset.frequencies import class_summaries, selection_frequencies
from oodometer.core.errors import OodometerError

quick = settings(deadline=None, derandomize=True, max_examples=100)


@quick
@given(tables())
def test_every_image_against_scipy(table):
    found = selection_frequencies(from_table(table), level=0.9)
    for image, row in enumerate(table):
        yes, n = sum(row == 1), sum(row >= 0)
        if n == 0:
            assert np.isnan([found.frequency[image], found.low[image], found.high[image]]).all()
            continue
        # reference: scipy.stats.binomtest(...).proportion_ci(method="wilson")
        reference = stats.binomtest(int(yes), int(n)).proportion_ci(0.9, method="wilson")
        one = found.estimate(image)
        assert (one.value, one.n, one.interval) == (yes / n, n, "wilson 90%")
        assert (one.low, one.high) == pytest.approx((reference.low, reference.high), abs=1e-12)


@quick
@given(tables())
def test_the_order_of_images_workers_and_answers_does_not_matter(table):
    rng = np.random.default_rng(0)
    images, workers = rng.permutation(table.shape[0]), rng.permutation(table.shape[1])
    before, after = (selection_frequencies(from_table(one)) for one in (table, table[images][:, workers]))
    np.testing.assert_array_equal(after.frequency, before.frequency[images])
    np.testing.assert_array_equal(after.low, before.low[images])


def test_an_image_without_answers_has_no_estimate():
    found = selection_frequencies(from_table(np.array([[1, 0], [-1, -1]])))
    with pytest.raises(OodometerError, match="image 1 has no answers: its selection frequency is undefined"):
        found.estimate(1)


def test_no_images_at_all():
    assert len(selection_frequencies(from_table(np.zeros((0, 3), dtype=np.int64))).frequency) == 0


def student(values):
    """Mean and 95 % interval by the textbook, cut off at 0 and 1."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = stats.t.ppf(0.975, len(values) - 1) * math.sqrt(variance / len(values))
    return mean, max(mean - half, 0), min(mean + half, 1)


def test_classes_against_a_plain_loop():
    rng = np.random.default_rng(0)
    table = np.where(rng.random((60, 12)) < 0.3, -1, rng.random((60, 12)) < 0.7).astype(np.int64)
    table[:5] = -1
    classes = np.arange(60) % 4 - 1  # a quarter is left out
    found = class_summaries(selection_frequencies(from_table(table)), classes, threshold=0.75)
    assert [one.code for one in found] == [0, 1, 2]
    for one in found:
        rows = [row for row, code in zip(table, classes, strict=True) if code == one.code]
        shares = [sum(row == 1) / sum(row >= 0) for row in rows if any(row >= 0)]
        assert (one.n_images, one.n_answered, one.n_answers) == (15, len(shares), sum(sum(row >= 0) for row in rows))
        assert (one.mean.value, one.mean.low, one.mean.high) == pytest.approx(student(shares), abs=1e-12)
        reached = sum(share >= 0.75 for share in shares)
        # reference: scipy.stats.binomtest(...).proportion_ci(method="wilson")
        reference = stats.binomtest(reached, len(shares)).proportion_ci(method="wilson")
        ends = (one.at_or_above.low, one.at_or_above.high)
        assert one.at_or_above.value == reached / len(shares)
        assert ends == pytest.approx((reference.low, reference.high), abs=1e-12)
        assert (one.mean.interval, one.at_or_above.interval) == ("student-t 95%", "wilson 95%")


@pytest.mark.parametrize("n", [5, 7, 10, 30])
def test_exactly_the_threshold_reaches_it(n):
    for yes in range(n + 1):
        table = np.array([[1] * yes + [0] * (n - yes)])
        threshold = float(f"{yes / n:.17g}")  # as it would be typed
        (found,) = class_summaries(selection_frequencies(from_table(table)), np.array([0]), threshold=threshold)
        assert found.at_or_above.value == 1


def test_seven_of_ten_reach_seven_tenths():
    found = selection_frequencies(from_table(np.array([[1] * 7 + [0] * 3])))
    assert class_summaries(found, np.array([0]))[0].at_or_above.value == 1


def test_a_class_without_answers_has_no_shares():
    found = selection_frequencies(from_table(np.array([[1, 1], [-1, -1]])))
    all_said, none_said = class_summaries(found, np.array([0, 1]))
    assert (none_said.n_images, none_said.n_answered, none_said.mean, none_said.at_or_above) == (1, 0, None, None)
    assert (all_said.mean.value, all_said.mean.low, all_said.mean.interval) == (1.0, None, "none: one score")


@pytest.mark.parametrize(
    ("classes", "threshold", "message"),
    [
        (np.array([0]), 0.7, "classes of shape (1,) and type int64: expected (2,) whole numbers"),
        (np.array([0.0, 1.0]), 0.7, "classes of shape (2,) and type float64: expected (2,) whole numbers"),
        (np.array([0, 1]), 70, "threshold 70: must lie in [0, 1], for example 0.7"),
    ],
)
def test_what_is_no_question_is_an_error(classes, threshold, message):
    with pytest.raises(OodometerError) as caught:
        class_summaries(selection_frequencies(from_table(np.eye(2, dtype=np.int64))), classes, threshold=threshold)
    assert str(caught.value) == message
