"""How many images would tell a difference."""

from __future__ import annotations

from oodometer.core.estimate import Estimate

POWER = 0.8
"""With which probability it would be told, as is usual."""
MOST = 10**8
"""More images than these nobody has."""


def images_to_tell(difference: Estimate, level: float) -> float | None:
    """With how many images in all a difference would be told from 0 with a probability of 80 %, if it is what it seems.

    The half width of the interval says how sure it is with n images; that shrinks with the square root of n.

    >>> round(images_to_tell(Estimate(0.01, -0.01, 0.03, 1000, "any"), 0.95))
    8173
    """
    from scipy.special import ndtri

    if difference.low is None or difference.high is None or not difference.n or difference.value == 0:
        return None
    z = float(ndtri((1 + level) / 2))
    error = (difference.high - difference.low) / 2 / z
    needed = difference.n * ((z + float(ndtri(POWER))) * error / difference.value) ** 2
    return needed if needed < MOST else None
