"""Multi-label mAP against scikit-learn, and the OOD mean against the published table."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

from oodometer.core.errors import OodometerError, UsageError
from oodometer.metrics import average_precision
from oodometer.metrics.average_precision import (
    DFR_SHIFTS,
    class_precision,
    mean_average_precision,
    mean_average_precisions,
    ood_mean,
)
from oodometer.published.tables import read_table


def labelled(n: int = 300, c: int = 13, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores with ties that know something of the labels, which are of unequal frequency."""
    rng = np.random.default_rng(seed)
    targets = rng.random((n, c)) < np.linspace(0.05, 0.6, c)
    return np.round(rng.normal(0, 1, (n, c)) + targets, 1), targets


def test_agrees_with_scikit_learn():
    scores, targets = labelled()
    found = class_precision(scores, targets)
    # reference: sklearn.metrics.average_precision_score
    assert found.average_precision == pytest.approx(average_precision_score(targets, scores, average=None), abs=1e-12)
    for averaging, theirs in (("weighted", "weighted"), ("plain", "macro")):
        expected = average_precision_score(targets, scores, average=theirs)
        assert mean_average_precision(scores, targets, averaging=averaging) == pytest.approx(expected, abs=1e-12)
    assert found.n_positive.tolist() == targets.sum(axis=0).tolist()
    assert found.left_out == ()


def test_trapezoid_is_the_published_script():
    scores, targets = labelled(seed=1)
    areas = []
    for column, has in zip(scores.T, targets.T, strict=True):
        precision, recall, _ = precision_recall_curve(has, column)
        areas.append(auc(recall, precision))
    # reference: sklearn's auc of its precision_recall_curve, weighted by the share of all positives
    expected = np.sum(areas * targets.sum(axis=0) / targets.sum())
    found = mean_average_precision(scores, targets, area="trapezoid")
    assert found == pytest.approx(expected, abs=1e-12)
    assert found != pytest.approx(mean_average_precision(scores, targets), abs=1e-6)


def test_a_class_without_positives_is_left_out_and_named():
    scores, targets = labelled(c=4)
    targets[:, [0, 2]] = False
    found = class_precision(scores, targets)
    assert found.left_out == (0, 2)
    assert np.isnan(found.average_precision[[0, 2]]).all()
    rest = average_precision_score(targets[:, [1, 3]], scores[:, [1, 3]], average="macro")
    assert found.mean("plain") == pytest.approx(rest, abs=1e-12)
    assert found.mean() == pytest.approx(
        average_precision_score(targets[:, [1, 3]], scores[:, [1, 3]], average="weighted"), abs=1e-12
    )


def test_a_class_that_all_images_have_is_perfect():
    targets = np.array([[1, 0], [1, 1], [1, 0]])
    found = class_precision(np.array([[0.1, 0.9], [0.2, 0.3], [0.3, 0.1]]), targets)
    assert found.average_precision.tolist() == [1.0, 0.5]
    assert found.mean() == pytest.approx((3 * 1.0 + 1 * 0.5) / 4)


def test_constant_scores_are_the_share_of_positives():
    _, targets = labelled()
    found = class_precision(np.zeros(targets.shape), targets)
    assert found.average_precision == pytest.approx(targets.mean(axis=0), abs=1e-12)


def test_order_of_the_images_does_not_matter():
    scores, targets = labelled()
    order = np.random.default_rng(0).permutation(300)
    assert mean_average_precision(scores[order], targets[order]) == mean_average_precision(scores, targets)


@pytest.mark.parametrize("area", ["average-precision", "trapezoid"])
def test_weights_are_repeated_images(area, monkeypatch):
    # 30 images and 13 classes: in some draws a class has no positives, in some no negatives
    scores, targets = labelled(n=30)
    targets[:, 5], targets[:, 6], targets[1:, 7], targets[1:, 8] = True, False, False, True
    rng = np.random.default_rng(0)
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=50)
    expected = [
        # reference: the mAP of the images themselves, each as often as it was drawn
        mean_average_precision(np.repeat(scores, row, axis=0), np.repeat(targets, row, axis=0), area=area)
        for row in weights
    ]
    assert mean_average_precisions(scores, targets, weights, area=area) == pytest.approx(expected, abs=1e-12)
    monkeypatch.setattr(average_precision, "BLOCK", 100)
    assert mean_average_precisions(scores, targets, weights, area=area) == pytest.approx(expected, abs=1e-12)


def test_weights_that_cannot_be_are_errors():
    scores, targets = np.zeros((3, 2)), np.array([[1, 0], [0, 1], [0, 0]])
    with pytest.raises(OodometerError, match=r"must be \(draws, 3\)"):
        mean_average_precisions(scores, targets, np.ones((1, 4), int))
    with pytest.raises(OodometerError, match="a draw in which no image has a label"):
        mean_average_precisions(scores, targets, np.array([[1, 1, 1], [0, 0, 3]]))


@pytest.mark.parametrize(
    ("scores", "targets", "message"),
    [
        (np.empty((0, 3)), np.empty((0, 3), bool), "no image has a label"),
        (np.zeros((2, 3)), np.zeros((2, 3), bool), "no image has a label"),
        (np.zeros((2, 3)), np.ones((2, 2), bool), r"must both be \(images, classes\)"),
        (np.zeros(3), np.ones(3, bool), r"must both be \(images, classes\)"),
        (np.array([[np.nan]]), np.array([[True]]), "NaN"),
        (np.zeros((1, 1)), np.array([[2]]), "has the label"),
    ],
)
def test_what_is_undefined_is_an_error(scores, targets, message):
    with pytest.raises(OodometerError, match=message):
        class_precision(scores, targets)


def test_unknown_averagings_are_errors():
    with pytest.raises(UsageError, match="weighted, plain"):
        mean_average_precision(*labelled(), averaging="macro")


def test_ood_mean_ignores_other_sets_and_names_what_is_missing():
    values = {name: float(index) for index, name in enumerate(DFR_SHIFTS)}
    assert ood_mean({**values, "iid": 99.0}) == 3.5
    del values["zoom_large"], values["size_small"]
    with pytest.raises(OodometerError, match=r"missing: size_small, zoom_large$"):
        ood_mean(values)


def test_ood_mean_of_the_published_table():
    table = read_table("hendrycks2021_dfr")
    assert len(table.models) == 9
    for model in table.models:
        found = ood_mean({name: table.value(model, name) for name in DFR_SHIFTS})
        # Each cell is rounded to 0.1, so is the mean: at most 0.05 + 0.05 apart.
        assert found == pytest.approx(table.value(model, "ood_mean_map"), abs=0.1 + 1e-9), model
