"""How many images many models would miss together if their errors were independent: the Poisson-binomial distribution.

A model of error rate e misses an image with probability e, whatever the others do. The number of models that miss an
image is then a sum of independent draws of different chances; among n images, those that at least k models miss are a
binomial number. Far more of them than that are images that are hard for all, or wrongly labelled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError


@dataclass(frozen=True)
class MissedTogether:
    """Images that at least so many models miss.

    Args:
        by: So many models.
        found: Images that these miss.
        expected: How many there would be, were the models' errors independent.
        p_value: The chance of as many or more then.
    """

    by: int
    found: int
    expected: float
    p_value: float


def number_missing(error_rates: np.ndarray) -> np.ndarray:
    """The chance that 0, 1, ..., M of models of these error rates (M,) miss an image, (M + 1,), if independently.

    >>> number_missing(np.array([0.5, 0.5])).tolist()
    [0.25, 0.5, 0.25]
    """
    rates = np.asarray(error_rates, dtype=np.float64)
    if rates.ndim != 1 or not len(rates) or not ((rates >= 0) & (rates <= 1)).all():
        raise OodometerError(f"error rates of shape {rates.shape}: expected one share between 0 and 1 for each model")
    chances = np.ones(1)
    for rate in rates:
        chances = np.convolve(chances, [1 - rate, rate])
    return chances


def missed_together(right: np.ndarray) -> tuple[MissedTogether, ...]:
    """Of every k from M down to 1 the images that at least k of M models miss, from whether each is right, (M, N).

    The error rates are those of the same images. They fix how many errors there are in all, so that under independence
    the numbers scatter less than the binomial says: the p-values are on the safe side.

    >>> right = np.tile(np.arange(100) >= 20, (3, 1))  # three models that miss the same 20 of 100 images
    >>> first = missed_together(right)[0]
    >>> first.by, first.found, round(first.expected, 2), first.p_value < 1e-9
    (3, 20, 0.8, True)
    """
    from scipy.special import bdtrc

    if right.ndim != 2 or right.dtype != bool or right.size == 0:
        raise OodometerError(f"right of shape {right.shape} and type {right.dtype}: expected bool of models by images")
    m, n = right.shape
    missing = np.bincount((~right).sum(axis=0), minlength=m + 1)
    at_least = np.cumsum(missing[::-1])[:-1]
    chances = np.minimum(np.cumsum(number_missing(1 - right.mean(axis=1))[::-1])[:-1], 1.0)
    return tuple(
        MissedTogether(m - at, int(found), float(n * chance), float(bdtrc(found - 1, n, chance)) if found else 1.0)
        for at, (found, chance) in enumerate(zip(at_least, chances, strict=True))
    )
