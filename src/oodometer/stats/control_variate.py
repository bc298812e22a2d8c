"""Another model's answers to all images, by which answers to a few of them say more.

Where two models mostly err on the same images, what their errors on a sample differ by is known better than either. So
the error on all images is estimated as that on the sample, plus β times what the control errs more often on all images
than on the sample: the regression estimator of survey sampling (Cochran, Sampling Techniques, 1977, chapter 7). Its
variance is smaller by 1 − r², with r the correlation of the two models' errors.
"""

from __future__ import annotations

import numpy as np

from oodometer.stats.bootstrap import Resampling
from oodometer.stats.drawn_apart import errors_drawn_apart


def control_weight(kinds: np.ndarray) -> float:
    """β: how much of what the control errs more or less often on the sample is taken from the model's error.

    One for all conditions, so that it is known well though each has few images.

    Args:
        kinds: Images under each condition: both are right, the second alone errs, the first alone, both, (C, 4).

    >>> control_weight(np.array([[60, 0, 0, 40]])), control_weight(np.array([[25, 25, 25, 25]]))
    (1.0, 0.0)
    """
    first, second, both = _errors(kinds)
    variance = float((second * (1 - second)).sum())
    return max(0.0, float((both - first * second).sum()) / variance) if variance > 0 else 0.0


def residual_variances(kinds: np.ndarray) -> np.ndarray:
    """The variance of what the control's answer to an image does not tell, under each condition, (C,)."""
    first, second, both = _errors(kinds)
    weight = control_weight(kinds)
    covariance = both - first * second
    residual = first * (1 - first) - 2 * weight * covariance + weight**2 * second * (1 - second)
    return np.asarray(np.maximum(residual, 0.0))


def errors_with_control(kinds: np.ndarray, of_control: np.ndarray, resampling: Resampling) -> np.ndarray:
    """The errors of the first model under every condition, in all draws, (1 + D, C).

    Args:
        of_control: The second model's errors on all images under each condition, (C,).

    >>> few = Resampling(draws=100)
    >>> found = errors_with_control(np.array([[60, 0, 0, 40]]), np.array([0.38]), few)  # they never err alone
    >>> float(found.min()), float(found.max())
    (0.38, 0.38)
    """
    mine, theirs = np.split(errors_drawn_apart(kinds, resampling), 2, axis=1)
    return np.asarray(mine + control_weight(kinds) * (of_control - theirs))


def _errors(kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The share of images that the first errs on, the second, and both."""
    shares = kinds / kinds.sum(axis=1, keepdims=True)
    return shares[:, 2] + shares[:, 3], shares[:, 1] + shares[:, 3], shares[:, 3]
