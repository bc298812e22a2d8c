"""The discriminator: equal classes, fair folds, and an interval that covers, by simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oodometer.build.testset.study.discriminator import (
    PENALTY,
    accuracy_over_folds,
    balanced,
    cross_validated,
    discriminator,
    folds_of,
)
from oodometer.build.testset.study.image_sets import ImageSet
from oodometer.core.errors import DataError, UsageError
from oodometer.core.preprocessing import Geometry


@dataclass(frozen=True)
class Made:
    """Pictures of noise, of which some are a little brighter."""

    seed: int
    n: int
    brighter: float

    def __len__(self) -> int:
        return self.n

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        rng = np.random.default_rng([self.seed, index])
        whole = np.clip(rng.normal(120 + self.brighter, 30, (32, 32, 3)), 0, 255).astype(np.uint8)
        return [whole for _ in views]


def made(name: str, n: int, *, brighter: float = 0.0, classes: int = 2) -> ImageSet:
    ids = tuple(f"{name}-{at}" for at in range(n))
    named = tuple(f"class {at % classes}" for at in range(n))
    return ImageSet(name, ids, named, np.full(n, np.nan), Made(len(name), n, brighter))


def test_sets_that_differ_are_told_apart_and_others_are_not():
    told = discriminator(made("new", 60, brighter=10), made("original", 90))
    assert (told.n_each, told.n_features, told.accuracy.n) == (60, 192, 120)
    assert told.accuracy.low > 0.9
    same = discriminator(made("new", 60), made("original", 90))
    assert same.accuracy.low < 0.5 < same.accuracy.high


def test_the_answers_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    is_new = np.arange(120) < 60
    features = rng.normal(size=(120, 6)) + 0.4 * is_new[:, None]
    fold = folds_of(["a"] * 120, is_new, [str(at) for at in range(120)], folds=4, seed=0)
    found = cross_validated(features, is_new, fold)
    for at in range(4):
        # reference: scikit-learn's pipeline on the same folds
        model = make_pipeline(StandardScaler(), LogisticRegression(C=1 / PENALTY, tol=1e-10, max_iter=1000))
        model.fit(features[fold != at], is_new[fold != at])
        assert (found[fold == at] == (model.predict(features[fold == at]) == is_new[fold == at])).all()


def test_equally_many_of_each_class():
    new, original = ["a"] * 5 + ["b"] * 9 + ["c"], ["a"] * 8 + ["b"] * 3 + ["d"] * 4
    ids = [[f"{side}{at}" for at in range(15)] for side in "no"]
    rows = balanced(new, original, *ids, seed=0)
    assert [Counter(side[row] for row in some) for side, some in zip((new, original), rows, strict=True)] == [
        {"a": 5, "b": 3}
    ] * 2
    again = balanced(new, original, *ids, seed=0)
    assert all((a == b).all() for a, b in zip(rows, again, strict=True))
    with pytest.raises(DataError, match="no class in common"):
        balanced(["a"], ["b"], ["x"], ["y"], seed=0)


def test_folds_have_as_many_of_all_as_can_be():
    classes = [f"class {at % 3}" for at in range(100)]
    is_new = np.arange(100) % 2 == 0
    fold = folds_of(classes, is_new, [str(at) for at in range(100)], folds=5, seed=1)
    assert set(Counter(fold[is_new].tolist()).values()) == {10}
    per_class = Counter((name, bool(side), int(at)) for name, side, at in zip(classes, is_new, fold, strict=True))
    assert max(per_class.values()) - min(per_class.values()) <= 1
    with pytest.raises(UsageError, match="--folds 1: at least 2"):
        folds_of(classes, is_new, classes, folds=1, seed=0)


def held(sets: int, *, n: int, d: int, shift: float, truth: float) -> int:
    """How often the interval covers the accuracy of such classifiers, over so many pairs of made sets."""
    rng = np.random.default_rng(n + d)
    is_new = np.arange(2 * n) < n
    fold = np.concatenate([np.arange(n) % 5] * 2)
    count = 0
    for _ in range(sets):
        features = rng.normal(size=(2 * n, d))
        features[is_new, 0] += shift
        found = accuracy_over_folds(cross_validated(features, is_new, fold), 5)
        count += found.low <= truth <= found.high
    return count


def test_the_interval_covers_where_nothing_can_be_told():
    """The truth is one half then, for every classifier."""
    sets = 200
    covered = held(sets, n=40, d=8, shift=0.0, truth=0.5)
    assert binomtest(covered, sets, 0.95, alternative="less").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d", "shift"), [(60, 10, 0.0), (60, 10, 1.0), (100, 40, 0.7)])
def test_the_interval_covers_by_simulation(n, d, shift):
    """The truth: the accuracy on 4,000 other images of classifiers of as many images, on average."""
    rng = np.random.default_rng(1)
    m, others = 4 * n // 5, np.arange(4000) < 2000
    accuracies = []
    for _ in range(200):
        train = np.arange(2 * m) < m
        features, fresh = rng.normal(size=(2 * m, d)), rng.normal(size=(4000, d))
        features[train, 0] += shift
        fresh[others, 0] += shift
        both = np.concatenate([features, fresh])
        fold = np.concatenate([np.ones(2 * m), np.zeros(4000)])
        accuracies.append(held_out_accuracy(both, np.concatenate([train, others]), fold))
    sets = 400
    covered = held(sets, n=n, d=d, shift=shift, truth=float(np.mean(accuracies)))
    assert binomtest(covered, sets, 0.95, alternative="less").pvalue > 0.01
    assert covered / sets < 1


def held_out_accuracy(features: np.ndarray, is_new: np.ndarray, fold: np.ndarray) -> float:
    """Of scikit-learn's classifier, on fold 0."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1 / PENALTY))
    model.fit(features[fold == 1], is_new[fold == 1])
    return float(model.score(features[fold == 0], is_new[fold == 0]))
