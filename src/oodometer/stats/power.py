"""How many images would tell a difference, and which difference so many images would tell.

Two models on n images disagree on a share ψ of them. Of D disagreements, binomial in n and ψ, the better one wins each
with the probability (1 + δ / ψ) / 2 where δ is the difference of the accuracies; McNemar's test looks at these wins
alone, so that its power is a sum over D.
"""

from __future__ import annotations

import numpy as np

from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import check_level, standard_error
from oodometer.stats.paired import McNemar

POWER = 0.8
"""With which probability it would be told, as is usual."""
MOST = 10**8
"""More images than these nobody has."""


def images_to_tell(difference: Estimate, level: float) -> int | None:
    """With how many images in all a difference would be told from 0 with a probability of 80 %, if it is what it seems.

    The half width of the interval says how sure it is with n images; that shrinks with the square root of n.

    >>> images_to_tell(Estimate(0.01, -0.01, 0.03, 1000, "any"), 0.95)
    8173
    """
    if difference.low is None or difference.high is None or not difference.n or difference.value == 0:
        return None
    sd = standard_error(difference, level) * float(np.sqrt(difference.n))
    return images_for_mean_difference(difference.value, sd, level=level)


FAR = 7.0
"""So many standard deviations from its mean no number of disagreements is expected: 3 in 10^12 lie beyond."""

STEPS = 40
"""Halvings of where a difference may lie."""

PRECISION = 10_000
"""A number of images is told to one part in so many: finer than the disagreement is ever known."""


def power_of_mcnemar(
    n: int, difference: float, disagreement: float, *, level: float = 0.95, test: McNemar = "exact"
) -> float:
    """The probability that McNemar's test tells a difference of two accuracies with n images, in the right direction.

    Args:
        difference: Of the accuracies.
        disagreement: The share of images on which exactly one of the two is right.

    >>> round(power_of_mcnemar(3000, 0.02, 0.1), 3)
    0.928
    """
    from scipy.special import bdtr, gammaln

    check_level(level)
    _check_shares(difference, disagreement)
    mean, spread = n * disagreement, np.sqrt(n * disagreement * (1 - disagreement))
    first, last = max(0, int(mean - FAR * spread) - 1), min(n, int(mean + FAR * spread) + 1)
    d = np.arange(first, last + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = gammaln(n + 1) - gammaln(d + 1) - gammaln(n - d + 1)
        log = log + np.where(d > 0, d * np.log(disagreement), 0) + np.where(d < n, (n - d) * np.log1p(-disagreement), 0)
    fewest = _most_losses(d, 1 - level, test)
    losing = (1 - abs(difference) / disagreement) / 2
    told = np.where(fewest >= 0, bdtr(np.maximum(fewest, 0), d, losing), 0.0)
    return float((np.exp(log) * told).sum())


def _most_losses(d: np.ndarray, alpha: float, test: McNemar) -> np.ndarray:
    """How often at most the better one may lose of d disagreements so that the test tells, (D,); -1: never."""
    from scipy.special import bdtr, ndtri

    def tells(k: np.ndarray) -> np.ndarray:
        tail = bdtr(np.maximum(k, 0), d, 0.5)
        if test == "mid-p":
            tail = (tail + np.where(k > 0, bdtr(np.maximum(k - 1, 0), d, 0.5), 0.0)) / 2
        return np.asarray((k < d / 2) & ((k < 0) | (2 * tail <= alpha)))

    # The normal law says where to begin.
    most = np.maximum(np.floor(d / 2 + float(ndtri(alpha / 2)) * np.sqrt(d) / 2), -1.0)
    while not (told := tells(most)).all():
        most = np.where(told, most, most - 1)
    while (more := tells(most + 1)).any():
        most = np.where(more, most + 1, most)
    return np.asarray(most)


def images_for_difference(
    difference: float,
    disagreement: float,
    *,
    power: float = POWER,
    level: float = 0.95,
    test: McNemar = "exact",
) -> int | None:
    """How many images McNemar's test needs to tell a difference with this probability; None: more than anybody has.

    Two models that differ by more than they disagree there are none: such a difference counts as all disagreement.

    >>> images_for_difference(0.005, 0.05), images_for_difference(0.05, 0.02)
    (16064, 157)
    """
    _check_power(power)
    disagreement = max(disagreement, abs(difference))
    if difference == 0:
        return None
    sd = float(np.sqrt(disagreement - difference**2))
    near = images_for_mean_difference(difference, sd, power=power, level=level)
    if near is None:
        return None

    def enough(n: int) -> bool:
        return power_of_mcnemar(n, difference, disagreement, level=level, test=test) >= power

    high = max(near, 1)
    while not enough(high):
        high = int(1.1 * high) + 10
        if high > MOST:
            return None
    low = 0
    while low < high - max(1, high // PRECISION):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def images_for_mean_difference(
    difference: float, sd: float, *, power: float = POWER, level: float = 0.95
) -> int | None:
    """How many images tell a mean of differences of this spread from 0 with this probability, by the normal law.

    For a family of conditions, where an image has the mean of its differences.

    >>> images_for_mean_difference(0.005, 0.2)
    12559
    """
    from scipy.special import ndtri

    check_level(level)
    _check_power(power)
    if difference == 0:
        return None
    needed = ((float(ndtri((1 + level) / 2)) + float(ndtri(power))) * sd / difference) ** 2
    return max(2, int(np.ceil(needed))) if needed < MOST else None


def difference_shown(
    n: int, disagreement: float, *, power: float = POWER, level: float = 0.95, test: McNemar = "exact"
) -> float | None:
    """The smallest difference that McNemar's test tells with n images with this probability.

    None where it would not even tell that the one wins all disagreements.

    >>> round(difference_shown(10_000, 0.05), 4), difference_shown(50, 0.02)
    (0.0064, None)
    """
    _check_power(power)
    if n < 1 or disagreement == 0:
        return None

    def shown(difference: float) -> bool:
        return power_of_mcnemar(n, difference, disagreement, level=level, test=test) >= power

    if not shown(disagreement):
        return None
    low, high = 0.0, disagreement
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def mean_difference_shown(n: int, sd: float, *, power: float = POWER, level: float = 0.95) -> float:
    """The smallest mean difference that n images tell with this probability, by the normal law.

    >>> round(mean_difference_shown(10_000, 0.2), 4)
    0.0056
    """
    from scipy.special import ndtri

    check_level(level)
    _check_power(power)
    return (float(ndtri((1 + level) / 2)) + float(ndtri(power))) * sd / float(np.sqrt(n))


def _check_power(power: float) -> None:
    if not 0 < power < 1:
        raise UsageError(f"power {power}: must lie between 0 and 1, for example 0.8")


def _check_shares(difference: float, disagreement: float) -> None:
    if not 0 < disagreement <= 1:
        raise OodometerError(f"disagreement {disagreement}: must be a share above 0")
    if abs(difference) > disagreement:
        raise OodometerError(
            f"a difference of {difference:g} of models that disagree on {disagreement:g} of the images: there is none"
        )
