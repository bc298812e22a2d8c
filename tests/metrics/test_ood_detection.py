"""OOD detection against scikit-learn, with ties; weighted counts against repeated images."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.predictions import from_logits, from_top_classes
from oodometer.metrics import ood_detection
from oodometer.metrics.ood_detection import (
    SCORES,
    aupr,
    auroc,
    chance_aupr,
    counts_of,
    detection_measures,
    detection_values,
    fpr_at_tpr,
    ranking_of,
    scores_of,
)

quick = settings(deadline=None, derandomize=True, max_examples=80)
# Few levels, so that most scores tie.
scores = st.lists(st.integers(0, 12), min_size=1, max_size=50)
levels = st.sampled_from([0.5, 0.8, 0.95, 1.0])


def joined(in_scores, ood_scores):
    truth = np.concatenate([np.zeros(len(in_scores)), np.ones(len(ood_scores))])
    return truth, np.concatenate([in_scores, ood_scores])


def trapezoid(truth, score):
    precision, recall, _ = precision_recall_curve(truth, score)
    return auc(recall, precision)


def fpr_first(truth, score, tpr=0.95):
    fpr, found, _ = roc_curve(truth, score, drop_intermediate=False)
    return fpr[np.argmax(found >= tpr)]


def fpr_nearest(truth, score, tpr=0.95):
    """The published rule by a plain loop: thresholds from the lowest that is needed upwards, the first nearest wins."""
    n_ood = (truth == 1).sum()
    best, best_distance = None, np.inf
    candidates = sorted(set(score.tolist()))
    catches_all = [one for one in candidates if (score[truth == 1] >= one).sum() == n_ood]
    for threshold in [one for one in candidates if one >= max(catches_all)]:
        distance = abs((score[truth == 1] >= threshold).sum() / n_ood - tpr)
        if distance < best_distance:
            best, best_distance = (score[truth == 0] >= threshold).mean(), distance
    return best


REFERENCE = {
    "auroc": roc_auc_score,
    "aupr": average_precision_score,
    "aupr:trapezoid": trapezoid,
    "fpr@95%": fpr_first,
    "fpr@95%:nearest": fpr_nearest,
}


def test_every_measure_has_a_reference():
    assert REFERENCE.keys() == detection_measures.keys()


@quick
@given(scores, scores)
def test_agrees_with_scikit_learn_where_scores_tie(in_scores, ood_scores):
    truth, score = joined(in_scores, ood_scores)
    found = detection_values(ranking_of(np.array(in_scores), np.array(ood_scores)))
    for name, reference in REFERENCE.items():
        assert found[name][0] == pytest.approx(reference(truth, score), abs=1e-12), name


@quick
@given(scores, scores, levels)
def test_functions_of_scores(in_scores, ood_scores, tpr):
    truth, score = joined(in_scores, ood_scores)
    both = np.array(in_scores), np.array(ood_scores)
    assert auroc(*both) == pytest.approx(roc_auc_score(truth, score), abs=1e-12)
    assert aupr(*both) == pytest.approx(average_precision_score(truth, score), abs=1e-12)
    assert aupr(*both, area="trapezoid") == pytest.approx(trapezoid(truth, score), abs=1e-12)
    assert fpr_at_tpr(*both, tpr=tpr) == pytest.approx(fpr_first(truth, score, tpr), abs=1e-12)
    assert fpr_at_tpr(*both, tpr=tpr, at="nearest") == pytest.approx(fpr_nearest(truth, score, tpr), abs=1e-12)


@settings(quick, max_examples=30)
@given(scores, scores, st.integers(0, 2**32 - 1))
def test_weights_are_repeated_images(in_scores, ood_scores, seed):
    rng = np.random.default_rng(seed)
    n_in, n_ood = len(in_scores), len(ood_scores)
    weights = np.hstack(
        [rng.multinomial(n_in, np.full(n_in, 1 / n_in), 3), rng.multinomial(n_ood, np.full(n_ood, 1 / n_ood), 3)]
    )
    found = detection_values(ranking_of(np.array(in_scores), np.array(ood_scores)), weights)
    truth, score = joined(in_scores, ood_scores)
    for draw, row in enumerate(weights):
        for name, reference in REFERENCE.items():
            # reference: the measure of the images themselves, each as often as it was drawn
            expected = reference(np.repeat(truth, row), np.repeat(score, row))
            assert found[name][draw] == pytest.approx(expected, abs=1e-12), name


def test_imagenet_o_sizes():
    rng = np.random.default_rng(0)
    in_scores, ood_scores = rng.normal(0, 1, 10_000), rng.normal(0.5, 1, 2_000)
    found = detection_values(ranking_of(in_scores, ood_scores))
    for name, reference in REFERENCE.items():
        if name != "fpr@95%:nearest":
            assert found[name][0] == pytest.approx(reference(*joined(in_scores, ood_scores)), abs=1e-12), name
    # 95 % of 2,000 is a whole number of images, so both conventions catch 1,900, but "nearest" goes on to the last
    # threshold before the next one.
    threshold, next_one = np.sort(ood_scores)[[100, 99]]
    assert found["fpr@95%"][0] == (in_scores >= threshold).mean()
    assert found["fpr@95%:nearest"][0] == (in_scores > next_one).mean()


def test_nearest_may_catch_less():
    # 18 OOD images: 17/18 = 0.944 is nearer to 0.95 than 18/18, so the last one and those that tie with it stay out
    in_scores, ood_scores = np.arange(20.0), np.append(np.arange(100.0, 117.0), 5.0)
    assert fpr_at_tpr(in_scores, ood_scores) == (in_scores >= 5).mean()
    assert fpr_at_tpr(in_scores, ood_scores, at="nearest") == (in_scores > 5).mean()


def test_of_two_as_near_the_larger_counts():
    # tpr 0.625 lies exactly between 2/4 and 3/4
    in_scores, ood_scores = np.array([0.5, 1.5, 2.5, 3.5]), np.array([1.0, 2.0, 3.0, 4.0])
    assert fpr_at_tpr(in_scores, ood_scores, tpr=0.625, at="nearest") == 3 / 4  # 3.5, 2.5 and 1.5, just above 1


def test_perfect_useless_and_reversed():
    low, high = np.zeros(30), np.ones(10)
    assert (auroc(low, high), aupr(low, high), fpr_at_tpr(low, high)) == (1.0, 1.0, 0.0)
    assert (auroc(high, low), fpr_at_tpr(high, low)) == (0.0, 1.0)
    # A score that is always the same: half, the share of OOD images, and all or nothing.
    assert (auroc(low, low[:10]), aupr(low, low[:10])) == (0.5, pytest.approx(chance_aupr(30, 10)))


def test_chance_of_imagenet_o():
    # reference: the papers' 16.67 %, and random scores
    assert chance_aupr(10_000, 2_000) == pytest.approx(1 / 6)
    rng = np.random.default_rng(4)
    ranking = ranking_of(rng.random(10_000), rng.random(2_000))
    assert detection_values(ranking)["aupr"][0] == pytest.approx(1 / 6, abs=0.01)


@pytest.mark.parametrize("name", detection_measures)
def test_order_of_the_images_and_scale_of_the_score_do_not_matter(name):
    rng = np.random.default_rng(3)
    in_scores, ood_scores = rng.integers(0, 40, 300) / 40, rng.integers(5, 45, 80) / 40
    expected = detection_values(ranking_of(in_scores, ood_scores))[name][0]
    assert 0 < expected < 1
    again = ranking_of(rng.permutation(in_scores), rng.permutation(ood_scores))
    assert detection_values(again)[name][0] == expected
    stretched = ranking_of(np.exp(3 * in_scores), np.exp(3 * ood_scores))
    assert detection_values(stretched)[name][0] == expected


def test_blocks_and_dtypes_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    ranking = ranking_of(rng.random(40), rng.random(20))
    weights = rng.integers(1, 4, (17, 60))
    whole = detection_values(ranking, weights)
    monkeypatch.setattr(ood_detection, "BLOCK", 200)
    for kind in (np.int64, np.int32, np.uint8):
        parts = detection_values(ranking, weights.astype(kind))
        assert {name: values.tolist() for name, values in parts.items()} == {
            name: values.tolist() for name, values in whole.items()
        }


def test_scores_of_rows_have_the_sign_that_ood_is_higher():
    sure, unsure = np.array([[9.0, 0.0, 0.0]]), np.array([[0.2, 0.1, 0.0]])
    rows = from_logits(np.vstack([sure, unsure]), np.array([0, -1]), np.arange(2))
    for name in SCORES:
        in_distribution, ood = scores_of(rows, name)
        assert ood > in_distribution, name
    # closed forms
    assert scores_of(rows, "max-softmax")[1] == pytest.approx(-np.exp(0.2) / np.exp(unsure).sum())
    assert scores_of(rows, "energy")[1] == pytest.approx(-np.log(np.exp(unsure).sum()))
    assert scores_of(rows, "max-logit").tolist() == pytest.approx([-9.0, -0.2])
    shares = np.exp(unsure[0]) / np.exp(unsure).sum()
    assert scores_of(rows, "entropy")[1] == pytest.approx(-(shares * np.log(shares)).sum())


def test_unknown_names_are_errors():
    rows = from_logits(np.zeros((1, 2)), np.array([0]), np.array([0]))
    with pytest.raises(UsageError, match="did you mean max-softmax"):
        scores_of(rows, "max_softmax")
    with pytest.raises(UsageError, match="average-precision, trapezoid"):
        aupr(np.zeros(2), np.ones(2), area="linear")
    with pytest.raises(UsageError, match="first, nearest"):
        fpr_at_tpr(np.zeros(2), np.ones(2), at="last")


@pytest.mark.parametrize("of", [auroc, aupr, fpr_at_tpr])
@pytest.mark.parametrize(
    ("in_scores", "ood_scores"), [([], [1.0]), ([1.0], []), ([np.nan], [1.0]), ([1.0], [np.nan]), ([[1.0]], [1.0])]
)
def test_what_is_undefined_is_an_error(of, in_scores, ood_scores):
    with pytest.raises(OodometerError):
        of(np.array(in_scores), np.array(ood_scores))


@pytest.mark.parametrize("tpr", [0.0, 1.1, 95, np.nan])
def test_no_rate_is_an_error(tpr):
    with pytest.raises(OodometerError, match=r"for example 0\.95"):
        fpr_at_tpr(np.zeros(2), np.ones(2), tpr=tpr)


def test_scores_that_are_not_known_are_an_error():
    rows = from_top_classes(np.array([[4, 2]]), np.array([7]), np.array([0]))
    with pytest.raises(OodometerError, match="only the best classes"):
        auroc(scores_of(rows), np.array([1.0]))


@pytest.mark.parametrize("weights", [np.ones(4, int), np.ones((2, 3), int)])
def test_weights_of_another_shape_are_an_error(weights):
    with pytest.raises(OodometerError, match=r"must be \(draws, 4\)"):
        counts_of(ranking_of(np.zeros(2), np.ones(2)), weights)


@pytest.mark.parametrize("row", [[1, 1, 0, 0], [0, 0, 1, 1]])
def test_a_draw_of_one_kind_is_an_error(row):
    with pytest.raises(OodometerError, match="draw each kind from its own"):
        detection_values(ranking_of(np.zeros(2), np.ones(2)), np.array([[1, 1, 1, 1], row]))


@pytest.mark.parametrize(("n_in", "n_ood"), [(0, 5), (5, 0)])
def test_chance_needs_both_kinds(n_in, n_ood):
    with pytest.raises(OodometerError, match="some of both"):
        chance_aupr(n_in, n_ood)
