"""Temperature scaling: one number that divides all logits, fitted on clean data and used on shifted data as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import Predictions, from_logits

COLDEST, HOTTEST = 0.01, 100.0
"""Where a fit is looked for; a temperature beyond means that there is none."""
BLOCK = 1 << 21
"""Logits worked on at once."""


@dataclass(frozen=True)
class TemperatureFit:
    """The temperature with the least negative log-likelihood.

    Args:
        temperature: Above 1 where the model was too sure.
        nll_before: Mean negative log-likelihood in nats at temperature 1.
        nll_after: At the fitted one.
        n: Images.
    """

    temperature: float
    nll_before: float
    nll_after: float
    n: int


def fit_temperature(logits: np.ndarray, labels: np.ndarray) -> TemperatureFit:
    """The temperature T that minimises the negative log-likelihood of softmax(logits / T), (N, K) and (N,).

    Fit it on clean data, never on the shifted data that it is then judged on. The likelihood is convex in 1/T, so its
    slope changes sign once. Where it does not between T = 0.01 and T = 100 there is no temperature, which is an error:
    answers that are all right want T = 0, answers no better than chance an infinite T.

    >>> fit = fit_temperature(np.array([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 0.0]]), np.array([0, 0, 0, 1]))
    >>> round(fit.temperature, 4)  # three of four are right: 4 / log 3
    3.641
    """
    from scipy.optimize import brentq

    logits, labels = _checked(logits, labels)

    def slope(log_t: float) -> float:
        return _slope(logits, labels, np.exp(-log_t))

    low, high = np.log(COLDEST), np.log(HOTTEST)
    if slope(high) >= 0:
        raise OodometerError(
            f"no temperature fits: the likelihood still rises at T = {HOTTEST:g}, since the answers are no better than "
            "chance; check that labels and logits belong together"
        )
    if slope(low) <= 0:
        raise OodometerError(
            f"no temperature fits: the likelihood still rises at T = {COLDEST:g}, since (nearly) all {len(labels)} "
            "answers are right; fit on more images"
        )
    temperature = float(np.exp(brentq(slope, low, high, xtol=1e-10)))
    before, after = (mean_nll(scaled(logits, t), labels) for t in (1.0, temperature))
    return TemperatureFit(temperature, before, after, len(labels))


def fit_temperature_to(rows: Predictions) -> TemperatureFit:
    """The temperature fitted on the labelled images of a clean run that kept its logits."""
    return fit_temperature(*_labelled(rows))


def temperature_of(rows: Predictions, *, level: float = 0.95, groups: np.ndarray | None = None) -> Estimate:
    """The temperature of the labelled images, with an interval that does not take the likelihood as right.

    The variance of log T is Σ s² / (Σ v / T)², s an image's slope by 1/T and v the variance of its logits at T (Huber,
    1967); of images in groups, (N,), s is summed over each.

    >>> from oodometer.core.predictions import with_logits
    >>> logits, labels = np.array([[4.0, 0.0]] * 40), np.repeat([0, 0, 0, 1], 10)
    >>> rows = with_logits(from_logits(logits, labels, np.arange(40)), logits)
    >>> print(temperature_of(rows))  # 4 / log 3 = 3.641
    3.6410 [1.8980, 6.9844]  n=40
    """
    from scipy.special import ndtri

    logits, labels = _labelled(rows)
    fit = fit_temperature(logits, labels)
    slopes, variances = _slopes_and_variances(logits, labels, 1 / fit.temperature)
    name = f"sandwich {100 * level:g}%"
    if groups is not None:
        _, group = np.unique(groups[rows.label >= 0], return_inverse=True)
        slopes, name = np.bincount(group, slopes), f"cluster {name}"
        if len(slopes) < 2:
            return Estimate(fit.temperature, None, None, fit.n, "none: all images are in one cluster")
    error = fit.temperature * float(np.sqrt(np.sum(slopes**2)) / np.sum(variances))
    low, high = fit.temperature * np.exp(float(ndtri((1 + level) / 2)) * error * np.array([-1, 1]))
    return Estimate(fit.temperature, float(low), float(high), fit.n, name)


def scaled(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Logits divided by the temperature, as float64.

    >>> scaled(np.array([[4.0, 1.0]]), 2.0)
    array([[2. , 0.5]])
    """
    if not 0 < temperature < np.inf:
        raise OodometerError(f"temperature {temperature}: must be a positive number")
    return np.asarray(logits, np.float64) / temperature


def rescaled(rows: Predictions, temperature: float) -> Predictions:
    """The rows as the model would have answered at this temperature; they need the logits and carry none."""
    return from_logits(scaled(_logits_of(rows), temperature), rows.label, rows.image)


def mean_nll(logits: np.ndarray, labels: np.ndarray) -> float:
    """Mean −log softmax(logits)[label] in nats.

    >>> round(mean_nll(np.array([[0.0, 0.0]]), np.array([1])), 4)
    0.6931
    """
    logits, labels = _checked(logits, labels)
    total = 0.0
    for part, its_labels in _blocks(logits, labels):
        sums = np.exp(part).sum(axis=1)
        total += float(np.sum(np.log(sums) - part[np.arange(len(part)), its_labels]))
    return total / len(labels)


def _slope(logits: np.ndarray, labels: np.ndarray, inverse: float) -> float:
    """Derivative of the mean NLL by 1/T: the mean logit that is expected, minus that of the label."""
    total = 0.0
    for part, its_labels in _blocks(logits, labels):
        exps = np.exp(inverse * part)
        expected = (exps * part).sum(axis=1) / exps.sum(axis=1)
        total += float(np.sum(expected - part[np.arange(len(part)), its_labels]))
    return total / len(labels)


def _slopes_and_variances(logits: np.ndarray, labels: np.ndarray, inverse: float) -> tuple[np.ndarray, np.ndarray]:
    """Of each image: the derivative of its NLL by 1/T, and the second one, (N,) each."""
    slopes, variances = [], []
    for part, its_labels in _blocks(logits, labels):
        exps = np.exp(inverse * part)
        share = exps / exps.sum(axis=1, keepdims=True)
        expected = (share * part).sum(axis=1)
        slopes.append(expected - part[np.arange(len(part)), its_labels])
        variances.append((share * (part - expected[:, None]) ** 2).sum(axis=1))
    return np.concatenate(slopes), np.concatenate(variances)


def _blocks(logits: np.ndarray, labels: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Some rows at a time, each less its largest logit."""
    step = max(BLOCK // logits.shape[1], 1)
    for start in range(0, len(labels), step):
        part = logits[start : start + step].astype(np.float64)
        yield part - part.max(axis=1, keepdims=True), labels[start : start + step]


def _checked(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    logits, labels = np.asarray(logits), np.asarray(labels)
    if logits.ndim != 2 or labels.shape != logits.shape[:1]:
        raise OodometerError(f"logits {logits.shape}, labels {labels.shape}: must be (N, K) and (N,)")
    if logits.size == 0:
        raise OodometerError("no labelled images: there is nothing to fit a temperature to")
    if labels.min() < 0 or labels.max() >= logits.shape[1]:
        raise OodometerError(f"a label outside of 0..{logits.shape[1] - 1}: leave out the images without a label")
    if not np.isfinite(logits).all():
        raise OodometerError("a logit that is not finite: mask classes by leaving out their columns")
    return logits, labels


def _labelled(rows: Predictions) -> tuple[np.ndarray, np.ndarray]:
    labelled = rows.label >= 0
    return _logits_of(rows)[labelled], rows.label[labelled]


def _logits_of(rows: Predictions) -> np.ndarray:
    if rows.logits is None:
        raise OodometerError("a temperature needs all logits, and these rows are summaries; run with --keep logits")
    return rows.logits
