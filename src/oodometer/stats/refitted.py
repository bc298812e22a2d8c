"""ρ beside a baseline that has no closed form under resampling: two lines with a knee, a plane over several sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.random import rng_for
from oodometer.stats.bootstrap import DEFAULT, MOST_UNDEFINED, Resampling
from oodometer.stats.effective_robustness import Baseline, effective_robustness
from oodometer.stats.lines import percentiles

Fit = Callable[[np.ndarray, np.ndarray], Baseline]
"""Clean shares (B, ...) and shifted shares (B,) of the baseline models -> what they lead to expect."""


def rho_from_fits(
    x: np.ndarray,
    y: np.ndarray,
    sizes: Sequence[tuple[int | None, ...]],
    baseline: np.ndarray,
    fit: Fit,
    *,
    resampling: Resampling = DEFAULT,
) -> tuple[Estimate, ...]:
    """ρ of every model, with intervals that carry the images and the baseline, which is fitted again in each draw.

    As `rho_from_counts`, for any fit, and slower. A draw whose models determine no fit is left out.

    Args:
        x: Clean accuracy of each model, (M,), or on each of K clean sets, (M, K).
        y: Its accuracy under the shift, (M,).
        sizes: For each model the number of images behind each x and, last, behind y; None where it is not known.
        baseline: Which models the baseline goes through, (M,) bool.
        fit: How.
        resampling: Draws, level and seed.
    """
    values = effective_robustness(x, y, fit(x[baseline], y[baseline]))
    rng = rng_for("baseline fitted again", seed=resampling.seed)
    members = np.flatnonzero(baseline)
    drawn, undefined = [], 0
    known = np.array([None not in of_model for of_model in sizes])
    counts = np.array([[n or 1 for n in of_model] for of_model in sizes], dtype=np.float64)
    for _ in range(resampling.draws):
        picked = rng.choice(members, size=len(members))
        shares = np.column_stack([x, y])
        noisy = rng.beta(shares * counts + 0.5, (1 - shares) * counts + 0.5)
        shares = np.where(known[:, None], noisy, shares)
        try:
            expected = fit(x[picked], y[picked]).at(shares[:, :-1].reshape(x.shape))
        except OodometerError:
            undefined += 1
            continue
        drawn.append(shares[:, -1] - expected)
    if undefined > MOST_UNDEFINED * resampling.draws:
        raise OodometerError(f"the baseline is undefined in {undefined} of {resampling.draws} draws: too few models")
    bounds = percentiles(np.array(drawn), resampling.level)
    return tuple(
        Estimate(
            float(value),
            min(float(low), float(value)),
            max(float(high), float(value)),
            of_model[-1] if complete else None,
            f"{'line and images' if complete else 'line only'} {100 * resampling.level:g}%",
        )
        for value, low, high, of_model, complete in zip(values, *bounds, sizes, known, strict=True)
    )
