"""What few groups add to an interval, by scipy: Student's t in the place of the normal."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm, t


def stretched(ends: np.ndarray, value: float, groups: int, level: float = 0.95) -> tuple[float, float]:
    """The ends of an interval over so many groups, from those of its draws."""
    upper = (1 + level) / 2
    times = t.ppf(upper, groups - 1) / norm.ppf(upper) * np.sqrt(groups / (groups - 1))
    low, high = value + (np.asarray(ends) - value) * times
    return float(low), float(high)
