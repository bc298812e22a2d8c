"""Synthetic against natural shifts: against scipy pair by pair, and on the testbed's table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from oodometer.core.errors import OodometerError
from oodometer.stats.lines import fit_line
from oodometer.stats.shift_correlation import Shifts, average_setting, rho_table, shift_correlation

BASELINE, OTHERS = np.arange(30) < 15, np.arange(30) >= 15


def shifts(seed: int, n: int, *, gaps: bool = False) -> Shifts:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 0.9, (30, n))
    y = x * rng.uniform(0.5, 0.9, (30, n))
    if gaps:
        y[rng.random((30, n)) < 0.15] = np.nan
    return Shifts(tuple(f"{seed}-{one}" for one in range(n)), x, y)


@pytest.mark.parametrize("gaps", [False, True])
def test_each_pair_agrees_with_its_definition(gaps):
    synthetic, natural = shifts(0, 3, gaps=gaps), shifts(1, 2, gaps=gaps)
    found = shift_correlation(synthetic, natural, baseline=BASELINE, models=OTHERS)
    assert (found.synthetic, found.natural) == (synthetic.names, natural.names)
    for a, b in np.ndindex(3, 2):
        rho = []
        for each, column in ((synthetic, a), (natural, b)):
            x, y = each.x[:, column], each.y[:, column]
            fitted = BASELINE & ~np.isnan(y)
            rho.append(y - fit_line(x[fitted], y[fitted]).at(x))
        both = OTHERS & ~np.isnan(rho[0]) & ~np.isnan(rho[1])
        # reference: scipy.stats.pearsonr
        assert found.r[a, b] == pytest.approx(pearsonr(rho[0][both], rho[1][both]).statistic)
        assert found.n[a, b] == both.sum()


def test_the_same_shift_twice_is_perfectly_correlated():
    found = shift_correlation(shifts(0, 2), shifts(0, 2), baseline=BASELINE, models=OTHERS)
    assert np.diag(found.r) == pytest.approx([1.0, 1.0])


def test_one_clean_set_serves_all_shifts():
    several = shifts(0, 3)
    x = several.x[:, 0]
    one, each = Shifts(several.names, x, several.y), Shifts(several.names, np.stack([x] * 3, axis=1), several.y)
    assert (rho_table(one, BASELINE) == rho_table(each, BASELINE)).all()


def test_rho_is_missing_only_where_it_was_not_measured():
    table = shifts(2, 4, gaps=True)
    assert (np.isnan(rho_table(table, BASELINE)) == np.isnan(table.y)).all()


def test_averages_are_of_all_settings_or_none():
    assert average_setting(np.array([[0.2, 0.4], [0.2, np.nan]]))[0] == pytest.approx(0.3)
    assert np.isnan(average_setting(np.array([[0.2, 0.4], [0.2, np.nan]]))[1])
    with pytest.raises(OodometerError, match="at least one setting"):
        average_setting(np.empty((3, 0)))


def test_what_can_not_be_used_is_an_error():
    table = shifts(0, 2)
    with pytest.raises(OodometerError, match="as many as names"):
        Shifts(("one",), table.x, table.y)
    with pytest.raises(OodometerError, match="clean accuracies of shape"):
        Shifts(table.names, table.x[:5], table.y)
    with pytest.raises(OodometerError, match="baseline: expected True or False"):
        rho_table(table, np.arange(30))
    with pytest.raises(OodometerError, match="models: expected True or False"):
        shift_correlation(table, table, baseline=BASELINE, models=OTHERS[:4])
    with pytest.raises(OodometerError, match="0-0: 2 models"):
        rho_table(table, np.arange(30) < 2)
    with pytest.raises(OodometerError, match="both tables must have the same"):
        shift_correlation(
            table, Shifts(table.names, table.x[:5], table.y[:5]), baseline=BASELINE[:5], models=OTHERS[:5]
        )


# Taori et al. 2020, section 4.2: r = 0.24 and −0.05; the table gives 0.27 over 109 models with all on-disk and
# in-memory columns averaged, and −0.050 over 99.
def test_corruptions_and_attacks_hardly_predict_imagenetv2(testbed):
    averages = [
        average_setting(np.stack([testbed[name] for name in testbed.columns if name.startswith(prefix)], axis=1))
        for prefix in ("imagenet-c.", "pgd.")
    ]
    clean = testbed["val"]
    found = shift_correlation(
        Shifts(("corruptions", "pgd"), clean, np.stack(averages, axis=1)),
        Shifts(("imagenetv2",), clean, testbed["imagenetv2-matched-frequency-format-val"][:, None]),
        baseline=testbed.standard,
        models=testbed.other,
    )
    assert found.n[:, 0].tolist() == [109, 99]
    assert found.r[:, 0] == pytest.approx([0.27, -0.050], abs=0.005)
    assert found.r[:, 0] == pytest.approx([0.24, -0.05], abs=0.05)
