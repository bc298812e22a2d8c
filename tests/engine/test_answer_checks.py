"""Signs of a mistake in a file of answers: told where it is one, and not told of models that are only bad."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.predictions import from_top_classes
from oodometer.engine.answer_checks import doubts

N, K = 2000, 1000
SHARES = {"good": (0.75, 0.10, 0.05, 0.03, 0.02), "weak": (0.20, 0.10, 0.08, 0.07, 0.05), "hard": (0.01,) * 5}
"""How often the true class stands at each of five places: about ResNet-50 on ImageNet, about AlexNet on ImageNetV2's
harder images, and next to nothing, as on images that were chosen to be missed."""


def answers(kind: str, *, k: int = K, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """The five best classes of each image and its label."""
    rng = np.random.default_rng(0)
    labels = rng.integers(1, k - 1, n)
    best = np.array([rng.choice(np.delete(np.arange(k), label), 5, replace=False) for label in labels])
    place = rng.choice(6, n, p=[*SHARES[kind], 1 - sum(SHARES[kind])])
    hit = np.flatnonzero(place < 5)
    best[hit, place[hit]] = labels[hit]
    return best, labels


def lines_of(best: np.ndarray, labels: np.ndarray, *, k: int = K) -> list[str]:
    return doubts(from_top_classes(best, labels, np.arange(len(labels))), n_classes=k, n_known=best.shape[1])


@pytest.mark.parametrize("kind", SHARES)
def test_models_that_are_only_bad_are_not_doubted(kind: str) -> None:
    assert lines_of(*answers(kind)) == []
    assert lines_of(*answers(kind, k=10), k=10) == []


@pytest.mark.parametrize("k", [2, 10, 1000])
def test_chance_is_not_doubted(k: int) -> None:
    rng = np.random.default_rng(1)
    n_known = min(k, 5)
    best = np.array([rng.permutation(k)[:n_known] for _ in range(N)])
    assert lines_of(best, rng.integers(0, k, N), k=k) == []


@pytest.mark.parametrize(("step", "word"), [(-1, "plus"), (1, "minus")])
@pytest.mark.parametrize("kind", ["good", "weak"])
def test_labels_counted_otherwise(kind: str, step: int, word: str) -> None:
    best, labels = answers(kind)
    (line,) = lines_of(best, labels + step)
    right, beside = (100 * np.mean(best[:, 0] == labels + moved) for moved in (step, 0))
    assert line == (
        f"{beside:.1f}% of the answers are the label {word} 1 and {right:.1f}% the label itself; is one of them "
        "counted from 1?"
    )


def test_answers_in_reversed_order() -> None:
    best, labels = answers("good")
    (line,) = lines_of(best[:, ::-1], labels)
    first, among = 100 * np.mean(best[:, 4] == labels), 100 * np.mean((best == labels[:, None]).any(axis=1))
    assert line == (
        f"the true class is first for {first:.1f}% of the images but among the best 5 for {among:.1f}%, most often at "
        "place 5; are the classes in order, the best first?"
    )
    small, of_ten = answers("good", k=10)
    assert len(lines_of(small[:, ::-1], of_ten, k=10)) == 1


def test_answers_in_no_order() -> None:
    best, labels = answers("good")
    mixed = np.sort(best, axis=1)
    assert len(lines_of(mixed, labels)) == 1


def test_few_images_prove_nothing() -> None:
    best, labels = answers("good", n=9)
    assert lines_of(best, labels - 1) == lines_of(best[:, ::-1], labels) == []


def test_images_without_labels_say_nothing() -> None:
    best, labels = answers("good")
    assert lines_of(best, np.full(N, -1)) == []
    (line,) = lines_of(best, np.where(np.arange(N) < N // 2, labels - 1, -1))
    assert "the label plus 1" in line
