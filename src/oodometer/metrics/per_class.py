"""Accuracy class by class: each class, their mean, and the worst."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.metrics.metric import Metric


class ClassAccuracies(NamedTuple):
    """How often each class that occurs was recognised; classes without images are left out.

    Args:
        label: The class, (C,), in ascending order.
        right: Of its images, how many were answered rightly, (C,).
        n: Its images, (C,); at least one.
    """

    label: np.ndarray
    right: np.ndarray
    n: np.ndarray

    @property
    def accuracy(self) -> np.ndarray:
        """The accuracy of each class, (C,)."""
        return np.asarray(self.right / self.n)


def class_accuracies(label: np.ndarray, rank: np.ndarray) -> ClassAccuracies:
    """The accuracy of every class that occurs.

    Args:
        label: The true class, (N,) int; labelled images only.
        rank: How many classes stand before the true one, (N,) int.

    >>> found = class_accuracies(np.array([7, 7, 2]), np.array([0, 3, 0]))
    >>> found.label.tolist(), found.right.tolist(), found.n.tolist(), found.accuracy.tolist()
    ([2, 7], [1, 1], [1, 2], [1.0, 0.5])
    """
    if label.ndim != 1 or label.shape != rank.shape:
        raise OodometerError(f"labels of shape {label.shape} and ranks of shape {rank.shape}: need one each per image")
    if len(label) == 0:
        raise OodometerError("no labelled images, so no class has an accuracy")
    if label.min() < 0 or rank.min() < 0:
        raise OodometerError("some images have no label; leave them out")
    n = np.bincount(label)
    right = np.bincount(label[rank == 0], minlength=len(n))
    occurring = np.flatnonzero(n)
    return ClassAccuracies(occurring, right[occurring], n[occurring])


def balanced_accuracy(label: np.ndarray, rank: np.ndarray) -> float:
    """The mean of the class accuracies over the classes that occur, each class counting the same.

    >>> balanced_accuracy(np.array([7, 7, 2]), np.array([0, 3, 0]))
    0.75
    """
    return float(class_accuracies(label, rank).accuracy.mean())


def effective_images(classes: ClassAccuracies) -> float:
    """As many images as would tell a plain share as well as these classes tell their mean accuracy.

    The variance of the mean is Σ p_c (1 − p_c) / (n_c − 1) over the square of the number of classes; a class with one
    image, whose answers do not vary, counts with the p (1 − p) of the mean. Never more than there are: few images of a
    class may all be right by luck. Where all answers are alike, the images count by their weights.

    >>> effective_images(ClassAccuracies(np.arange(4), np.array([1, 1, 0, 1]), np.ones(4, dtype=int)))
    4.0
    >>> round(effective_images(ClassAccuracies(np.arange(2), np.array([1, 6]), np.array([2, 8]))), 2)
    3.39
    """
    mean, n = float(classes.accuracy.mean()), classes.n
    most = float(n.sum())
    if not 0 < mean < 1:
        return min(most, len(n) ** 2 / float((1 / n).sum()))
    of_class = classes.accuracy * (1 - classes.accuracy) / np.maximum(n - 1, 1)
    variance = float(np.where(n > 1, of_class, mean * (1 - mean)).sum()) / len(n) ** 2
    return most if variance * most <= mean * (1 - mean) else mean * (1 - mean) / variance


def worst_class_accuracy(label: np.ndarray, rank: np.ndarray) -> float:
    """The least accuracy of a class that occurs.

    As the least of many noisy numbers it is biased downwards, the more so the fewer images a class has: with ten
    images each, 1,000 classes of 80 % true accuracy have a worst one of about 33 %. Compare it between models on the
    same images, not between data sets of different sizes.

    >>> worst_class_accuracy(np.array([7, 7, 2]), np.array([0, 3, 0]))
    0.5
    """
    return float(class_accuracies(label, rank).accuracy.min())


balanced = Metric(
    "balanced",
    "mean of the class accuracies; classes without images left out",
    ("label", "rank"),
    balanced_accuracy,
    better="higher",
    bounds=(0.0, 1.0),
)
worst_class = Metric(
    "worst-class",
    "least class accuracy; classes without images left out; biased downwards with few images per class",
    ("label", "rank"),
    worst_class_accuracy,
    better="higher",
    bounds=(0.0, 1.0),
)
