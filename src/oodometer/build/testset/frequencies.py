"""Selection frequencies: the share of annotators who said that an image shows its class, and what a class has of them.

An image that nobody was asked about has no frequency. It is NaN here and counts in no mean: 0 would say that everybody
denied it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.build.testset.answers import Answers
from oodometer.core.errors import DataError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import check_level, mean_of, share_of, wilson

INTERVAL = "wilson"
"""With ten answers per image the exact interval covers far more than it says; this one does so on average."""

THRESHOLD = 0.7
"""The frequency from which ImageNetV2 took the images of its version Threshold0.7."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The selection frequency of each image, with its interval.

    Args:
        n_answers: (N,).
        n_selected: (N,).
        frequency: (N,); NaN where there are no answers, as the ends are.
        low: Lower ends, (N,).
        high: Upper ends, (N,).
        interval: The name of the interval.
    """

    n_answers: np.ndarray
    n_selected: np.ndarray
    frequency: np.ndarray
    low: np.ndarray
    high: np.ndarray
    interval: str

    def estimate(self, image: int) -> Estimate:
        """The frequency of one image; an error where nobody was asked. Its n is the number of answers."""
        if self.n_answers[image] == 0:
            raise DataError(f"image {image} has no answers: its selection frequency is undefined")
        value, low, high = (float(column[image]) for column in (self.frequency, self.low, self.high))
        return Estimate(value, low, high, int(self.n_answers[image]), self.interval)


@dataclass(frozen=True)
class ClassSummary:
    """What annotators said about the images of one class.

    Args:
        code: The number of the class.
        n_images: Of the class, also those without answers.
        n_answered: Those with one answer or more; the two shares are of these.
        n_answers: About all of them.
        mean: Of the images' frequencies, with Student's interval over images; None without any.
        at_or_above: The share of images whose frequency, as measured, reaches the threshold; None without any.
    """

    code: int
    n_images: int
    n_answered: int
    n_answers: int
    mean: Estimate | None
    at_or_above: Estimate | None


def selection_frequencies(answers: Answers, *, level: float = 0.95) -> Frequencies:
    """The selection frequency of every image with Wilson's interval.

    >>> answers = Answers(np.array([0, 0, 0, 0]), np.arange(4), np.arange(4) > 0, 2, 4, np.array([-1, -1]))
    >>> found = selection_frequencies(answers)
    >>> print(found.estimate(0), found.interval)
    0.7500 [0.3006, 0.9544]  n=4 wilson 95%
    >>> found.frequency.tolist()
    [0.75, nan]
    """
    check_level(level)
    n, hits = answers.n_answers, answers.n_selected
    frequency = np.full(len(n), np.nan)
    np.divide(hits, n, out=frequency, where=n > 0)
    low, high = _bounds(hits, n, level)
    return Frequencies(n, hits, frequency, low, high, f"{INTERVAL} {100 * level:g}%")


def class_summaries(
    frequencies: Frequencies, classes: np.ndarray, *, threshold: float = THRESHOLD, level: float = 0.95
) -> tuple[ClassSummary, ...]:
    """The frequencies of each class, by the number of the class.

    Args:
        frequencies: Of all images.
        classes: The class of each image, (N,), by number; a negative one leaves it out, as one does with controls.
        threshold: The frequency that an image has to reach.
        level: Of the intervals.

    >>> answers = Answers(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.arange(4) > 0, 3, 2, np.full(3, -1))
    >>> (found,) = class_summaries(selection_frequencies(answers), np.array([4, 4, 4]))
    >>> found.code, found.n_images, found.n_answered, found.n_answers
    (4, 3, 2, 4)
    >>> print(found.mean, "|", found.at_or_above)
    0.7500 [0.0000, 1.0000]  n=2 | 0.5000 [0.0945, 0.9055]  n=2
    """
    n = len(frequencies.frequency)
    if classes.shape != (n,) or classes.dtype.kind not in "iu":
        raise DataError(f"classes of shape {classes.shape} and type {classes.dtype}: expected ({n},) whole numbers")
    if not 0 <= threshold <= 1:
        raise DataError(f"threshold {threshold}: must lie in [0, 1], for example {THRESHOLD}")
    codes = [int(code) for code in np.unique(classes[classes >= 0])]
    return tuple(_summary(code, frequencies, classes == code, threshold, level) for code in codes)


def _summary(code: int, frequencies: Frequencies, inside: np.ndarray, threshold: float, level: float) -> ClassSummary:
    n_answers = frequencies.n_answers[inside]
    found = frequencies.frequency[inside][n_answers > 0]
    mean = reached = None
    if len(found):
        mean = mean_of(found, level=level, bounds=(0.0, 1.0))
        # 7 of 10 is the same number as the 0.7 that was typed: both are the nearest one there is.
        reached = share_of(int((found >= threshold).sum()), len(found), interval=INTERVAL, level=level)
    return ClassSummary(code, int(inside.sum()), len(found), int(n_answers.sum()), mean, reached)


def _bounds(hits: np.ndarray, n: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends of each image's interval; there are few different counts, so each pair of them is worked out once."""
    pairs, which = np.unique(np.stack([hits, n], axis=1), axis=0, return_inverse=True)
    ends = [wilson(h, m, level) if m else (np.nan, np.nan) for h, m in pairs.tolist()]
    low, high = np.array(ends).reshape(-1, 2)[which.reshape(-1)].T
    return low, high
