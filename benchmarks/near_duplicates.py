"""Planted near-duplicates among made-up images: how many are found by which feature, and how long the search takes.

    python benchmarks/near_duplicates.py [--images 100000] [--model zoo:icons/resnet20] [--side 48]

Copies that were cropped, encoded again as JPEG, resized, mirrored or recoloured. Each metric searches as the command
does, mirrored copies too; counted are the pairs that count as one picture until somebody looks, and, of those that
nobody planted, how many that are, and how many a person would be shown. The radii were chosen on other images: made-up
ones of other seeds, and photographs; how many neighbours crops are looked for among, on these very ones. The peer is
numpy, which compares the full vectors of a part of the images with all: the same part for both, and the same pairs.
Its time for all is scaled from that part.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before numpy: threads that wait take time as well

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import oodometer as odo
from oodometer.build.testset.features import Features
from oodometer.build.testset.likeness import (
    CROPS,
    DEFAULT_METRICS,
    DUPLICATE_WITHIN,
    FEATURES,
    STRUCTURE,
    close_inside,
    within_of,
)
from oodometer.build.testset.neighbours import pairs_between
from oodometer.build.testset.pixel_features import small_pictures, structure_features
from oodometer.core.preprocessing import Geometry
from oodometer.core.random import rng_for
from oodometer.data.resize import plain_resize

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from made_duplicates import KINDS

PROMISED_MINUTES = 2
STRUCTURE_RADIUS = DUPLICATE_WITHIN[STRUCTURE]
PART = 2000
"""Images of which the peer finds the duplicates; its time for all is scaled from these."""


@dataclass(frozen=True)
class Planted:
    """Small pictures, and which of them are copies of which: (K, 2) positions for each kind."""

    pictures: np.ndarray
    copies: dict[str, np.ndarray]


def planted(n: int, side: int) -> Planted:
    """So many images in all, of which one in a hundred is a copy of another, at least ten of each kind."""
    each = max(10, n // 100 // len(KINDS))
    n_originals = n - each * len(KINDS)
    pictures, copies = np.empty((n, 32, 32, 3), np.uint8), {}
    makers = [(kind, make) for kind, make in KINDS.items() for _ in range(each)]
    for place in range(n_originals):
        image = odo.sample_image(side, side, seed=place)
        pictures[place] = small_pictures([image])[0]
        if place < len(makers):
            kind, make = makers[place]
            pictures[n_originals + place] = small_pictures([make(image, rng_for("copy", place))])[0]
            copies.setdefault(kind, []).append((place, n_originals + place))
    return Planted(pictures, {kind: np.array(some) for kind, some in copies.items()})


@dataclass(frozen=True)
class SmallPictures:
    """Pictures that are small already, as images of a data set."""

    pictures: np.ndarray

    def __len__(self) -> int:
        return len(self.pictures)

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        """One of them as each view wants it."""
        picture = self.pictures[index]
        return [
            picture if view is None or (view.height, view.width) == (32, 32) else plain_resize(picture, view)
            for view in views
        ]


@dataclass(frozen=True)
class Measured:
    """What one metric found and took.

    Args:
        shares: Of the copies of each kind, those that count as one picture.
        seconds: Of one core, for features and search together.
        wrong: Pairs that count as one picture and were not planted.
        shown: Pairs that were not planted and that a person is shown.
        right: The planted pairs that count as one picture.
    """

    shares: dict[str, float]
    seconds: float
    wrong: int
    shown: int
    right: frozenset[tuple[int, int]]


def measured(made: Planted, metric: str) -> Measured:
    """The share of the copies of each kind among the pairs."""
    begun = time.process_time()
    pairs = close_inside(SmallPictures(made.pictures), [metric]).pairs[metric]
    seconds = time.process_time() - begun
    near = set(pairs.take(pairs.distance <= within_of(DUPLICATE_WITHIN, metric)).positions())
    planted_pairs = {tuple(pair) for some in made.copies.values() for pair in some.tolist()}
    shares = {
        kind: float(np.mean([tuple(pair) in near for pair in some.tolist()])) for kind, some in made.copies.items()
    }
    others = set(pairs.positions()) - planted_pairs
    return Measured(shares, seconds, len(near - planted_pairs), len(others), frozenset(near & planted_pairs))


def by_numpy(part: np.ndarray, vectors: np.ndarray, radius: float) -> set[tuple[int, int]]:
    """The pairs within the radius by full products, one block of images after another."""
    lengths = (vectors**2).sum(axis=1)
    found = set()
    for start in range(0, len(vectors), 4096):
        block = slice(start, start + 4096)
        squares = (part**2).sum(axis=1)[:, None] + lengths[block] - 2 * part @ vectors[block].T
        first, second = np.nonzero(squares <= radius**2)
        found |= set(zip(first.tolist(), (second + start).tolist(), strict=True))
    return found


def against_numpy(made: Planted) -> tuple[float, float, bool]:
    """Seconds of one core of the search and of numpy for the same part of the images, and whether they agree."""
    features = structure_features(made.pictures)
    part = features.vectors[-PART:]  # the copies are the last
    begun = time.process_time()
    ours = pairs_between(Features(part), features, STRUCTURE_RADIUS)
    between = time.process_time()
    theirs = by_numpy(part, features.vectors, STRUCTURE_RADIUS)
    return between - begun, time.process_time() - between, set(ours.positions()) == theirs


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--side", type=int, default=48, help="of the made-up images, in pixels")
    parser.add_argument("--model", default="zoo:icons/resnet20", help="empty: none")
    given = parser.parse_args()
    made = planted(given.images, given.side)
    n_copies = sum(map(len, made.copies.values()))
    print(f"{given.images:,} images, {n_copies:,} of them copies; seconds are of one core\n", flush=True)
    metrics = (*DEFAULT_METRICS, *([f"{FEATURES}:{given.model}"] if given.model else []))
    print(f"| metric | {' | '.join(KINDS)} | wrong | shown | seconds |\n|---|{'---|' * (len(KINDS) + 3)}")
    results = {}
    for metric in metrics:
        result = results[metric] = measured(made, metric)
        shares = " | ".join(f"{100 * result.shares[kind]:.1f} %" for kind in KINDS)
        print(f"| {metric} | {shares} | {result.wrong:,} | {result.shown:,} | {result.seconds:.1f} |", flush=True)
    needed = [results[STRUCTURE], results[CROPS]]
    right = needed[0].right | needed[1].right
    print(
        f"\nstructure and crops together: {len(right):,} of {n_copies:,} copies, {sum(one.wrong for one in needed)} "
        f"wrong pairs at most, {sum(one.shown for one in needed)} to look at that are none, in "
        f"{sum(one.seconds for one in needed) / 60:.2f} core-minutes with features   (promised: all, in at most "
        f"{PROMISED_MINUTES} besides features, for 100,000 images)",
        flush=True,
    )
    ours, theirs, agree = against_numpy(made)
    print(
        f"structure, the last {PART:,} images against all: {ours:.2f} s; by numpy {theirs:.2f} s, "
        f"{theirs / ours:.1f} x; the same pairs: {'yes' if agree else 'NO'}"
    )
    # All pairs are half of all against all, and all mirrored pairs the other half.
    whole = theirs * given.images / PART
    print(f"all pairs, mirrored ones too: numpy would take {whole:.0f} s, {whole / results[STRUCTURE].seconds:.1f} x")


if __name__ == "__main__":
    main()
