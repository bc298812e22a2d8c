"""Metrics that sort the images, of many resamples at once: what a bootstrap asks a thousand times.

A resample is a row of counts, how often each image is drawn. The images are sorted once for all resamples, and each
number is what the plain function (in ``selective``, ``per_class``) gives on the images repeated
that often; it takes a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from oodometer.metrics.reliability import checked_answers

T = TypeVar("T")

RISK = 0.05
"""Of ``coverage@5%``."""

COVERAGE = 0.8
"""Of ``risk@80%``."""

NEAR = 1 << 15
"""Counts worked on at once: so few that they stay in the processor's cache."""


class Answers(NamedTuple):
    """Resampled answers in G steps of confidence, the least confident first.

    Args:
        steps: The confidences that occur, (G,).
        times: How many images of each are drawn, (D, G); ``hits``: how many right ones.
        n: Images below each step and below the end, (D, G + 1); ``right``: right ones.
    """

    steps: np.ndarray
    times: np.ndarray
    hits: np.ndarray
    n: np.ndarray
    right: np.ndarray

    @property
    def size(self) -> np.ndarray:
        """Images of each resample, (D, 1); clusters make them differ."""
        return self.n[:, -1:]


class Classes(NamedTuple):
    """Images of each class that are drawn, and how many of them are right; both (D, C)."""

    n: np.ndarray
    right: np.ndarray


def aurra(answers: Answers) -> np.ndarray:
    """The mean accuracy among the k most confident, of each resample, (D,)."""
    above = answers.size - answers.n
    right_above = answers.right[:, -1:] - answers.right
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, int(answers.size.max()) + 1)))[above.astype(np.intp)]
    shares = answers.hits / np.maximum(answers.times, 1)
    # As in `area_under_response_curve`: after a images, of which b are right, the accuracy among k in a step whose
    # share of right ones is s is s + (b − a s) / k.
    rest = (right_above[:, 1:] - above[:, 1:] * shares) * (harmonic[:, :-1] - harmonic[:, 1:])
    return np.asarray((answers.right[:, -1] + rest.sum(axis=1)) / answers.size[:, 0])


def aurc(answers: Answers) -> np.ndarray:
    """The mean error among the k most confident, of each resample, (D,)."""
    return 1 - aurra(answers)


def coverage_at_5(answers: Answers) -> np.ndarray:
    """The largest share that can be answered with at most 5 % errors, of each resample, (D,)."""
    answered = answers.size - answers.n[:, :-1]
    wrong = answered - (answers.right[:, -1:] - answers.right[:, :-1])
    safe = wrong / np.maximum(answered, 1) <= RISK
    return np.asarray(np.where(safe, answered, 0).max(axis=1) / answers.size[:, 0])


def risk_at_80(answers: Answers) -> np.ndarray:
    """The error among the 80 % most confident, of each resample, (D,)."""
    size, wrong = answers.size[:, 0], answers.n - answers.right
    answered = np.maximum(np.ceil(COVERAGE * size - 1e-9), 1)
    declined = size - answered
    # The step in which the last declined image lies, of which a part is answered.
    step = np.minimum((answers.n[:, 1:] <= declined[:, None]).sum(axis=1), answers.times.shape[1] - 1)[:, None]
    below, wrong_below, times, hits = (
        np.take_along_axis(values, step, axis=1)[:, 0] for values in (answers.n, wrong, answers.times, answers.hits)
    )
    wrong_declined = wrong_below + (declined - below) * (times - hits) / np.maximum(times, 1)
    return np.asarray((wrong[:, -1] - wrong_declined) / answered)


def augrc(answers: Answers) -> np.ndarray:
    """The area under generalized risk by coverage, of each resample, (D,)."""
    less_sure = answers.n[:, :-1] + answers.times / 2
    return np.asarray(((answers.times - answers.hits) * less_sure).sum(axis=1) / answers.size[:, 0] ** 2)


def worst_class(classes: Classes) -> np.ndarray:
    """The least class accuracy, of each resample, (D,)."""
    return np.asarray(np.where(classes.n > 0, classes.right / np.maximum(classes.n, 1), 1.0).min(axis=1))


OF_ANSWERS: Mapping[str, Callable[[Answers], np.ndarray]] = {
    "aurra": aurra,
    "aurc": aurc,
    "coverage@5%": coverage_at_5,
    "risk@80%": risk_at_80,
    "augrc": augrc,
}
OF_CLASSES: Mapping[str, Callable[[Classes], np.ndarray]] = {"worst-class": worst_class}


def resampled_answers(
    names: Sequence[str], confidence: np.ndarray, right: np.ndarray, counts: Iterable[np.ndarray]
) -> dict[str, np.ndarray]:
    """Metrics of `OF_ANSWERS` by name on each resample, (D,) each.

    Args:
        counts: How often each image is drawn, in blocks (d, N) of resamples.

    >>> twice_and_once = [np.array([[2, 1, 0], [1, 1, 1]])]
    >>> found = resampled_answers(["aurra"], np.array([0.9, 0.5, 0.7]), np.array([True, False, True]), twice_and_once)
    >>> found["aurra"].round(6).tolist()
    [0.888889, 0.888889]
    """
    confidence, right = checked_answers(confidence, right)
    order = np.argsort(confidence, kind="stable")
    sure, is_right = confidence[order], right[order].astype(np.float64)
    starts = np.flatnonzero(np.append(True, sure[1:] != sure[:-1]))
    steps = sure[starts]

    def answers(block: np.ndarray) -> Answers:
        drawn = block[:, order].astype(np.float64)
        times, hits = _sums(drawn, starts), _sums(drawn * is_right, starts)
        return Answers(steps, times, hits, _below(times), _below(hits))

    return _each(names, OF_ANSWERS, (answers(block) for block in _near(counts)))


def resampled_classes(
    names: Sequence[str], label: np.ndarray, rank: np.ndarray, counts: Iterable[np.ndarray]
) -> dict[str, np.ndarray]:
    """Metrics of `OF_CLASSES` by name on each resample, (D,) each; arguments as of `class_accuracies`.

    >>> found = resampled_classes(["worst-class"], np.array([7, 7, 2]), np.array([0, 3, 0]), [np.array([[1, 1, 1]])])
    >>> found["worst-class"].tolist()
    [0.5]
    """
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(label[order]) != 0))
    is_right = (rank[order] == 0).astype(np.float64)

    def classes(block: np.ndarray) -> Classes:
        drawn = block[:, order].astype(np.float64)
        return Classes(_sums(drawn, starts), _sums(drawn * is_right, starts))

    return _each(names, OF_CLASSES, (classes(block) for block in _near(counts)))


def _near(counts: Iterable[np.ndarray]) -> Iterable[np.ndarray]:
    """The same counts in smaller blocks."""
    for block in counts:
        step = max(NEAR // block.shape[1], 1)
        for start in range(0, len(block), step):
            yield block[start : start + step]


def _each(
    names: Sequence[str], functions: Mapping[str, Callable[[T], np.ndarray]], blocks: Iterable[T]
) -> dict[str, np.ndarray]:
    """What each function gives of all blocks."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for block in blocks:
        for name in names:
            found[name].append(functions[name](block))
    return {name: np.concatenate(values) for name, values in found.items()}


def _sums(drawn: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sums from each start to the next, (D, N) -> (D, G)."""
    return drawn if len(starts) == drawn.shape[1] else np.add.reduceat(drawn, starts, axis=1)


def _below(values: np.ndarray) -> np.ndarray:
    """Sums below each step and below the end, (D, G) -> (D, G + 1)."""
    found = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, axis=1, out=found[:, 1:])
    return found
