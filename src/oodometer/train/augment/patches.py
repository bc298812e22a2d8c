"""Pieces of images to learn from: squares cut out by chance, however large the images are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from oodometer.train.augment.tensors import at_run_size

MOST_LEARNED_FROM = 2000
"""Images; a network that only draws them again needs no more."""


class Images(Protocol):
    """Images of any size, (H, W, 3) uint8, one at a time or several at once in threads."""

    def __len__(self) -> int:
        """How many."""
        ...

    def __getitem__(self, index: int, /) -> np.ndarray:
        """One of them."""
        ...


def learned_from(images: Images, rng: np.random.Generator, *, side: int) -> list[np.ndarray]:
    """All images, or as many of them as are enough, drawn by chance; large ones at the size at which a network runs."""
    rows = rng.permutation(len(images))[:MOST_LEARNED_FROM]
    return [at_run_size(images[int(row)], side) for row in rows]


def patches(images: Sequence[np.ndarray], n: int, side: int, rng: np.random.Generator) -> np.ndarray:
    """Squares of images, each mirrored with a chance of one half, (n, side, side, 3) uint8.

    Where an image is smaller, its edge is repeated.
    """
    made = np.empty((n, side, side, 3), dtype=np.uint8)
    for patch in made:
        image = images[int(rng.integers(len(images)))]
        height, width = image.shape[:2]
        if min(height, width) < side:
            image = np.pad(image, ((0, max(0, side - height)), (0, max(0, side - width)), (0, 0)), mode="edge")
            height, width = image.shape[:2]
        top, left = int(rng.integers(height - side + 1)), int(rng.integers(width - side + 1))
        patch[:] = image[top : top + side, left : left + side]
        if rng.random() < 0.5:
            patch[:] = patch[:, ::-1]
    return made
