"""An axis of numbers of parameters: logarithmic, with few and round numbers on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 1.25
"""How far the axis goes beyond the smallest and the largest, as a ratio."""

APART = 0.33
"""Inches between two numbers."""

UNITS = ((1e9, "B"), (1e6, "M"), (1e3, "k"))


def amount(number: float) -> str:
    """A number of parameters as it is said.

    >>> amount(25_557_032), amount(2e5), amount(1.5e9), amount(40)
    ('25.6M', '200k', '1.5B', '40')
    """
    for unit, letter in UNITS:
        if number >= unit:
            return f"{number / unit:.3g}{letter}"
    return f"{number:g}"


def size_ticks(low: float, high: float, inches: float) -> list[float]:
    """Round numbers between two that fit so many inches.

    >>> size_ticks(9e6, 1.2e8, 2.5), size_ticks(1e4, 1e9, 1.5)
    ([10000000.0, 20000000.0, 30000000.0, 50000000.0, 100000000.0], [10000.0, 1000000.0, 100000000.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    apart = APART * math.log10(high / low) / inches
    for steps in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
        if all(math.log10(after / before) >= apart for before, after in pairwise(ticks)):
            return ticks
    return ticks[:: math.ceil(apart)]


def set_size_axis(axes: Axes, sizes: Sequence[float], inches: float) -> None:
    """Give the x axis its scale, its ends and its numbers."""
    low, high = min(sizes) / ROOM, max(sizes) * ROOM
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    ticks = size_ticks(low, high, 0.75 * inches)
    axes.xaxis.set_ticks(ticks, labels=[amount(tick) for tick in ticks])
    axes.xaxis.set_ticks([], minor=True)
