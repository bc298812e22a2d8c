"""The numbers of Recht et al. 2019 come out of its tables, a wrong input is noticed, and each remark is true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from oodometer.published import recht2019
from oodometer.published.recht2019 import (
    BOOTSTRAP_ROUNDING,
    FOUND,
    SETS,
    interval_explained,
    line_rounding,
    reproduce,
    without_fisher_vectors,
)
from oodometer.published.tables import read_table
from oodometer.stats.lines import bootstrap_lines


@pytest.fixture(scope="module")
def found():
    return reproduce()


@pytest.fixture
def fewer_draws(monkeypatch):
    """Enough to tell a wrong input, in less time."""
    monkeypatch.setattr(recht2019, "DRAWS", 20_000)


def changed(name, model, column, by):
    """Reads the tables with one cell moved."""

    def read(wanted):
        table = read_table(wanted)
        if wanted != name:
            return table
        moved = table.column(column).copy()
        moved[table.row(model)] += by
        return replace(table, columns={**table.columns, column: moved})

    return read


def out(reproduction):
    return {check.what for check in reproduction.checks if not check.holds}


def test_every_number_holds(found):
    assert out(found) == set()
    assert len(found.checks) == 43
    assert all(check.where and check.reason for check in found.checks)
    assert all(check.paper == found.paper == "recht2019" for check in found.checks)


def test_every_printed_interval_gap_and_rank_is_among_the_checks(found):
    counted = {check.what: check.published for check in found.checks if check.what.endswith("how many hold")}
    # 34 models on three sets of CIFAR-10, 67 on eight columns of ImageNet, and 57 of the smaller experiments
    assert sum(n for what, n in counted.items() if what.startswith("Clopper-Pearson")) == 3 * 34 + 8 * 67 + 57
    assert sum(n for what, n in counted.items() if what.startswith("ranks")) == 2 * 34 + 6 * 67
    assert sum(n for what, n in counted.items() if what.startswith("gaps")) == 2 * 34 + 6 * 67


@pytest.mark.usefixtures("fewer_draws")
def test_a_wrong_accuracy_on_cifar_is_noticed():
    bad = out(reproduce(changed("recht2019_cifar10", "random_features_32k", "cifar10.1", 5)))
    assert "slope, CIFAR-10" in bad
    assert "offset (percent), CIFAR-10" in bad
    assert "Clopper-Pearson intervals of CIFAR-10.1 (n = 2,021): how many hold" in bad
    assert "ranks and rank changes, CIFAR-10 test to CIFAR-10.1: how many hold" in bad
    assert "gaps (percent) of CIFAR-10 accuracies: how many hold" in bad
    assert not any("ImageNet" in what for what in bad)


@pytest.mark.usefixtures("fewer_draws")
def test_a_wrong_accuracy_on_imagenet_is_noticed_and_named():
    found = reproduce(changed("recht2019_imagenet", "alexnet", "matched_frequency_top1", -5))
    bad = out(found)
    assert "slope, ImageNet without Fisher vectors" in bad
    assert "average change of accuracy (percent), MatchedFrequency top-1, 67 models" in bad
    (intervals,) = (
        check for check in found.checks if check.what.startswith("Clopper-Pearson intervals of MatchedFrequency top-1")
    )
    assert (intervals.published, intervals.ours) == (67, 66)
    assert intervals.reason.endswith("out: alexnet")


@pytest.mark.usefixtures("fewer_draws")
@pytest.mark.parametrize(
    ("name", "model", "column", "by", "what"),
    [
        ("recht2019_cifar10_printed", "darc", "cifar10.1_low", 0.2, "Clopper-Pearson intervals of CIFAR-10.1 (n"),
        ("recht2019_imagenet_printed", "vgg16", "top_images_top5_high", -0.2, "Clopper-Pearson intervals of TopImages"),
        ("recht2019_imagenet_printed", "vgg16", "val_top1_rank", 3, "ranks and rank changes, ImageNet val top-1"),
        (
            "recht2019_imagenet_printed",
            "fv_4k",
            "threshold_0.7_top5_rank_change",
            1,
            "ranks and rank changes, ImageNet",
        ),
        ("recht2019_cifar10_printed", "nas", "cifar10.1_balanced_gap", 0.2, "gaps (percent) of CIFAR-10"),
        (
            "recht2019_other_intervals",
            "Table 3: Participant 1 / new",
            "n_of_interval",
            15,
            "Clopper-Pearson intervals of the smaller",
        ),
    ],
)
def test_a_wrong_printed_number_is_noticed(name, model, column, by, what):
    bad = out(reproduce(changed(name, model, column, by)))
    assert bad
    assert all(each.startswith(what) for each in bad)


def test_fisher_vectors_decide_between_the_scales():
    """Moved far above the line, they lie better on a linear scale."""
    imagenet = read_table("recht2019_imagenet")
    x, y = imagenet.column("val_top1"), imagenet.column("matched_frequency_top1").copy()
    is_fisher = np.array([model.startswith("fv_") for model in imagenet.models])
    y[is_fisher] = 1.11 * x[is_fisher] - 20.2
    checks = recht2019._scale_checks(x, y)
    assert [check.ours for check in checks] == ["linear"] * 3
    assert not any(check.holds for check in checks)


def test_rounding_of_a_line_is_what_random_rounding_does():
    rng = np.random.default_rng(0)
    table = without_fisher_vectors(read_table("recht2019_imagenet"))
    x, y = table.column("val_top1"), table.column("matched_frequency_top1")
    noise = rng.uniform(-0.05, 0.05, (2, 2000, len(x)))
    # reference: numpy's own least squares on jittered accuracies
    lines = np.array([np.polyfit(x + dx, y + dy, 1) for dx, dy in zip(*noise, strict=True)])
    likely, worst = line_rounding(x, y, worst=False), line_rounding(x, y, worst=True)
    assert 3 * lines.std(axis=0) == pytest.approx(likely, rel=0.06)
    assert (np.abs(lines - np.polyfit(x, y, 1)).max(axis=0) < worst).all()


@pytest.mark.slow
def test_rounding_moves_the_bounds_of_the_bootstrap_as_far_as_allowed():
    """The allowance lies between one and four standard deviations of what random rounding does to a bound."""
    rng = np.random.default_rng(0)
    table = read_table("recht2019_cifar10")
    x, y = table.column("cifar10_test"), table.column("cifar10.1")
    bounds = []
    for seed in range(40):
        dx, dy = rng.uniform(-0.05, 0.05, (2, len(x)))
        draws = bootstrap_lines((x + dx) / 100, (y + dy) / 100, scale="linear", draws=20_000, seed=seed)
        bounds.append([np.quantile(draws.slopes, 0.025), 100 * np.quantile(draws.intercepts, 0.025)])
    spread = np.std(bounds, axis=0)
    assert (spread < BOOTSTRAP_ROUNDING).all()
    assert (4 * spread > BOOTSTRAP_ROUNDING).all()


def test_tables_agree_with_each_other():
    for each in SETS:
        table, printed = read_table(each.table), read_table(f"{each.table}_printed")
        assert table.models == printed.models
        for name in (each.original, each.new):
            accuracy = table.column(name)
            assert (printed.column(f"{name}_low") < accuracy).all()
            assert (accuracy < printed.column(f"{name}_high")).all()
            assert sorted(printed.column(f"{name}_rank")) == list(range(1, len(accuracy) + 1))


def by_counts(accuracy, low, high, n, rounding=0.05):
    """Whether a whole number of right answers is printed so, by scipy's beta distribution: a slow loop."""
    for count in range(int((accuracy - rounding) / 100 * n) - 1, int((accuracy + rounding) / 100 * n) + 3):
        if abs(100 * count / n - accuracy) > rounding + 1e-9 or not 0 < count < n:
            continue
        bounds = 100 * beta.ppf([0.025, 0.975], [count, count + 1], [n - count + 1, n - count])
        if (np.abs(bounds - (low, high)) <= 0.05 + 1e-9).all():
            return True
    return False


def printed_rows(table, name):
    printed = read_table(f"{table}_printed")
    return list(
        zip(
            printed.models,
            read_table(table).column(name),
            printed.column(f"{name}_low"),
            printed.column(f"{name}_high"),
            strict=True,
        )
    )


@pytest.mark.parametrize(("name", "n"), [("cifar10_test", 10_000), ("cifar10.1", 2021)])
def test_intervals_come_from_whole_numbers_of_right_answers(name, n):
    assert all(by_counts(*row[1:], n) for row in printed_rows("recht2019_cifar10", name))


def test_no_whole_number_explains_three_intervals_of_table_12():
    rows = printed_rows("recht2019_cifar10", "cifar10.1_balanced")
    out = [model for model, *row in rows if not by_counts(*row, 2000)]
    (remark,) = (remark.text for remark in FOUND if remark.where == "Table 12")
    assert out == ["shake_drop", "resnet_v2_basic_110", "random_features_32k_aug"]
    assert all(model in remark for model in out)


@pytest.mark.slow
def test_table_11_has_2021_images_and_no_other_number():
    rows = [row[1:] for row in printed_rows("recht2019_cifar10", "cifar10.1")]
    sizes = [n for n in range(1500, 2601) if all(by_counts(*row, n) for row in rows)]
    assert sizes == [2021]


def test_the_new_intervals_of_table_3_are_of_100_images():
    table = read_table("recht2019_other_intervals")
    new = [row for row, name in enumerate(table.models) if name.startswith("Table 3") and name.endswith("new")]
    columns = [table.column(name)[new] for name in ("accuracy", "low", "high")]
    assert len(new) == 9
    sizes = [n for n in range(50, 301) if interval_explained(*columns, n, 0.5).all()]
    assert sizes == [100]
    assert (table.column("n")[new] == 115).all()


def test_the_interval_of_table_5_comes_from_a_rounded_accuracy():
    assert not by_counts(52.9, 49.4, 56.4, 800)
    assert interval_explained(np.array([52.9]), np.array([49.4]), np.array([56.4]), 800, 0.0).all()


def test_averages_without_fisher_vectors_are_as_remarked():
    table = without_fisher_vectors(read_table("recht2019_imagenet"))
    assert len(table.models) == 64
    (remark,) = (remark.text for remark in FOUND if remark.where == "Table 2")
    for name in recht2019.AVERAGE_CHANGES:
        change = float((table.column(name) - table.column(f"val_{name[-4:]}")).mean())
        assert f"{change:+.1f}" in remark


def test_remarks_on_single_cells():
    table = read_table("recht2019_imagenet")
    assert (table.value("resnet50", "val_top5"), table.value("resnet50", "matched_frequency_top5")) == (92.9, 84.7)
    cifar = read_table("recht2019_cifar10")
    assert (cifar.value("vgg_15_BN_64", "cifar10_test"), cifar.value("wrn_28_10", "cifar10_test")) == (93.0, 95.9)
    small = read_table("recht2019_other_intervals")
    assert small.value("Table 13: original / resnet50 top-5", "accuracy") == 92.5
    assert small.value("Table 4: original / vgg_15_BN_64", "accuracy") == 93.6
    assert small.value("Table 4: original / wide_resnet_28_10", "accuracy") == 95.7
    assert sum("MatchedFrequency" in name for name in small.models) == 4


def test_remarks_that_are_derived(found):
    texts = {remark.where: remark.text for remark in found.remarks}
    # Recht et al. 2019, Table 15: nasnetalarge has the smallest gap, mobilenet_v1_tf the largest
    assert "from 10.3 (nasnetalarge) to 13.6" in texts["Abstract"]
    assert "MatchedFrequency top-1: logit 0.42, probit 0.45, linear 1.21" in texts["Figures 6 and 13"]
