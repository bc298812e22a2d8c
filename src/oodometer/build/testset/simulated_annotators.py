"""Annotators whose truth is known: the Gaussian model of difficulty, for tests and for planning how many to ask.

Each image has a clearness d, which says how plainly it shows its class: it shows it where d is above 0, and one near 0
is hard for everybody. A worker looks at it with noise sigma and says "yes" where what they see is above their
threshold t: d + sigma · N(0, 1) > t. A spammer says "yes" at a fixed rate, whatever is shown.

Every number is drawn for what it is for. The answer of one worker about one image stays the same whoever else is asked
about whatever else; so do the clearness of an image and the skill of a worker.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.build.testset.answers import Answers
from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for

SIGMA = (0.3, 1.0)
"""Least and greatest noise of a worker."""

THRESHOLD_SPREAD = 0.3
"""Standard deviation of the workers' thresholds, around 0."""


@dataclass(frozen=True, eq=False)
class Annotators:
    """Simulated workers.

    Args:
        sigma: The noise of each, (W,).
        threshold: Of each, (W,); where it is high a worker is hard to convince.
        spam_rate: At which a spammer says "yes", (W,); NaN for who looks at the image.
    """

    sigma: np.ndarray
    threshold: np.ndarray
    spam_rate: np.ndarray

    def __post_init__(self) -> None:
        shapes = {self.sigma.shape, self.threshold.shape, self.spam_rate.shape}
        if len(shapes) > 1 or self.sigma.ndim != 1:
            raise UsageError("sigma, threshold and spam_rate: expected one number each for every worker")
        if not (self.sigma >= 0).all():
            raise UsageError("sigma is the size of a noise: it must be 0 or more")
        rates = self.spam_rate[self.is_spammer]
        if not ((rates >= 0) & (rates <= 1)).all():
            raise UsageError("spam_rate is a share: it must lie in [0, 1], or be NaN for who is no spammer")

    def __len__(self) -> int:
        return len(self.sigma)

    @property
    def is_spammer(self) -> np.ndarray:
        """Who answers whatever is shown, (W,) bool."""
        return np.asarray(~np.isnan(self.spam_rate))


def draw_clearness(n_images: int, *, prevalence: float = 0.5, plainness: float = 1.5, seed: int = 0) -> np.ndarray:
    """The clearness of each image, (N,): above 0 in a share ``prevalence``, the size of it |N(plainness, 1)|.

    >>> draw_clearness(4, seed=1).round(2).tolist() == draw_clearness(9, seed=1)[:4].round(2).tolist()
    True
    """
    if not 0 <= prevalence <= 1:
        raise UsageError(f"prevalence {prevalence}: must lie in [0, 1]")

    def of(image: int) -> float:
        rng = rng_for("simulated clearness", image, seed=seed)
        size = abs(rng.normal(plainness, 1.0))
        return size if rng.random() < prevalence else -size

    return np.array([of(image) for image in range(n_images)])


def draw_annotators(n_workers: int, *, n_spammers: int = 0, seed: int = 0) -> Annotators:
    """Workers of different noise and threshold, the last of whom are spammers of different rates.

    >>> draw_annotators(4, n_spammers=1).is_spammer.tolist()
    [False, False, False, True]
    """
    if not 0 <= n_spammers <= n_workers:
        raise UsageError(f"{n_spammers} spammers of {n_workers} workers: there can't be more of them, or fewer than 0")
    rngs = [rng_for("simulated annotator", worker, seed=seed) for worker in range(n_workers)]
    drawn = [(rng.uniform(*SIGMA), rng.normal(0, THRESHOLD_SPREAD), rng.random()) for rng in rngs]
    sigma, threshold, rate = np.array(drawn).reshape(n_workers, 3).T
    return Annotators(sigma, threshold, np.where(np.arange(n_workers) < n_workers - n_spammers, np.nan, rate))


def selection_probability(clearness: np.ndarray, annotators: Annotators) -> np.ndarray:
    """The probability that each worker says "yes" to each image, (N, W): Φ((d − t) / sigma).

    >>> workers = Annotators(np.array([1.0, 0.0, 1.0]), np.zeros(3), np.array([np.nan, np.nan, 0.3]))
    >>> selection_probability(np.array([1.0]), workers).round(4).tolist()
    [[0.8413, 1.0, 0.3]]
    """
    from scipy.special import ndtr

    above = clearness[:, None] - annotators.threshold
    noisy = annotators.sigma > 0
    steady = np.where(above > 0, np.inf, -np.inf)
    z = np.divide(above, annotators.sigma, out=steady, where=np.broadcast_to(noisy, above.shape))
    return np.where(annotators.is_spammer, annotators.spam_rate, ndtr(z))


def simulated_answers(
    clearness: np.ndarray,
    annotators: Annotators,
    *,
    n_per_image: int,
    is_control: np.ndarray | None = None,
    seed: int = 0,
) -> Answers:
    """The answers of so many workers, drawn without replacement, about each image.

    Args:
        clearness: Of each image, (N,).
        annotators: The workers.
        n_per_image: How many are asked about each.
        is_control: Which images are hidden controls, (N,) bool, whose truth is told; none by default.
        seed: Of all draws.

    >>> answers = simulated_answers(draw_clearness(20), draw_annotators(8), n_per_image=3)
    >>> len(answers), set(answers.n_answers.tolist())
    (60, {3})
    """
    n_images, n_workers = len(clearness), len(annotators)
    if not 1 <= n_per_image <= n_workers:
        raise UsageError(f"{n_per_image} answers per image of {n_workers} workers: each answers once")
    is_control = np.zeros(n_images, dtype=bool) if is_control is None else is_control
    asked = [asked_about(image, n_workers, n_per_image, seed=seed) for image in range(n_images)]
    image, worker = np.repeat(np.arange(n_images), n_per_image), np.array(asked, dtype=np.int64).reshape(-1)
    pairs = zip(image.tolist(), worker.tolist(), strict=True)
    says = [says_yes(float(clearness[i]), annotators, (i, w), seed=seed) for i, w in pairs]
    known = np.where(is_control, clearness > 0, -1)
    return Answers(image, worker, np.array(says, dtype=bool), n_images, n_workers, known)


def asked_about(image: int, n_workers: int, n_per_image: int, *, seed: int = 0) -> np.ndarray:
    """Who is asked about an image, (n_per_image,): the first of them stay the same where more are asked.

    >>> bool((asked_about(3, 30, 10)[:4] == asked_about(3, 30, 4)).all())
    True
    """
    return rng_for("simulated assignment", image, seed=seed).permutation(n_workers)[:n_per_image]


def says_yes(clearness: float, annotators: Annotators, pair: tuple[int, int], *, seed: int = 0) -> bool:
    """What a worker says about an image, ``pair`` being (image, worker), of that clearness.

    >>> workers = Annotators(np.array([0.0]), np.array([0.5]), np.array([np.nan]))
    >>> says_yes(0.6, workers, (0, 0)), says_yes(0.4, workers, (0, 0))
    (True, False)
    """
    image, worker = pair
    rng = rng_for("simulated answer", worker, image, seed=seed)
    if annotators.is_spammer[worker]:
        return bool(rng.random() < annotators.spam_rate[worker])
    return bool(clearness + annotators.sigma[worker] * rng.standard_normal() > annotators.threshold[worker])
