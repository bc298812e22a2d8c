"""Sine, cosine and arc tangent without branches, so that a loop over a row becomes vector instructions.

`np.floor` rather than `math.floor`, which numba turns into an integer and back.
"""

from __future__ import annotations

import math

import numpy as np

from oodometer.corruptions.jit import jit

_INVERSE_PI = 1.0 / math.pi
# Pi in two parts: the first has 21 low bits of zero, so that a whole multiple of it is exact.
_PI_HIGH = 3.1415926534682512
_PI_LOW = math.pi - _PI_HIGH + 1.2246467991473532e-16
_HALF_PI = math.pi / 2


@jit
def sine(x: float) -> float:
    """The sine to about 1e-13 for |x| below a thousand: Taylor's series on [-pi/2, pi/2] to the 17th power."""
    turns = np.floor(x * _INVERSE_PI + 0.5)
    rest = (x - turns * _PI_HIGH) - turns * _PI_LOW
    sign = 1.0 - 2.0 * (turns - 2.0 * np.floor(turns * 0.5))
    z = rest * rest
    series = 1.0 / 355687428096000.0
    series = series * z - 1.0 / 1307674368000.0
    series = series * z + 1.0 / 6227020800.0
    series = series * z - 1.0 / 39916800.0
    series = series * z + 1.0 / 362880.0
    series = series * z - 1.0 / 5040.0
    series = series * z + 1.0 / 120.0
    series = series * z - 1.0 / 6.0
    value: float = sign * (rest + rest * z * series)
    return value


@jit
def cosine(x: float) -> float:
    """The cosine, as accurate as `sine`."""
    return sine(x + _HALF_PI)


@jit
def arctangent2(y: float, x: float) -> float:
    """The angle of (x, y) in [-pi, pi] to about 1e-14; 0 at the origin.

    The polynomial interpolates arctan(sqrt(z)) / sqrt(z) at the 18 Chebyshev points of [0, 1].
    """
    across, up = abs(x), abs(y)
    ratio = min(across, up) / max(max(across, up), 1e-300)
    z = ratio * ratio
    series = -4.675653245713976e-05
    series = series * z + 0.00047047932942708353
    series = series * z - 0.002236884501245287
    series = series * z + 0.006738613877031538
    series = series * z - 0.014620542008843686
    series = series * z + 0.0247840170438091
    series = series * z - 0.035047798676209316
    series = series * z + 0.04388768595526926
    series = series * z - 0.05133686738132485
    series = series * z + 0.05847831850659684
    series = series * z - 0.06659766259907626
    series = series * z + 0.07691307817825473
    series = series * z - 0.09090809121322714
    series = series * z + 0.11111104741426928
    series = series * z - 0.14285714063408597
    series = series * z + 0.19999999997283982
    series = series * z - 0.33333333333358023
    series = series * z + 1.0000000000000027
    angle = ratio * series
    angle = _HALF_PI - angle if up > across else angle
    angle = math.pi - angle if x < 0.0 else angle
    return -angle if y < 0.0 else angle
