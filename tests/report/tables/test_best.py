"""The best, only where it can be told."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.estimate import Estimate
from oodometer.report.tables.best import best_of
from oodometer.stats.intervals import share_of
from oodometer.stats.paired import PairedCounts, paired_difference


def one(value: float, half: float | None) -> Estimate:
    return Estimate(value, None if half is None else value - half, None if half is None else value + half, 10, "any")


@pytest.mark.parametrize(
    ("values", "better", "expected"),
    [
        ({"a": one(0.9, 0.05), "b": one(0.7, 0.05)}, "high", "a"),
        ({"a": one(0.9, 0.05), "b": one(0.7, 0.05)}, "low", "b"),
        ({"a": one(0.9, 0.1), "b": one(0.8, 0.1)}, "high", None),
        ({"a": one(0.9, 0.05), "b": one(0.7, 0.05), "c": one(0.85, 0.02)}, "high", None),  # the second is too near
        ({"a": one(0.9, None), "b": one(0.7, 0.05)}, "high", None),  # nobody knows how sure
        ({"a": one(0.9, 0.05)}, "high", None),  # better than whom?
        ({}, "high", None),
        ({"a": one(0.9, 0.0), "b": one(0.9, 0.0)}, "high", None),
    ],
)
def test_intervals_that_do_not_overlap(values, better, expected):
    assert best_of(values, better) == expected


def test_a_difference_says_more_than_two_intervals():
    # Right on the same images but for 20 that only a has: reference, Tango's interval of the paired difference.
    values = {"a": share_of(720, 1000), "b": share_of(700, 1000)}
    counts = PairedCounts(700, 0, 20, 280)
    assert paired_difference(counts).low > 0
    assert best_of(values, "high") is None
    signs = {("a", "b"): counts, ("b", "a"): PairedCounts(700, 20, 0, 280)}
    assert best_of(values, "high", lambda a, b: paired_difference(signs[a, b])) == "a"
    assert best_of(values, "low", lambda a, b: paired_difference(signs[a, b])) == "b"
    assert best_of(values, "high", lambda *_: None) is None


def test_equally_good_models_are_seldom_told_apart():
    """Of two models that are equally good, one is bold in at most about 5 % of the samples: a simulation."""
    rng = np.random.default_rng(0)
    told, times = 0, 1000
    for _ in range(times):
        a, b = rng.random((2, 300)) < 0.7
        counts = PairedCounts(int((a & b).sum()), int((b & ~a).sum()), int((a & ~b).sum()), int((~a & ~b).sum()))
        swapped = PairedCounts(counts.both, counts.only_b, counts.only_a, counts.neither)
        values = {"a": share_of(int(a.sum()), 300), "b": share_of(int(b.sum()), 300)}
        found = {("a", "b"): paired_difference(counts), ("b", "a"): paired_difference(swapped)}
        told += best_of(values, "high", lambda x, y, found=found: found[x, y]) is not None
    assert told <= 70  # 50 expected; the binomial's 99.8 % quantile is 70
