"""How many labels a few are worth, and how often their intervals hold the truth: `python benchmarks/few_labels.py`.

On made answers of 64 models that are like those of public networks on ImageNetV2 (tests/support/made_models.py): for
each number of labels, design and choice of proxies, over many draws of the labels and all models, how wide the exact
interval of the labels alone is and how wide that of `mean_from_few`, how often each holds the accuracy by all labels,
and how many labels of a plain sample would do as well: by the squares of the widths, and by what the estimate says
itself, which compares variances and is the more careful. Takes three minutes of one core; `--draws` says how many
times labels are drawn.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from made_models import MadeModels, made_models
from oodometer.few_labels.proxies import agreement_with_others, atc_threshold
from oodometer.stats.prediction_powered import labelled_images, mean_from_few, plain_mean
from oodometer.stats.unequal_sample import draw, inclusion_probabilities, neyman_sizes

MODELS, IMAGES = 64, 10_000
PAIRS_COST = 5
"""The interval of a difference is searched for: as much longer it takes."""

OTHERS = {"agreement of 64": 63, "agreement of 4": 3, "agreement of 2": 1}


def proxies(made: MadeModels, clean: MadeModels) -> dict[str, np.ndarray]:
    """Each choice of proxies, of every model and image, (M, N, k)."""
    found = {}
    for name, others in OTHERS.items():
        rows = [[(model + 7 * step + 3) % MODELS for step in range(others)] for model in range(MODELS)]
        if others == MODELS - 1:
            found[name] = agreement_with_others(made.answers)[:, :, None]
        else:
            few = [(made.answers[row] == made.answers[at]).mean(axis=0) for at, row in enumerate(rows)]
            found[name] = np.array(few)[:, :, None]
    thresholds = [atc_threshold(*one) for one in zip(clean.confidences, clean.right, strict=True)]
    atc = (made.confidences > np.array(thresholds)[:, None]).astype(float)
    found["confidence"] = made.confidences[:, :, None]
    found["all three"] = np.stack([found["agreement of 64"][:, :, 0], made.confidences, atc], axis=-1)
    return found


def sizes_of(made: MadeModels, design: str) -> np.ndarray:
    """How much each image is drawn, (N,)."""
    agreement = agreement_with_others(made.answers)
    return neyman_sizes((agreement * (MODELS - 1) + 1) / (MODELS + 1)) if design == "neyman" else np.ones(IMAGES)


def measured(outcomes: np.ndarray, proxy: np.ndarray, sizes: np.ndarray, n: int, draws: int) -> tuple[float, ...]:
    """Half width and coverage of the labels alone, the same with proxies, and how many labels those are worth."""
    rng, truth = np.random.default_rng(n), outcomes.mean(axis=1)
    chances, plain_chances = inclusion_probabilities(sizes, n), inclusion_probabilities(np.ones(IMAGES), n)
    rows = []
    for _ in range(draws):
        some, plain_some = draw(chances, rng), draw(plain_chances, rng)
        labelled = labelled_images(some, IMAGES, chances[some])
        plain_labelled = labelled_images(plain_some, IMAGES)
        for at, mean in enumerate(truth):
            found = mean_from_few(outcomes[at, some], proxy[at], labelled)
            plain = plain_mean(outcomes[at, plain_some], plain_labelled)
            ends = [(one.high - one.low, one.low <= mean <= one.high) for one in (plain, found.estimate)]
            rows.append([*ends[0], *ends[1], found.worth])
    plain_width, plain_held, width, held, worth = np.mean(rows, axis=0)
    return plain_width / 2, plain_held, width / 2, held, (plain_width / width) ** 2, worth / n


def lines(draws: int) -> Iterator[str]:
    """A line of the table for each number of labels, design and choice of proxies."""
    accuracies = np.random.default_rng(3).uniform(0.55, 0.9, MODELS)
    made = made_models(accuracies, IMAGES, seed=0)
    clean = made_models(np.minimum(accuracies + 0.07, 0.97), IMAGES, seed=1)
    for name, proxy in proxies(made, clean).items():
        for design in ("uniform", "neyman"):
            for n in (100, 200, 500):
                yield line(
                    f"accuracy | {name} | {design}", n, measured(made.right, proxy, sizes_of(made, design), n, draws)
                )
    signs = made.right.astype(np.int64) - np.roll(made.right, 1, axis=0)
    agreement = agreement_with_others(made.answers)
    proxy = (agreement - np.roll(agreement, 1, axis=0))[:, :, None]
    for design in ("uniform", "neyman"):
        found = measured(signs, proxy, sizes_of(made, design), 200, max(draws // PAIRS_COST, 1))
        yield line(f"difference of two | agreement of 64 | {design}", 200, found)


def line(what: str, n: int, found: tuple[float, ...]) -> str:
    """What was measured, as a row."""
    plain, plain_held, half, held, by_width, worth = found
    alone, helped = (f"±{100 * width:.1f} | {100 * share:.1f}" for width, share in ((plain, plain_held), (half, held)))
    return f"| {what} | {n} | {alone} | {helped} | {by_width:.2f} | {worth:.2f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=300)
    draws = parser.parse_args().draws
    print(
        "| of | proxies | design | labels | alone | holds, % | with proxies | holds, % | worth by width | by variance |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for line in lines(draws):
        print(line, flush=True)


if __name__ == "__main__":
    main()
