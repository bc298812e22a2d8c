"""The bootstrap over conditions whose images were drawn apart: each resampled by itself, so that errors average out."""

from __future__ import annotations

import numpy as np

from oodometer.core.random import rng_for
from oodometer.stats.bootstrap import Resampling


def errors_drawn_apart(kinds: np.ndarray, resampling: Resampling) -> np.ndarray:
    """The errors of two models under every condition, in all draws.

    An image is one of four kinds: both models are right, the second alone errs, the first alone, both. Resampling
    images is drawing four counts.

    Args:
        kinds: Images of each kind under each condition, (C, 4).

    Returns:
        (1 + D, 2 C): the errors of the first model under each condition, then those of the second; the first row is
        that of the images themselves.

    >>> few = Resampling(draws=100)
    >>> errors_drawn_apart(np.array([[60, 10, 20, 10], [90, 0, 10, 0]]), few)[0]
    array([0.3, 0.1, 0.2, 0. ])
    """
    rng = rng_for("bootstrap of images drawn apart", seed=resampling.seed)
    n_conditions = len(kinds)
    means = np.empty((1 + resampling.draws, 2 * n_conditions))
    for at, counts in enumerate(kinds):
        n = int(counts.sum())
        drawn = np.concatenate([counts[None], rng.multinomial(n, counts / n, size=resampling.draws)]) / n
        means[:, at] = drawn[:, 2] + drawn[:, 3]
        means[:, n_conditions + at] = drawn[:, 1] + drawn[:, 3]
    return means
