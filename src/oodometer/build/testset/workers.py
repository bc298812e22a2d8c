"""How good each annotator is, told by the hidden controls, and who answers whatever is shown.

A worker who guesses says "yes" at some rate, the same whatever the image shows. On controls that show the class such a
worker is right at that rate, on controls of a near class at one minus it: the number of right answers is the sum of two
binomial ones. The test asks how often it would be as large as it was, at the worker's own rate over all answers.
Candidates belong to these answers: they tell the rate far better than a handful of controls. Where all controls are of
one kind it is the plain exact binomial test.

That a worker can't be told from guessing may mean that there were few controls. So a spammer is, in plain words, who

1. can't be told from guessing, all workers taken together (Holm), and
2. even at best, by the upper end of the interval, says "yes" less than 0.5 more often where the class is shown than
   where it is not. It is 0 for guessing and 1 for no mistake; below 0.5 a worker is nearer to the former.

The second point also finds who answers the wrong way round. With few controls it holds for nobody: such a worker is
undecided, and needs more controls rather than a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from oodometer.build.testset.answers import NEAR_CLASS, SHOWS_CLASS, Answers
from oodometer.core.estimate import Estimate
from oodometer.stats.corrections import holm
from oodometer.stats.intervals import check_level, difference_of, share_of

INTERVAL = "wilson"

NEARER_TO_GUESSING = 0.5
"""Hits minus false alarms below which a worker is nearer to a guesser than to one who makes no mistake."""

Verdict = Literal["better than guessing", "spammer", "undecided"]


@dataclass(frozen=True)
class WorkerQuality:
    """What the controls say of one worker. What is undefined, for want of answers, is None.

    Args:
        worker: By number.
        selecting: The share of all answers that are "yes", controls and candidates.
        hits: The share of positive controls that were selected.
        rejections: The share of negative controls that were not.
        informedness: Hits minus false alarms: 0 for guessing, 1 for no mistake; Newcombe's interval.
        p_value: Of "the worker guesses", one-sided, on all controls.
        adjusted: The same after Holm, over all workers who saw a control.
        verdict: By the rule above.
    """

    worker: int
    selecting: Estimate | None
    hits: Estimate | None
    rejections: Estimate | None
    informedness: Estimate | None
    p_value: float | None
    adjusted: float | None
    verdict: Verdict


def worker_qualities(answers: Answers, *, level: float = 0.95) -> tuple[WorkerQuality, ...]:
    """The quality of every worker, by number.

    >>> controls = np.arange(40) % 2
    >>> image, worker = np.tile(np.arange(40), 2), np.repeat([0, 1], 40)
    >>> says = np.concatenate([controls == 1, np.arange(40) % 4 < 2])  # one is always right, one does not look
    >>> good, bad = worker_qualities(Answers(image, worker, says, 40, 2, controls))
    >>> print(good.verdict, good.hits, f"{good.adjusted:.0e}")
    better than guessing 1.0000 [0.8389, 1.0000]  n=20 2e-12
    >>> print(bad.verdict, bad.informedness)
    spammer 0.0000 [-0.2838, 0.2838]  n=40
    """
    check_level(level)
    counts = _Counts.of(answers)
    p_values = counts.p_values()
    tests = zip(p_values.tolist(), holm(p_values).tolist(), strict=True)
    return tuple(_quality(worker, counts, test, level) for worker, test in enumerate(tests))


def spammers(qualities: tuple[WorkerQuality, ...]) -> np.ndarray:
    """Which workers are spammers by the rule above, (n_workers,) bool; for `without_workers`."""
    return np.array([quality.verdict == "spammer" for quality in qualities], dtype=bool)


def p_of_guessing(right: int, positive: int, negative: int, rate: float) -> float:
    """How often one who says "yes" at a rate, whatever is shown, is right on as many controls or more.

    Args:
        right: Answers that were right, on both kinds of controls.
        positive: Controls that show the class.
        negative: Controls of a near class.
        rate: At which a guesser says "yes".

    >>> round(p_of_guessing(3, 3, 0, 0.5), 6), round(p_of_guessing(6, 3, 3, 0.5), 6), p_of_guessing(3, 3, 3, 1.0)
    (0.125, 0.015625, 1.0)
    """
    chances = np.convolve(_binomial(positive, rate), _binomial(negative, 1 - rate))
    return min(float(chances[right:].sum()), 1.0)


def _binomial(n: int, rate: float) -> np.ndarray:
    """The chances of 0, ..., n successes."""
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + xlogy(k, rate) + xlog1py(n - k, -rate)))


@dataclass(frozen=True, eq=False)
class _Counts:
    """Of each worker, (n_workers,): answers and those that are "yes"; controls of both kinds, and right answers."""

    n: np.ndarray
    selected: np.ndarray
    positive: np.ndarray
    hits: np.ndarray
    negative: np.ndarray
    rejections: np.ndarray

    @classmethod
    def of(cls, answers: Answers) -> _Counts:
        known, yes = answers.known[answers.image], answers.selected
        shows, near = known == SHOWS_CLASS, known == NEAR_CLASS
        kinds = (np.ones_like(yes), yes, shows, shows & yes, near, near & ~yes)
        return cls(*(np.bincount(answers.worker[kind], minlength=answers.n_workers) for kind in kinds))

    def p_values(self) -> np.ndarray:
        """Of "the worker guesses", (n_workers,); NaN where a worker saw no control, which is no test."""
        found = np.full(len(self.n), np.nan)
        for worker in np.flatnonzero(self.positive + self.negative).tolist():
            right = int(self.hits[worker] + self.rejections[worker])
            rate = float(self.selected[worker] / self.n[worker])
            found[worker] = p_of_guessing(right, int(self.positive[worker]), int(self.negative[worker]), rate)
        return found


def _quality(worker: int, counts: _Counts, test: tuple[float, float], level: float) -> WorkerQuality:
    def share(part: np.ndarray, whole: np.ndarray) -> Estimate | None:
        n = int(whole[worker])
        return share_of(int(part[worker]), n, interval=INTERVAL, level=level) if n else None

    hits = share(counts.hits, counts.positive)
    alarms = share(counts.negative - counts.rejections, counts.negative)
    n = int(counts.positive[worker] + counts.negative[worker])
    p_value, adjusted = test
    informed = None if hits is None or alarms is None else difference_of(hits, alarms, n=n, level=level)
    return WorkerQuality(
        worker=worker,
        selecting=share(counts.selected, counts.n),
        hits=hits,
        rejections=share(counts.rejections, counts.negative),
        informedness=informed,
        p_value=p_value if n else None,
        adjusted=adjusted if n else None,
        verdict=_verdict(adjusted, informed, level),
    )


def _verdict(adjusted: float, informedness: Estimate | None, level: float) -> Verdict:
    if adjusted <= 1 - level:  # never where there was no test: it is NaN then
        return "better than guessing"
    best = None if informedness is None else informedness.high
    return "spammer" if best is not None and best < NEARER_TO_GUESSING else "undecided"
