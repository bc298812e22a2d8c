"""The comparisons of Natural Adversarial Examples, made again."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from oodometer.core.errors import OodometerError
from oodometer.published import natural_adversarial2021
from oodometer.published.natural_adversarial2021 import expected_average_precision, reproduce, simulated_chance

ON_O, ON_A = "hendrycks2021_imagenet_o_aupr", "hendrycks2021_imagenet_a"
ACCURACY, AUPR = "imagenet_a_top1_accuracy", "imagenet_o_aupr"


def out() -> set[str]:
    return {check.what for check in reproduce().checks if not check.holds}


def test_every_number_is_derived():
    assert out() == set()


def test_what_is_checked():
    checks = reproduce().checks
    n_chance, n_size, n_size_elsewhere, n_attention, n_training, n_twice = 2, 6, 3, 3, 2, 2
    assert len(checks) == n_chance + n_size + n_size_elsewhere + n_attention + n_training + n_twice
    assert {check.paper for check in checks} == {"natural_adversarial2021"}
    assert all(check.where for check in checks)
    assert all(check.reason for check in checks if check.difference is not None)


@pytest.mark.parametrize(("n_positive", "n"), [(1, 2), (1, 4), (2, 5), (3, 6), (6, 6)])
def test_the_expected_average_precision_is_the_mean_over_all_orders(n_positive, n):
    # reference: every order, by the definition, in fractions
    def average_precision(order: tuple[int, ...]) -> Fraction:
        ranks = [rank for rank, positive in enumerate(order, start=1) if positive]
        return sum((Fraction(found, rank) for found, rank in enumerate(ranks, start=1)), Fraction()) / len(ranks)

    orders = list(permutations([1] * n_positive + [0] * (n - n_positive)))
    mean = sum(map(average_precision, orders), Fraction()) / len(orders)
    assert expected_average_precision(n_positive, n) == pytest.approx(float(mean))


@pytest.mark.parametrize(("n_positive", "n"), [(0, 5), (6, 5), (1, 1)])
def test_the_expected_average_precision_of_nothing_is_an_error(n_positive, n):
    with pytest.raises(OodometerError, match="undefined"):
        expected_average_precision(n_positive, n)


def test_random_scores_have_the_expected_average_precision():
    # 4 standard errors of the mean of 100 draws.
    draws = simulated_chance()
    expected = 100 * expected_average_precision(2_000, 12_000)
    assert abs(draws.mean() - expected) < 4 * draws.std(ddof=1) / 10
    assert expected == pytest.approx(16.73, abs=0.005)


def test_the_simulation_scores_as_scikit_learn_does():
    # reference: sklearn.metrics.average_precision_score on the same scores
    scores = natural_adversarial2021.rng_for("chance level of the AUPR").random((2, 12_000))
    positive = np.repeat([0, 1], [10_000, 2_000])
    reference = [100 * average_precision_score(positive, row) for row in scores]
    assert simulated_chance(2) == pytest.approx(reference)


@pytest.mark.parametrize("n_clean", [9_000, 11_000])
def test_another_number_of_clean_images_has_another_chance_level(monkeypatch, n_clean):
    monkeypatch.setattr(natural_adversarial2021, "N_CLEAN", n_clean)
    assert len([what for what in out() if what.startswith("chance level")]) == 2


@pytest.mark.parametrize(
    ("table", "model", "column", "value", "broken"),
    [
        (ON_O, "DPN-98", ACCURACY, 3.7, "accuracy on ImageNet-A, DPN-68 → DPN-98 (3.6 → 3.7)"),  # within the noise
        (ON_O, "ResNet-34", AUPR, 18.0, "AUPR on ImageNet-O, ResNet-34 → ResNet-152 (18.0 → 18.0)"),
        (ON_A, "ResNet-152", ACCURACY, 2.3, "accuracy on ImageNet-A, ResNet-50 → ResNet-152 (2.2 → 2.3)"),
        (ON_A, "ResNet-50 + CBAM", ACCURACY, 1.0, "accuracy on ImageNet-A, ResNet-50 → ResNet-50 + CBAM (2.2 → 1.0)"),
        (
            ON_A,
            "ResNet-50 + Style Transfer",
            ACCURACY,
            3.8,
            "accuracy of ResNet-50 on ImageNet-A with Style Transfer (2.2 → 3.8)",
        ),
        (ON_A, "ResNet-152", ACCURACY, 6.2, "accuracy of ResNet-152 on ImageNet-A, here and in the many-faces paper"),
        (ON_O, "ResNeXt-50 32x4d", ACCURACY, 1.4, "accuracy of ResNeXt-50 on ImageNet-A, trained on clean images"),
    ],
)
def test_a_wrong_number_is_noticed(change, table, model, column, value, broken):
    change(natural_adversarial2021, table, model, column, value)
    assert broken in out()


def test_remarks():
    assert [remark.text for remark in reproduce().remarks] == [
        "random scores have an average precision of 16.73 % in the mean, a little above the share of OOD images, and "
        "mostly between 16.0 and 17.4; below the share are: ResNet-34 16.0, ResNeXt-50 32x4d 16.4",
        "the text gives ResNeXt-101 64x4d an accuracy of 9.4 % and an AUPR of 21.1 %; they are those of DPN-98",
        "the AUPR of ResNet-152 is 17.2 % beside self-attention, 18.0 % beside size",
        "squeeze-and-excitation is said to add about 10 points on ImageNet-A to ResNeXt-101 (32x4d); in the networks "
        "of the tables it adds less: ResNet-50 +4.0, ResNet-152 +3.3",
    ]


def test_remarks_follow_the_tables(change):
    change(natural_adversarial2021, ON_O, "ResNet-152", AUPR, 17.2)
    change(natural_adversarial2021, ON_A, "ResNet-50 + SE", ACCURACY, 12.2)
    texts = [remark.text for remark in reproduce().remarks]
    assert "the text gives ResNet-152 an accuracy of 6.1 % and an AUPR of 18.0 %; no network has them" in texts
    assert not any("beside size" in text or "squeeze" in text for text in texts)
