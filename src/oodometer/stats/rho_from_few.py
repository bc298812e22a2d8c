"""Effective robustness ρ on a set of which few images are labelled: accuracy there minus what a line expects.

ρ is a smooth function of the accuracies of all models, those under the shift from few labels. To first order it is a
sum of them with weights, and so it is the mean over images of one number: the same weights times who is right. That
number is what `mean_from_few` is asked for. What all models find hard cancels out of it, which is why ρ is known better
than an accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.stats.effective_robustness import effective_robustness
from oodometer.stats.lines import Line, fit_line
from oodometer.stats.prediction_powered import FromFewLabels, Labelled, mean_from_few
from oodometer.stats.scales import Scale, from_scale, to_scale

STEP = 1e-5
"""Of an accuracy, by which a line is moved to see what it does: far below what matters, far above rounding."""


def rho_from_few(
    right: np.ndarray,
    proxies: Sequence[np.ndarray],
    labelled: Labelled,
    right_clean: np.ndarray,
    baseline: np.ndarray,
    *,
    scale: Scale = "logit",
    level: float = 0.95,
) -> tuple[FromFewLabels, ...]:
    """ρ of every model beside a line through some of them, from few labels under the shift.

    The interval carries the labelled images, the clean images, which are others, and the line, which goes through a
    sample of models: the three are independent, and their squares are added.

    Args:
        right: Whether each model is right on each labelled image, (M, n) bool.
        proxies: Each of every model and image under the shift, (M, N).
        right_clean: Whether each model is right on each clean image, (M, Nx) bool.
        baseline: Which models the line goes through, (M,) bool.
        scale: On which the line is straight.
    """
    x = right_clean.mean(axis=1)
    y = np.array([_accuracy(right[model], proxies, model, labelled, level) for model in range(len(right))])
    fit_line(x[baseline], y[baseline], scale=scale)  # an error, where there is none

    def rho(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return effective_robustness(x, y, fit_line(x[baseline], y[baseline], scale=scale))

    by_y = _slopes(lambda moved: rho(x, moved), y)
    by_x = _slopes(lambda moved: rho(moved, y), x)
    of_models = _half_width_of_line(x, y, baseline, scale, level)
    found = []
    for model, value in enumerate(rho(x, y)):
        weights = by_y[model]
        mixed = np.stack([weights @ proxy for proxy in proxies], axis=1) if proxies else np.zeros((labelled.of, 0))
        mean = mean_from_few(weights @ right, mixed, labelled, level=level)
        rest = float(value - weights @ y)
        clean = _half_width(by_x[model] @ right_clean, level)
        found.append(_moved(mean, rest, float(np.hypot(clean, of_models[model]))))
    return tuple(found)


def rho_beside(line: Line, accuracy: FromFewLabels, right_clean: np.ndarray, *, level: float = 0.95) -> FromFewLabels:
    """ρ of a model beside a line that is given and taken as it is.

    Args:
        accuracy: Under the shift.
        right_clean: Whether it is right on each clean image, (Nx,) bool.
    """
    x = float(right_clean.mean())
    slope = _slopes(lambda moved: -line.at(moved), np.array([x]))[0, 0]
    return _moved(accuracy, -float(line.at(x)), _half_width(slope * right_clean, level))


def _accuracy(right: np.ndarray, proxies: Sequence[np.ndarray], model: int, labelled: Labelled, level: float) -> float:
    own = np.stack([proxy[model] for proxy in proxies], axis=1) if proxies else np.zeros((labelled.of, 0))
    return mean_from_few(right, own, labelled, level=level).estimate.value


def _slopes(of: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> np.ndarray:
    """How each of the numbers changes with each argument, (numbers, arguments)."""
    columns = []
    for place in range(len(at)):
        step = np.zeros(len(at))
        step[place] = STEP
        up, down = np.minimum(at + step, 1), np.maximum(at - step, 0)
        columns.append((of(up) - of(down)) / (up - down)[place])
    return np.stack(columns, axis=-1)


def _half_width(values: np.ndarray, level: float) -> float:
    """Of the interval of a mean of many."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2) * values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _half_width_of_line(x: np.ndarray, y: np.ndarray, baseline: np.ndarray, scale: Scale, level: float) -> np.ndarray:
    """How far off the line may be at each model, because it goes through a sample of models, (M,), in accuracy."""
    from scipy.special import stdtrit

    line = fit_line(x[baseline], y[baseline], scale=scale)
    u, v = to_scale(x[baseline], scale), to_scale(y[baseline], scale)
    placed = np.isfinite(u) & np.isfinite(v)
    u, v = u[placed], v[placed]
    free = len(u) - 2
    spread = np.sqrt(((v - line.intercept - line.slope * u) ** 2).sum() / free)
    at = np.clip(to_scale(x, scale), u.min() - 10, u.max() + 10)
    half = (
        stdtrit(free, (1 + level) / 2)
        * spread
        * np.sqrt(1 / len(u) + (at - u.mean()) ** 2 / ((u - u.mean()) ** 2).sum())
    )
    middle = line.intercept + line.slope * at
    return np.asarray((from_scale(middle + half, scale) - from_scale(middle - half, scale)) / 2)


def _moved(found: FromFewLabels, by: float, more: float) -> FromFewLabels:
    """The same number and another that is known, whose half width is added to the interval."""
    return replace(found, estimate=_wider(found.estimate, by, more), plain=_wider(found.plain, by, more))


def _wider(estimate: Estimate, by: float, more: float) -> Estimate:
    value = estimate.value + by
    if estimate.low is None or estimate.high is None:
        return replace(estimate, value=value)
    low, high = np.hypot(estimate.value - estimate.low, more), np.hypot(estimate.high - estimate.value, more)
    return replace(estimate, value=value, low=float(value - low), high=float(value + high))
