"""What is derived of the papers' texts follows the tables that it comes from."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from oodometer.published.in_text import hendrycks2019, many_faces2021, natural_adversarial2021, recht2019, taori2020
from oodometer.published.testbed_table import Grid, read_testbed
from shared_data import shared


@pytest.mark.parametrize(
    ("module", "cell", "what"),
    [
        (
            recht2019,
            ("recht2019_imagenet", "pnasnet_large_tf", "matched_frequency_top5", 88.0),
            "drop of pnasnet_large_tf on ImageNet, top-5",
        ),
        (
            recht2019,
            ("recht2019_other_intervals", "Table 3: Participant 1 / new", "accuracy", 50.0),
            "mean drop of nine people on the hardest images",
        ),
        (
            recht2019,
            ("recht2019_other_intervals", "Table 14: row 3 (MatchedFrequency) / pre-trained", "accuracy", 40.0),
            "best accuracy in telling original and new ImageNet images apart",
        ),
        (
            recht2019,
            ("recht2019_imagenet", "alexnet", "top_images_top5", 60.0),
            "slope of TopImages, top-5, without Fisher vectors",
        ),
        (hendrycks2019, ("recht2019_imagenet", "densenet161", "val_top1", 76.0), "clean error of DenseNet-161"),
        (
            many_faces2021,
            ("hendrycks2021_imagenet_r", "ResNet-152", "imagenet_r_error", 60.0),
            "error on ImageNet-R of ResNet-152",
        ),
    ],
)
def test_a_wrong_cell_is_noticed(change, monkeypatch, module: ModuleType, cell, what):
    if module is recht2019:
        monkeypatch.setattr(recht2019, "DRAWS", 100)
    before = {check.what: check.holds for check in module.checks()}
    assert before[what]
    change(module, *cell)
    after = {check.what: check.holds for check in module.checks()}
    assert not after[what]


def test_an_accuracy_that_stands_twice_with_two_values(change):
    (check,) = natural_adversarial2021.checks()
    # Natural Adversarial Examples, Section 5.2: 17.2 beside self-attention, 18.0 beside size
    assert (check.published, check.ours, check.holds) == (17.2, 18.0, False)
    change(natural_adversarial2021, "hendrycks2021_imagenet_o_aupr", "ResNet-152", "imagenet_o_aupr", 17.2)
    assert natural_adversarial2021.checks()[0].holds


def made(**columns: list[float]) -> Grid:
    """Four standard models and a fifth with more data; the second is ResNet-50."""
    models = ("small", "resnet50", "large", "larger", "more")
    kinds = np.array(["standard"] * 4 + ["more_data"])
    return Grid(models, {name: np.array(values) for name, values in columns.items()}, kinds)


CLEAN = [0.6, 0.7, 0.8, 0.9, 0.95]
SETTINGS = {"val": CLEAN, "val-on-imagenet-a-classes": CLEAN, "imagenet-c.fog.1_on-disk": [0.5] * 5}


def test_the_pace_is_the_slope_above_resnet_50():
    grid = made(**SETTINGS, **{"imagenet-a": [0.01, 0.0, 0.1, 0.4, 0.9]})
    standard = grid.categories == "standard"
    # closed form: from 0.1 at 0.8 to 0.4 at 0.9; ResNet-50 itself and what is below it take no part
    assert taori2020.pace(grid, "val", standard) == (pytest.approx(3), 2)
    slope, n = taori2020.pace(grid, "val", np.ones(5, dtype=bool))
    # reference: least squares over (0.8, 0.1), (0.9, 0.4), (0.95, 0.9), by sums of squares
    x, y = np.array([0.8, 0.9, 0.95]), np.array([0.1, 0.4, 0.9])
    assert slope == pytest.approx(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    assert n == 3


def test_the_size_of_a_set_from_its_shares():
    rng = np.random.default_rng(0)
    for n in (7, 1_109, 2_530):
        shares = np.append(rng.integers(0, n, 100), 1) / n  # one share that no smaller set has
        # as the table has them, with single precision
        assert taori2020.size_from_shares(shares.astype(np.float32).astype(float)) == n
    # 7 · 11 · 13 · 17 is more than is looked for
    assert np.isnan(taori2020.size_from_shares(1 / np.array([7, 11, 13, 17])))


def test_what_the_testbed_gives():
    grid = read_testbed(shared("testbed"))
    (pace,) = (check for check in taori2020.checks_from(grid) if check.what.startswith("points on ImageNet-A"))
    # found by hand from the public table: 7.2 class-matched over the paper's standard models, 4.3 on all images
    assert (pace.published, pace.ours) == ("at least 8", "7.25")
    assert "7.2 over the 48 standard models (4.3 for each point" in pace.known
    assert "with all 114 models above ResNet-50 it is 9.8" in pace.known
    sizes = {check.what: check.ours for check in taori2020.checks_from(grid) if check.what.startswith("images of")}
    assert sizes == {"images of ImageNet-Vid-Robust": 1_109, "images of YTBB-Robust": 2_030}


def test_a_table_without_a_network_leaves_its_numbers_underived():
    grid = made(**SETTINGS, **{"imagenet-a": [0.01, 0.0, 0.1, 0.4, 0.9], "imagenet-r": [0.3] * 5})
    assert hendrycks2019.checks_from(grid) == []
    assert many_faces2021.checks_from(grid) == []
    (usual,) = natural_adversarial2021.checks_from(grid)
    # the median of 60, 70, 80 and 90
    assert usual.ours == "75"
