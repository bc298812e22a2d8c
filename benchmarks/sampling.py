"""How few forward passes tell an mCE to ± 1 point: `python benchmarks/sampling.py`.

A made population of 75 conditions x 50,000 images: how often a model errs under each is what was published of
ResNet-50, and a control errs a little more, mostly on the same images. Each of the three ways to sample is repeated
with other draws; the peer is the run over all 3.75 million. Prints the share of passes that each way asks for, how
often its interval holds the mCE of all images, and how narrow it is. Takes about six minutes of one core.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import binomtest

from oodometer.metrics.corruption_error import COMMON, alexnet
from oodometer.sampling.plan import PILOT
from oodometer.sampling.within import SURPLUS
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.confidence_sequence import confidence_sequence, numbers_needed
from oodometer.stats.control_variate import errors_with_control, residual_variances
from oodometer.stats.drawn_apart import errors_drawn_apart
from oodometer.stats.images_for_width import images_for_sum

N, CONDITIONS, WIDTH = 50_000, 75, 0.01
RESNET_50 = 0.767
"""Its mCE in Hendrycks and Dietterich's table: every error here is AlexNet's times this."""
WEAKER = 1.1
"""The control's errors against the model's: another network of about that size."""
SHARED = 0.85
"""Correlation of what makes an image hard for both."""
PROMISED = {"within": 0.005, "within, with a control": 0.0025, "until": 0.015}


@dataclass(frozen=True)
class Population:
    """What both models err on under each condition, (75, N) bool, and what each condition weighs in the mCE."""

    model: np.ndarray
    control: np.ndarray
    weights: np.ndarray

    @property
    def mce(self) -> float:
        """Of all images."""
        return float(self.weights @ self.model.mean(axis=1))


def population(rng: np.random.Generator) -> Population:
    """Errors as far apart as AlexNet's are, an image as hard under one condition as under the others, half of it."""
    errors = alexnet(COMMON).errors
    weights = np.repeat(1 / (len(COMMON) * errors.sum(axis=1)), errors.shape[1])
    image = rng.normal(size=N)
    model, control = np.empty((2, CONDITIONS, N), dtype=bool)
    for at, error in enumerate((RESNET_50 * errors).ravel()):
        common = np.sqrt(0.5) * image + np.sqrt(0.5) * rng.normal(size=N)
        own = (np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * rng.normal(size=N) for _ in range(2))
        for wrong, level in zip((model, control), (error, min(WEAKER * error, 0.99)), strict=True):
            wrong[at] = ndtr(next(own)) < level
    return Population(model, control, weights)


def first_images(of: Population, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Both models' errors on n images of every condition, in the order drawn, (75, n)."""
    chosen = np.stack([rng.choice(N, size=n, replace=False) for _ in range(CONDITIONS)])
    return np.take_along_axis(of.model, chosen, 1), np.take_along_axis(of.control, chosen, 1)


def kinds_of(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Images of each of the four kinds under each condition, from where both err, (C, n) bool."""
    return np.stack([np.bincount(2 * a.astype(int) + b, minlength=4) for a, b in zip(first, second, strict=True)])


def within(of: Population, rng: np.random.Generator) -> tuple[int, float, float]:
    """Images of each condition and the interval, as `run --within 0.01` and `score` do it."""
    n = images_for_sum(of.weights, 0.25, WIDTH)
    mine, _ = first_images(of, n, rng)
    kinds = kinds_of(mine, np.zeros_like(mine))
    draws = errors_drawn_apart(kinds, Resampling(seed=int(rng.integers(1 << 30))))[1:, :CONDITIONS] @ of.weights
    return n, *np.quantile(draws, [0.025, 0.975])


def controlled(of: Population, rng: np.random.Generator) -> tuple[int, float, float]:
    """The same with `--control`: a pilot, then as many as the differences from the control need."""
    mine, theirs = first_images(of, images_for_sum(of.weights, 0.25, WIDTH), rng)
    pilot = residual_variances(kinds_of(mine[:, :PILOT], theirs[:, :PILOT])).mean()
    n = min(max(PILOT, images_for_sum(of.weights, np.full(CONDITIONS, SURPLUS * pilot), WIDTH)), mine.shape[1])
    resampling = Resampling(seed=int(rng.integers(1 << 30)))
    draws = errors_with_control(kinds_of(mine[:, :n], theirs[:, :n]), of.control.mean(axis=1), resampling)[1:]
    return n, *np.quantile(draws @ of.weights, [0.025, 0.975])


def until(of: Population, rng: np.random.Generator) -> tuple[int, float, float]:
    """As `run --until 0.01` does it: a first look, then as many more as it seems to take, until it is enough."""
    scale = float(of.weights.sum())
    aims = [(N, WIDTH / scale)]
    coin = 0.5 * np.sqrt(np.square(of.weights / scale).sum())
    most = numbers_needed(np.array([0.5 + coin, 0.5 - coin]), N, aims=aims, width=WIDTH / scale)
    mine, _ = first_images(of, 2 * most, rng)
    steps = of.weights @ mine / scale
    n = int(0.1 * most)
    while True:
        found = confidence_sequence(steps[:n], N, aims=aims)
        assert found.low is not None
        assert found.high is not None
        if scale * (found.high - found.low) / 2 <= WIDTH or n >= len(steps):
            return n, scale * found.low, scale * found.high
        guess = int(1.02 * numbers_needed(steps[:n], N, aims=aims, width=WIDTH / scale))
        n = min(max(int(1.05 * n) + 1, min(guess, 4 * n)), len(steps))


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1000, help="repetitions of each way (1000)")
    sets = parser.parse_args().sets
    of = population(np.random.default_rng(0))
    r = float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(of.model, of.control, strict=True)]))
    print(f"mCE of all {CONDITIONS * N:,} predictions {of.mce:.4f}; errors correlated with the control's by {r:.2f}")
    for name, way in (("within", within), ("within, with a control", controlled), ("until", until)):
        rng = np.random.default_rng(1)
        found = np.array([way(of, rng) for _ in range(sets)])
        share = found[:, 0] / N
        held = int(((found[:, 1] <= of.mce) & (of.mce <= found[:, 2])).sum())
        least = 0.95 if name == "until" else 0.94
        chance = binomtest(held, sets, least, alternative="less").pvalue
        half = (found[:, 2] - found[:, 1]) / 2
        print(
            f"{name:24} {100 * share.mean():.2f} % of the passes (most {100 * share.max():.2f}, promised "
            f"{100 * PROMISED[name]:g}); ± {100 * half.mean():.2f} points; "
            f"holds in {100 * held / sets:.1f} % of {sets} (p of less than {100 * least:g} %: {chance:.2g})",
            flush=True,
        )


if __name__ == "__main__":
    main()
