"""How often intervals that are said to hold the truth in 95 % do: `python benchmarks/interval_coverage.py`.

Prints tables of docs/statistics (calibration, smooth-ece, classwise-ece, lines, correlation): the share of simulated
data sets, in percent, whose interval holds the true value. Takes half an hour of one core; `--sets` says from how many
data sets a number is, `--only` which table.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from scipy.special import expit, ndtri
from scipy.stats import kendalltau, pearsonr, spearmanr

from oodometer.metrics.calibration_error import BINNINGS
from oodometer.metrics.calibration_interval import calibration_interval
from oodometer.metrics.classwise_calibration import classwise_calibration_estimate
from oodometer.metrics.smooth_calibration import PLACES, own_bandwidths, spread_out
from oodometer.metrics.smooth_calibration_interval import smooth_calibration_estimate
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.correlation import kendall, spearman
from oodometer.stats.correlation_over_images import correlation_over_images, over_images
from oodometer.stats.line_intervals import band_of, line_spread, moved_by_images
from oodometer.stats.lines import fit_line
from oodometer.stats.scales import to_scale

SLOPE, INTERCEPT, SCATTER, PLACE = 1.1, -0.8, 0.05, 0.7
MODELS = (5, 10, 20, 70)
N_IMAGES, SHARED = 1000, 0.6
"""Images behind each accuracy, and the share of the variance of an answer that is the image's."""
RANKS = (0.5, 0.8, 0.95, 0.99)
"""True rank correlations."""


def population(temperature: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Confidences of a model whose ten logits are the true ones times this, and how often it is right; sorted."""
    logits = rng.normal(scale=2.0, size=(400_000, 10))
    best = logits.argmax(axis=1)[:, None]
    said, truth = (np.exp(times * logits) for times in (temperature, 1.0))
    confidence, right = (np.take_along_axis(odds, best, 1)[:, 0] / odds.sum(axis=1) for odds in (said, truth))
    order = np.argsort(confidence)
    return confidence[order], right[order]


def true_error(name: str, n: int, confidence: np.ndarray, right: np.ndarray) -> float:
    """In the bins that n images have, of the sorted population."""
    if name == "ece":
        edges = np.unique(np.searchsorted(confidence, np.arange(16) / 15))
    else:
        bins = 15 if name == "adaptive-ece" else n // 100
        edges = np.arange(bins + 1) * len(confidence) // bins
    sizes = np.diff(edges)
    gaps = np.add.reduceat(confidence - right, edges[:-1]) / sizes
    weights = sizes / len(confidence)
    return float(np.sqrt(weights @ gaps**2) if name.startswith("rms") else weights @ np.abs(gaps))


def calibration(sets: int, rng: np.random.Generator) -> Iterator[str]:
    """A line of the table for each error and number of images."""
    populations = [population(temperature, rng) for temperature in (1.0, 1.15, 1.5)]
    for name in ("ece", "adaptive-ece", "rms-calibration"):
        bins_of, norm = BINNINGS[name]
        for n in (50, 200, 1000, 10_000, 50_000):
            if name.startswith("rms") and n < 200:
                continue
            shares = []
            for at, (confidence, right) in enumerate(populations):
                truth = true_error(name, n, confidence, right) if at else 0.0
                held = 0
                for _ in range(sets):
                    some = rng.integers(len(confidence), size=n)
                    low, high = calibration_interval(bins_of(confidence[some], rng.random(n) < right[some]), norm)
                    held += low <= truth <= high
                shares.append(f"{100 * held / sets:.0f}")
            yield f"| `{name}` | {n:,} | {' | '.join(shares)} |"


def smooth_calibration(sets: int, rng: np.random.Generator) -> Iterator[str]:
    """A line of the table for each number of images."""
    populations = [population(temperature, rng) for temperature in (1.0, 1.15, 1.5)]
    truths = [own_bandwidths(spread_out(said, said - right, PLACES) / len(said))[0] for said, right in populations]
    truths[0] = 0.0
    for n in (50, 200, 1000, 10_000, 50_000):
        shares = []
        for (said, right), truth in zip(populations, truths, strict=True):
            held = 0
            for _ in range(sets):
                some = rng.integers(len(said), size=n)
                found = smooth_calibration_estimate(said[some], rng.random(n) < right[some])
                held += found.low <= truth <= found.high
            shares.append(f"{100 * held / sets:.0f}")
        yield f"| {n:,} | {' | '.join(shares)} |"


def classwise_calibration(sets: int, rng: np.random.Generator) -> Iterator[str]:
    """A line of the table for each number of classes and of images."""
    for classes, sizes in ((2, (100, 300, 1000)), (10, (100, 1000, 10_000)), (100, (1000, 10_000))):
        logits = rng.normal(scale=2.0, size=(50_000, classes))
        odds = [np.exp(times * logits) for times in (1.0, 1.15, 1.5)]
        truth, *_ = each = [some / some.sum(axis=1, keepdims=True) for some in odds]
        ends = np.cumsum(truth, axis=1)
        for n in sizes:
            shares = []
            for said in each:
                which = np.ceil(said * 15).astype(int) + 20 * np.arange(classes)
                error = np.abs(np.bincount(which.ravel(), weights=(said - truth).ravel())).sum() / said.size
                held = 0
                for _ in range(sets):
                    some = rng.integers(len(said), size=n)
                    labels = np.minimum((ends[some] < rng.random((n, 1))).sum(axis=1), classes - 1)
                    found = classwise_calibration_estimate(said[some], labels)
                    held += found.low <= error <= found.high
                shares.append(f"{100 * held / sets:.0f}")
            yield f"| {classes} | {n:,} | {' | '.join(shares)} |"


def accuracies(models: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Of models about a line on the logit scale."""
    u = rng.uniform(0.2, 1.6, models)
    return expit(u), expit(SLOPE * u + INTERCEPT + SCATTER * rng.normal(size=models))


def answers(accuracy: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Whether each model is right on each image, which is easy or hard for all of them."""
    images, own = rng.normal(size=N_IMAGES), rng.normal(size=(len(accuracy), N_IMAGES))
    return np.sqrt(SHARED) * images + np.sqrt(1 - SHARED) * own < ndtri(accuracy)[:, None]


def lines(sets: int, rng: np.random.Generator) -> Iterator[str]:
    """A line of the table for each number of models: slope, intercept, band, and the three correlations."""
    kinds = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}
    many = accuracies(50_000, rng)
    truths = {kind: of(*many).statistic for kind, of in kinds.items()}
    expected = expit(SLOPE * to_scale(PLACE, "logit") + INTERCEPT)
    for models in MODELS:
        held = np.zeros(3 + len(kinds))
        for _ in range(sets):
            right = [answers(side, rng) for side in accuracies(models, rng)]
            over = over_images(*right, same_images=False)
            line = fit_line(over.x, over.y)
            moved = moved_by_images(*right, line, same_images=False, resampling=Resampling())
            spread = line_spread(over.x, over.y, line, by_images=moved)
            low, high = band_of(line, spread, np.array([PLACE]))
            found = [
                (spread.estimate(line.slope, 1, models, 0.95), SLOPE),
                (spread.estimate(line.intercept, 0, models, 0.95), INTERCEPT),
                *((correlation_over_images(kind, over), truth) for kind, truth in truths.items()),
            ]
            within = [one.low <= truth <= one.high for one, truth in found]
            held += [*within[:2], low[0] <= expected <= high[0], *within[2:]]
        yield f"| {models} | {' | '.join(f'{share:.0f}' for share in 100 * held / sets)} |"


def ranks(sets: int, rng: np.random.Generator) -> Iterator[str]:
    """A line of the table for each number of models: rank correlations without images, by formula and by simulation."""
    for models in (*MODELS[:3], 40, 70, 338):
        cells = []
        # Of normal values: 6/pi arcsin(r/2) and 2/pi arcsin(r) (Kruskal, JASA 53, 1958).
        for of, pearsons_of in (
            (spearman, lambda r: 2 * np.sin(np.pi * r / 6)),
            (kendall, lambda r: np.sin(np.pi * r / 2)),
        ):
            for truth in RANKS:
                r = pearsons_of(truth)
                x = rng.normal(size=(sets, models))
                y = r * x + np.sqrt(1 - r * r) * rng.normal(size=(sets, models))
                for by in ("formula", "simulation"):
                    found = [of(*values, by=by) for values in zip(x, y, strict=True)]
                    held = sum(each.low is not None and each.low <= truth <= each.high for each in found)
                    cells.append(f"{100 * held / sets:.0f}")
        pairs = (" → ".join(pair) for pair in zip(cells[::2], cells[1::2], strict=True))
        yield f"| {models} | {' | '.join(pairs)} |"


def main() -> None:
    """Print the tables."""
    by_temperature = "T = 1 | T = 1.15 | T = 1.5 |"
    names = [f"{kind} {truth:g}" for kind in ("Spearman", "Kendall") for truth in RANKS]
    tables = {
        "calibration": (calibration, f"| error | images | {by_temperature}"),
        "lines": (lines, "| models | slope | intercept | band | Pearson | Spearman | Kendall |"),
        "ranks": (ranks, f"| models | {' | '.join(names)} |"),
        "smooth-calibration": (smooth_calibration, f"| images | {by_temperature}"),
        "classwise-calibration": (classwise_calibration, f"| classes | images | {by_temperature}"),
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--only", choices=tables, help="one of the tables")
    asked = parser.parse_args()
    for seed, (name, (rows, header)) in enumerate(tables.items(), start=1):
        if asked.only in (None, name):
            print(f"{header}\n|{'---|' * (header.count('|') - 1)}")
            for row in rows(asked.sets, np.random.default_rng(seed)):
                print(row, flush=True)
            print()


if __name__ == "__main__":
    main()
