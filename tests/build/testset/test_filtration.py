"""Rules against loops in the words of the paper."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from oodometer.build.testset.filtration import (
    COMMON,
    NEAR,
    RIGHT,
    SURE,
    UNSURE,
    FilterAnswers,
    imagenet_a,
    imagenet_o,
)
from oodometer.core.errors import DataError, UsageError

N, K, MODELS, CROPS = 600, 6, 2, 10


@pytest.fixture(scope="module")
def answers() -> FilterAnswers:
    rng = np.random.default_rng(0)
    labels = rng.integers(K, size=N)
    hard = rng.random(N) < 0.6
    wrong = (labels + rng.integers(1, 3, N)) % K
    predictions = np.where(hard, wrong, rng.integers(K, size=(MODELS * CROPS, N)))
    confidence = rng.uniform(0, 0.3, (MODELS, N))
    return FilterAnswers([f"photo-{row}" for row in range(N)], labels, predictions, confidence, predictions[0])


# reference: Hendrycks et al. (2021), section 3, sentence by sentence
def test_the_rule_of_imagenet_a(answers):
    found = imagenet_a(answers)
    left = []
    for row in range(N):
        crops_right = any(answers.predictions[at, row] == answers.labels[row] for at in range(MODELS * CROPS))
        too_sure = any(answers.on_true_class[model, row] > 0.15 for model in range(MODELS))
        assert (found.out[row] == RIGHT) == crops_right
        assert (found.out[row] == SURE) == (too_sure and not crops_right)
        if not crops_right and not too_sure:
            left.append(row)
    confusions = Counter((answers.labels[row], answers.called[row]) for row in left)
    kept = Counter((answers.labels[row], answers.called[row]) for row in found.rows)
    assert kept == Counter({confusion: min(n, 15) for confusion, n in confusions.items()})
    cut = imagenet_a(answers, most_per_confusion=3)
    assert max(Counter((answers.labels[row], answers.called[row]) for row in cut.rows).values()) == 3
    assert set(cut.rows) <= set(found.rows), "a smaller shortlist is part of the larger one"
    assert cut.out.count(COMMON) == len(left) - len(cut.rows)
    names, numbers = zip(*cut.funnel, strict=True)
    assert names == ("candidates", f"not {RIGHT}", f"not {SURE}", f"not {COMMON}")
    assert (numbers[0], numbers[-2], numbers[-1]) == (N, len(left), len(cut.rows))


def test_who_stays_of_a_confusion_is_a_draw_of_its_own(answers):
    first = imagenet_a(answers, most_per_confusion=2, seed=0)
    assert np.array_equal(first.rows, imagenet_a(answers, most_per_confusion=2, seed=0).rows)
    assert not np.array_equal(first.rows, imagenet_a(answers, most_per_confusion=2, seed=1).rows)


def test_mistakes_among_near_classes_are_none(answers):
    groups = np.array([0, 0, 1, 1, 2, 2])
    found = imagenet_a(answers, groups=groups, most_per_confusion=N)
    plain = imagenet_a(answers, most_per_confusion=N)
    near = {row for row in plain.rows.tolist() if groups[answers.called[row]] == groups[answers.labels[row]]}
    assert near
    assert set(plain.rows.tolist()) - set(found.rows.tolist()) == near
    assert found.out.count(NEAR) == len(near)


def test_the_rule_of_imagenet_o():
    confidence = np.array([[0.9, 0.4, 0.7, 0.7], [0.8, 0.9, 0.7, 0.69]])
    found = imagenet_o(confidence, at_least=0.7)
    assert found.rows.tolist() == [0, 2]
    assert found.out == ("", UNSURE, "", UNSURE)
    assert found.funnel == [("candidates", 4), (f"not {UNSURE}", 2)]


def test_what_can_not_be(answers):
    with pytest.raises(UsageError, match="--per-confusion 0: at least 1"):
        imagenet_a(answers, most_per_confusion=0)
    with pytest.raises(UsageError, match="--at-least 0: a confidence above 0"):
        imagenet_o(np.ones((1, 2)), at_least=0)
    with pytest.raises(DataError, match="2 images, but answers about 2, 3, 2, 2"):
        FilterAnswers(["a", "b"], np.zeros(2, int), np.zeros((1, 3), int), np.zeros((1, 2)), np.zeros(2, int))
    with pytest.raises(DataError, match="no probability"):
        FilterAnswers(["a"], np.zeros(1, int), np.zeros((1, 1), int), np.full((1, 1), 2.0), np.zeros(1, int))
