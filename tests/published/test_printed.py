"""What the rounding of printed numbers allows."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.published.printed import PrintedMean, mean_check, rows_off_their_mean, statement
from oodometer.published.tables import parse_table

MEAN = PrintedMean("mean", "Table 1", "mean", ("a", "b", "c", "d"), cell_unit=1, unit=0.1)


def test_a_mean_of_rounded_cells_never_leaves_what_is_allowed():
    rng = np.random.default_rng(0)
    exact = rng.uniform(0, 100, (2_000, 4))
    printed, means = np.round(exact), np.round(exact.mean(axis=1), 1)
    lines = [f"m{i},{','.join(map(str, row))},{mean}" for i, (row, mean) in enumerate(zip(printed, means, strict=True))]
    assert rows_off_their_mean(MEAN, parse_table("t", ["model,a,b,c,d,mean", *lines])) == ()


def test_the_worst_case_is_allowed_and_no_more():
    # Cells of 0.5 printed as 1 each, and their mean of 0.5 printed as 0.45: 0.55 is the worst case.
    table = parse_table("t", ["model,a,b,c,d,mean", "worst,1,1,1,1,0.45", "more,1,1,1,1,0.44"])
    assert MEAN.allowed == pytest.approx(0.55)
    assert mean_check("p", MEAN, table, "worst").holds
    assert rows_off_their_mean(MEAN, table) == ("more",)


def test_the_standard_deviation_that_is_stated_is_that_of_roundings():
    rng = np.random.default_rng(1)
    exact = rng.uniform(0, 100, (100_000, 4))
    off = np.round(exact).mean(axis=1) - np.round(exact.mean(axis=1), 1)
    # The standard deviation of 100,000 draws is known to 0.3 %.
    assert f"({off.std():.2f} is one standard deviation)" in MEAN.reason


def test_a_check_says_what_was_printed_and_what_the_cells_give():
    table = parse_table("t", ["model,a,b,c,d,mean", "m,1,2,3,4,2.6"])
    check = mean_check("p", MEAN, table, "m")
    assert (check.what, check.where, check.published, check.ours) == ("mean of m", "Table 1", 2.6, 2.5)


def test_a_statement_shows_what_holds_instead():
    assert statement("p", "w", "s", "all", otherwise="").holds
    broken = statement("p", "w", "s", "all", otherwise="not fog")
    assert not broken.holds
    assert broken.ours == "not fog"
