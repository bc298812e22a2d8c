"""A number that can be held against an expected one: an interval at any level, and a p-value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate


class Statistic(Protocol):
    """What a test is about: one number and how sure it is."""

    def estimate(self, level: float = 0.95) -> Estimate:
        """The number with its interval."""
        ...

    def p_value(self, expected: float) -> float:
        """Two-sided, of "it is as expected"."""
        ...


@dataclass(frozen=True)
class ByInterval:
    """A number of which only an interval is known: it is taken as normal on either side of the value."""

    known: Estimate
    level: float

    def estimate(self, level: float = 0.95) -> Estimate:
        """The interval that is known, at its own level."""
        if level != self.level:
            raise OodometerError(f"the interval is known at {self.level:g} alone, not at {level:g}")
        return self.known

    def p_value(self, expected: float) -> float:
        """Two-sided; 1 where there is no interval.

        >>> round(ByInterval(Estimate(0.6, 0.5, 0.8, 20, "bootstrap 95%"), 0.95).p_value(0.8), 3)
        0.05
        """
        from scipy.special import ndtr, ndtri

        low, high, value = self.known.low, self.known.high, self.known.value
        if low is None or high is None:
            return 1.0
        reach = high - value if expected > value else value - low
        if reach == 0:  # a bound of what can be
            return float(expected == value)
        return float(2 * ndtr(-abs(expected - value) / reach * ndtri((1 + self.level) / 2)))
