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
from oodometer.stats.bootstrap import DEFAULT, Resampling, draws_of_means, interval_of
from oodometer.stats.line_intervals import IMAGE_DRAWS, other_images
from oodometer.stats.scales import to_scale

WIDEST = 5.0
"""The largest σ that is looked for: there, two models that are right on half of the images disagree on one in 11."""
HALVINGS = 23
"""Of the range of σ: to less than a millionth."""
NODES = np.linspace(-8.5, 8.5, 171)
"""Difficulties in standard deviations: by the trapezoid rule chances are exact to twelve digits at every such σ."""


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


def spread_of_difficulty(right: np.ndarray, *, resampling: Resampling = DEFAULT) -> Estimate:
    """σ of a set, from whether each model is right on each image, (M, N), with an interval over images.

    The σ at which models that are independent given the difficulty are right together as often as these are: the sum
    over all pairs of models, whose accuracies are matched each. n counts images.

    >>> right = simulated_answers(np.array([0.5, 1.0, 1.5]), Difficulty(0, 1), 4000, np.random.default_rng(1))
    >>> print(spread_of_difficulty(right))
    1.0543 [0.9917, 1.1261]  n=4000
    """
    value, draws = _spread_and_draws(right, resampling)
    return interval_of(draws, value, n=right.shape[1], resampling=_few(resampling), bounds=(0.0, WIDEST))


def spreads_of(
    right_first: np.ndarray, right_second: np.ndarray, *, same_images: bool, resampling: Resampling = DEFAULT
) -> Spreads:
    """σ of both sets from the answers to each image, (M, N1) and (M, N2), and the slope that they predict.

    Args:
        same_images: Whether the columns of both are the same photographs, which are resampled together then.
    """
    first, drawn_first = _spread_and_draws(right_first, resampling)
    second, drawn_second = _spread_and_draws(right_second, resampling if same_images else other_images(resampling))
    few = _few(resampling)
    n_first, n_second = right_first.shape[1], right_second.shape[1]
    return Spreads(
        interval_of(drawn_first, first, n=n_first, resampling=few, bounds=(0.0, WIDEST)),
        interval_of(drawn_second, second, n=n_second, resampling=few, bounds=(0.0, WIDEST)),
        interval_of(
            np.hypot(drawn_first, 1) / np.hypot(drawn_second, 1),
            float(np.hypot(first, 1) / np.hypot(second, 1)),
            n=min(n_first, n_second),
            resampling=few,
        ),
    )


def _spread_and_draws(right: np.ndarray, resampling: Resampling) -> tuple[float, np.ndarray]:
    """σ, and that of each resample of the images."""
    table = np.asarray(right)
    if table.ndim != 2 or len(table) < 2 or table.shape[1] < 2:
        raise OodometerError(f"answers of shape {table.shape}: two models at least, on two images at least, (M, N)")
    n_right = table.sum(axis=0, dtype=np.float64)
    together = n_right * (n_right - 1) / 2
    columns = np.column_stack([table.T.astype(np.float64), together])
    means = draws_of_means(columns, resampling=_few(resampling))
    value = _sd_that_gives(table.mean(axis=1)[None], np.array([together.mean()]))
    return float(value[0]), _sd_that_gives(means[:, :-1], means[:, -1])


def _few(resampling: Resampling) -> Resampling:
    draws = max(IMAGE_DRAWS, int(2 / (1 - resampling.level)) + 1)
    return Resampling(draws, resampling.level, seed=resampling.seed)


def _sd_that_gives(accuracies: np.ndarray, together: np.ndarray) -> np.ndarray:
    """σ of each row of accuracies (D, M) at which so many pairs of models are right on an image, (D,), by bisection.

    Where fewer are than by chance, 0; more than the widest σ gives, that.
    """
    probits = to_scale(accuracies, "probit")
    low, high = np.zeros(len(probits)), np.full(len(probits), WIDEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = _pairs_right(probits, middle) < together
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return np.asarray((low + high) / 2)


def _pairs_right(probits: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """The pairs of models that are right on an image in expectation, (D, M) and (D,) -> (D,)."""
    from scipy.special import ndtr

    weights = np.exp(-(NODES**2) / 2)
    weights /= weights.sum()
    pairs = np.empty(len(probits))
    for at, (row, one) in enumerate(zip(probits, sd, strict=True)):
        # Skill minus mean is probit · width, so that each model has its accuracy whatever σ is.
        p = ndtr(np.hypot(one, 1.0) * row[:, None] - one * NODES)
        pairs[at] = weights @ (p.sum(axis=0) ** 2 - (p * p).sum(axis=0)) / 2
    return pairs


def _least_sd(ratio: float) -> float:
    """σ at the least of a set that is this much wider than another: the other's width is at least 1."""
    return float(np.sqrt(max(ratio * ratio - 1, 0.0)))


def _through(estimate: Estimate, of: Callable[[float], float]) -> Estimate:
    """The estimate through a monotone function, its ends in order."""
    if estimate.low is None or estimate.high is None:
        return Estimate(of(estimate.value), None, None, estimate.n, estimate.interval)
    low, high = sorted((of(estimate.low), of(estimate.high)))
    return Estimate(of(estimate.value), low, high, estimate.n, estimate.interval)
