"""What few groups add to an interval, by scipy: Student's t in the place of the normal."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm, t


def stretched(ends: np.ndarray, value: float, groups: int) -> tuple[float, float]:
    """The ends of a 95 % interval over so many groups, from those of its draws."""
    times = t.ppf(0.975, groups - 1) / norm.ppf(0.975) * np.sqrt(groups / (groups - 1))
    low, high = value + (np.asarray(ends) - value) * times
    return float(low), float(high)
