"""DeepAugment of images: any image-to-image network, distorted anew for every image."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for
from oodometer.train.augment.deepaugment.distort import Draws, Skip, distorted, drawn_activations
from oodometer.train.augment.deepaugment.places import Places, places_of
from oodometer.train.augment.deepaugment.plans import Plan, drawn_weights, plan_for
from oodometer.train.augment.tensors import as_batch, as_images, as_tensor, resized, run_size

REDRAWN = 0.05
"""The chance that an image gets new weights."""
SIDE = 128
"""Pixels of the shorter side at which a network runs, if an image is larger (that of the release's EDSR)."""
MOST_PIXELS = 16 * 32 * 32
"""Of a batch. Fixed: the last bits of a convolution depend on how many images pass at once."""


@dataclass(frozen=True)
class Run:
    """Images that share one draw of weights.

    Args:
        number: The key of the draw.
        rows: Their positions.
    """

    number: int
    rows: np.ndarray


def runs(n_images: int, *, seed: int, redrawn: float = REDRAWN) -> list[Run]:
    """The images in an order by chance, cut where the weights are drawn anew.

    By chance, since images often come sorted by class: a distortion that belongs to a class would give it away.
    """
    rng = rng_for("deepaugment", "runs", n_images, seed=seed)
    order = rng.permutation(n_images)
    is_new = rng.random(n_images) < redrawn
    is_new[0] = False  # nothing is before the first
    return [Run(number, rows) for number, rows in enumerate(np.split(order, np.flatnonzero(is_new)))]


class DeepAugment:
    """Distorted copies of images, (H, W, 3) or (N, H, W, 3) uint8, of the same shape.

    Args:
        network: Any torch module from images (N, 3, H, W) to images of any size; it stays as it is.
        name: What the draws are keyed by, so that two networks draw independently.
        plan: ``edsr`` or ``cae``; by default what fits the network.
        places: Where it is distorted; by default what `places_of` finds.
        white: What white is in the network's images; by default its ``value_range``, else 1.
        side: The shorter side at which it runs, where an image is larger; None: at the image's own size.
        skip: What skipping blocks means: ``intended`` or ``release``.
        redrawn: The chance that an image gets new weights.
    """

    def __init__(
        self,
        network: Any,
        *,
        name: str | None = None,
        plan: str | None = None,
        places: Places | None = None,
        white: float | None = None,
        side: int | None = SIDE,
        skip: Skip = "intended",
        redrawn: float = REDRAWN,
    ) -> None:
        if skip not in ("intended", "release"):
            raise UsageError(f"skip={skip!r}: must be 'intended' or 'release'")
        self.network = network
        self.places = places_of(network) if places is None else places
        self.plan: Plan = plan_for(self.places, plan)
        self.name = name or self.plan.name
        self.white = float(getattr(network, "value_range", 1.0)) if white is None else white
        self.side, self.skip, self.redrawn = side, skip, redrawn

    def __call__(self, images: np.ndarray, seed: int = 0, keys: Sequence[str] | None = None) -> np.ndarray:
        """The distorted copies.

        Args:
            images: One image or a batch, uint8.
            seed: Of every draw.
            keys: What the draws of each image are keyed by; by default its position.
        """
        batch, known = as_batch(images, keys)
        made = np.empty_like(batch)
        for run in runs(len(batch), seed=seed, redrawn=self.redrawn) if len(batch) else []:
            copies = self.of_run(run.number, [batch[row] for row in run.rows], [known[row] for row in run.rows], seed)
            made[run.rows] = np.stack(copies)
        return made if images.ndim == 4 else made[0]

    def of_run(self, number: int, images: Sequence[np.ndarray], keys: Sequence[str], seed: int) -> list[np.ndarray]:
        """The copies of images that share a draw of weights, each of its own size."""
        rng = rng_for("deepaugment", self.name, "weights", number, seed=seed)
        weights = drawn_weights(self.network, self.places, self.plan, rng)
        made: list[np.ndarray] = []
        for start, end in batches_of(images, self.side):
            draws = Draws(self.name, keys[start:end], seed)
            activations = drawn_activations(self.places, self.plan, draws, skip=self.skip)
            with distorted(self.network, weights, activations, self.places.head):
                made += list(self.passed(np.stack(images[start:end])))
        return made

    def passed(self, images: np.ndarray) -> np.ndarray:
        """Images through the network as it is now, brought back to their size."""
        import torch

        device = next((one.device for one in self.network.parameters()), "cpu")
        size = (int(images.shape[1]), int(images.shape[2]))
        with torch.inference_mode():
            shown = resized(as_tensor(images, white=self.white).to(device), run_size(*size, self.side))
            return as_images(resized(self.network(shown), size), white=self.white)


def batches_of(images: Sequence[np.ndarray], side: int | None) -> Iterator[tuple[int, int]]:
    """From where to where images go through a network at once: of one size, and not too many pixels."""
    start = 0
    while start < len(images):
        shape = images[start].shape
        most = max(1, MOST_PIXELS // math.prod(run_size(shape[0], shape[1], side)))
        end = start + 1
        while end < len(images) and end - start < most and images[end].shape == shape:
            end += 1
        yield start, end
        start = end
