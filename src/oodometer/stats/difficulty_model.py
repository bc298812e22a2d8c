"""The Gaussian difficulty model of Recht et al. 2019, section 5.3: why models lie on a line in the probit domain.

An image of a set has a difficulty from N(μ, σ²), and a model of skill s is right on an image of difficulty i with
probability Φ(s − i), independently of all other models. So the probit of an accuracy is (s − μ) / √(σ² + 1), and the
probit accuracies of all models on two sets lie on a line:

    slope  u = √(σ₁² + 1) / √(σ₂² + 1)        offset  v = (μ₁ − μ₂) / √(σ₂² + 1)

Two numbers do not tell four. Accuracies alone identify the ratio of the widths √(σ² + 1) and the difference of the
means in units of one of them. The answers to each image say more: the harder images differ in difficulty, the more
often models are right and wrong together, which identifies each σ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.scales import to_scale

WIDEST = 5.0
"""The largest σ that is looked for: there, two models that are right on half of the images disagree on one in 11."""
FEWEST_MODELS = 3
"""Of the answers to each image: of two models, intervals hold σ too seldom where errors are few, by simulation."""
STEP = 1e-4
"""Of the logarithm of the width, for a derivative."""
NODES = np.linspace(-8.5, 8.5, 171)
"""Difficulties in standard deviations: by the trapezoid rule chances are exact to twelve digits at every such σ."""
_WEIGHTS = np.exp(-(NODES**2) / 2) / np.exp(-(NODES**2) / 2).sum()


@dataclass(frozen=True)
class Difficulty:
    """How difficult the images of a set are: N(mean, sd²), on the scale of the models' skills."""

    mean: float
    sd: float

    @property
    def width(self) -> float:
        """√(σ² + 1): how much skill one unit of probit accuracy takes."""
        return float(np.hypot(self.sd, 1.0))


@dataclass(frozen=True)
class ProbitLine:
    """Probit accuracy on the second set = slope · probit accuracy on the first + offset."""

    slope: float
    offset: float


@dataclass(frozen=True)
class Reading:
    """What a line through models says of the difficulties of two sets, if the model holds.

    Args:
        width_ratio: √(σ₁² + 1) / √(σ₂² + 1): above 1, the difficulties of the first set are the wider spread.
        harder_by: (μ₂ − μ₁) / √(σ₂² + 1): by how much the second set is harder, in its own widths.
        least_sd_first, least_sd_second: What σ is at the least, for the ratio of widths; 0 where it says nothing.
    """

    width_ratio: Estimate
    harder_by: Estimate
    least_sd_first: Estimate
    least_sd_second: Estimate


@dataclass(frozen=True)
class Spreads:
    """What the answers to each image say of both sets, if models are independent given the difficulty.

    Args:
        sd_first, sd_second: σ of each set; n counts images.
        slope: The slope that they predict.
    """

    sd_first: Estimate
    sd_second: Estimate
    slope: Estimate


def accuracy_at(skill: np.ndarray | float, difficulty: Difficulty) -> np.ndarray:
    """The expected accuracy of models of these skills, in closed form: Φ((s − μ) / √(σ² + 1)).

    >>> accuracy_at([0.0, 1.0, 2.0], Difficulty(mean=1.0, sd=0.0)).round(4).tolist()
    [0.1587, 0.5, 0.8413]
    """
    from scipy.special import ndtr

    return np.asarray(ndtr((np.asarray(skill, dtype=np.float64) - difficulty.mean) / difficulty.width))


def line_between(first: Difficulty, second: Difficulty) -> ProbitLine:
    """The line on which all models lie.

    >>> line_between(Difficulty(0.0, 1.0), Difficulty(0.5, 0.0))
    ProbitLine(slope=1.4142135623730951, offset=-0.5)
    """
    return ProbitLine(first.width / second.width, (first.mean - second.mean) / second.width)


def simulated_answers(
    skills: np.ndarray, difficulty: Difficulty, n: int, rng: np.random.Generator, *, own: float = 1.0
) -> np.ndarray:
    """Whether models of these skills are right on n images of a set, (M, N) bool.

    Args:
        own: The models' share in their own luck: 1 where they are independent given the difficulty, as the model says;
            of less, they have the rest in common, beyond what their accuracies show.

    >>> right = simulated_answers(np.array([0.0, 5.0]), Difficulty(0.0, 1.0), 1000, np.random.default_rng(0))
    >>> right.mean(axis=1).round(1).tolist()
    [0.5, 1.0]
    """
    if not 0 <= own <= 1:
        raise OodometerError(f"own {own}: a share between 0 and 1")
    difficulties = rng.normal(difficulty.mean, difficulty.sd, n)
    shared = rng.normal(size=n)
    luck = np.sqrt(own) * rng.normal(size=(len(skills), n)) + np.sqrt(1 - own) * shared
    return np.asarray(np.asarray(skills)[:, None] - difficulties > luck)


def reading_of(slope: Estimate, offset: Estimate) -> Reading:
    """What a line on the probit scale says of both sets; each end of an interval is carried along.

    >>> found = reading_of(Estimate(1.25, 1.1, 1.4, 60, ""), Estimate(-0.4, -0.5, -0.3, 60, ""))
    >>> print(found.harder_by)
    0.4000 [0.3000, 0.5000]  n=60
    >>> print(found.least_sd_first), print(found.least_sd_second)
    0.7500 [0.4583, 0.9798]  n=60
    0.0000 [0.0000, 0.0000]  n=60
    (None, None)
    """
    if slope.value <= 0:
        raise OodometerError(
            f"a slope of {slope.value:.3f}: models that are better on one set are worse on the other, which no spread "
            "of difficulties gives"
        )
    return Reading(
        width_ratio=slope,
        harder_by=_through(offset, lambda value: -value),
        least_sd_first=_through(slope, _least_sd),
        least_sd_second=_through(slope, lambda value: _least_sd(1 / value) if value > 0 else np.inf),
    )


def spread_of_difficulty(right: np.ndarray, *, level: float = 0.95) -> Estimate:
    """σ of a set, from whether each model is right on each image, (M, N), with an interval over images.

    The σ at which models that are independent given the difficulty are right together as often as these are: the sum
    over all pairs of models, whose accuracies are matched each. n counts images.

    >>> right = simulated_answers(np.array([0.5, 1.0, 1.5]), Difficulty(0, 1), 4000, np.random.default_rng(1))
    >>> print(spread_of_difficulty(right))
    1.0543 [0.9843, 1.1245]  n=4000
    """
    return _sd_of(_log_width(right), level)


def spreads_of(right_first: np.ndarray, right_second: np.ndarray, *, same_images: bool, level: float = 0.95) -> Spreads:
    """σ of both sets from the answers to each image, (M, N1) and (M, N2), and the slope that they predict.

    Args:
        same_images: Whether the columns of both are the same photographs.
    """
    from scipy.special import stdtrit

    first, second = _log_width(right_first), _log_width(right_second)
    n = min(first.n, second.n)
    moved = np.hypot(first.error, second.error)
    if same_images:
        moved = np.linalg.norm(first.moved_by - second.moved_by)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(moved)
    log_slope = max(first.value, 0.0) - max(second.value, 0.0)
    slope = Estimate(np.exp(log_slope), np.exp(log_slope - half), np.exp(log_slope + half), n, _name(level))
    if moved == 0:
        slope = Estimate(slope.value, None, None, n, "none: all images are alike")
    return Spreads(_sd_of(first, level), _sd_of(second, level), slope)


@dataclass(frozen=True)
class _LogWidth:
    """log √(σ² + 1), by how much each image moves it (N,); below 0 where models are together less than by chance."""

    value: float
    moved_by: np.ndarray

    @property
    def n(self) -> int:
        return len(self.moved_by)

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.linalg.norm(self.moved_by))


def _sd_of(log_width: _LogWidth, level: float) -> Estimate:
    from scipy.special import stdtrit

    value = _sd_at(log_width.value)
    if log_width.error == 0:
        return Estimate(value, None, None, log_width.n, "none: all images are alike")
    half = float(stdtrit(log_width.n - 1, (1 + level) / 2)) * log_width.error
    low, high = _sd_at(log_width.value - half), _sd_at(log_width.value + half)
    return Estimate(value, low, high, log_width.n, _name(level))


def _name(level: float) -> str:
    return f"linearised over images {100 * level:g}%"


def _sd_at(log_width: float) -> float:
    return float(np.sqrt(np.expm1(2 * max(log_width, 0.0))))


def _log_width(right: np.ndarray) -> _LogWidth:
    """The width at which pairs of models are right on an image as often as these are.

    Each image moves it as the two sides of that equation move: by the pairs that are right on it, and by the models'
    accuracies.
    """
    from scipy.optimize import brentq

    table = np.asarray(right)
    if table.ndim != 2 or len(table) < FEWEST_MODELS or table.shape[1] < 2:
        raise OodometerError(
            f"answers of shape {table.shape}: {FEWEST_MODELS} models at least, on two images at least, (M, N)"
        )
    n = table.shape[1]
    n_right = table.sum(axis=0, dtype=np.float64)
    pairs = n_right * (n_right - 1) / 2
    accuracies = table.mean(axis=1)
    probits = to_scale(accuracies, "probit")

    def lacking(log_width: float) -> float:
        return float(pairs.mean()) - _pairs_right(probits, log_width)

    widest = float(np.log(np.hypot(WIDEST, 1.0)))
    if lacking(0.0) <= 0:
        value = 0.0
    else:
        value = widest if lacking(widest) >= 0 else float(brentq(lacking, 0.0, widest, xtol=1e-10))
    above, below = value + STEP, max(value - STEP, 0.0)
    steepness = (lacking(below) - lacking(above)) / (above - below)
    if steepness < 1e-9:  # every model always right or always wrong: nothing tells
        return _LogWidth(value, np.zeros(n))
    by_accuracy = (table - accuracies[:, None]).T @ _by_accuracy(probits, value)
    moved_by = (pairs - pairs.mean() - by_accuracy) / (steepness * np.sqrt(n * (n - 1)))
    return _LogWidth(value + lacking(value) / steepness if value < widest else value, moved_by)


def _pairs_right(probits: np.ndarray, log_width: float) -> float:
    """The pairs of models of these probit accuracies (M,) that are right on an image, in expectation."""
    p, _ = _chances(probits, log_width)
    return float(_WEIGHTS @ (p.sum(axis=0) ** 2 - (p * p).sum(axis=0)) / 2)


def _by_accuracy(probits: np.ndarray, log_width: float) -> np.ndarray:
    """How fast that grows with the accuracy of each model, (M,); 0 for models at 0 % or 100 %, which nothing moves."""
    p, places = _chances(probits, log_width)
    inside = np.isfinite(probits)
    t = np.where(inside, probits, 0.0)
    # The density of the place over that of the probit, each without its 1 / sqrt(2 pi).
    rates = np.exp(log_width + (t[:, None] ** 2 - np.where(inside[:, None], places, 0.0) ** 2) / 2)
    return np.where(inside, ((p.sum(axis=0) - p) * rates) @ _WEIGHTS, 0.0)


def _chances(probits: np.ndarray, log_width: float) -> tuple[np.ndarray, np.ndarray]:
    """The chance of each model at each node, and its probit, (M, NODES) both.

    Skill minus mean is probit times width, so that each model has its accuracy whatever σ is.
    """
    from scipy.special import ndtr

    places = np.exp(log_width) * probits[:, None] - _sd_at(log_width) * NODES
    return ndtr(places), places


def _least_sd(ratio: float) -> float:
    """σ at the least of a set that is this much wider than another: the other's width is at least 1."""
    # A slope's interval may go below 0, which no ratio of widths is.
    return float(np.sqrt(max(max(ratio, 0.0) ** 2 - 1, 0.0)))


def _through(estimate: Estimate, of: Callable[[float], float]) -> Estimate:
    """The estimate through a monotone function, its ends in order."""
    if estimate.low is None or estimate.high is None:
        return Estimate(of(estimate.value), None, None, estimate.n, estimate.interval)
    low, high = sorted((of(estimate.low), of(estimate.high)))
    return Estimate(of(estimate.value), low, high, estimate.n, estimate.interval)
