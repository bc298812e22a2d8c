"""Images in the style of others, by adaptive instance normalisation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for
from oodometer.train.augment.patches import Images
from oodometer.train.augment.style.network import StyleNetwork, decoded, encoded, restyled, statistics
from oodometer.train.augment.tensors import as_batch, as_images, as_tensor, resized, run_size

SIDE = 256
"""Pixels of the shorter side at which the network runs, where an image is larger."""


class StyleTransfer:
    """One copy of each image, (H, W, 3) or (N, H, W, 3) uint8, in the style of an image that is drawn for it.

    Args:
        network: Encoder and decoder; they stay as they are.
        styles: The images whose styles are taken.
        side: The shorter side at which the network runs, where an image is larger; None: at the image's own size.
    """

    def __init__(self, network: StyleNetwork, styles: Images, *, side: int | None = SIDE) -> None:
        if not len(styles):
            raise UsageError("a style transfer wants at least one image whose style it takes")
        self.network, self.styles, self.side = network, styles, side

    def __call__(self, images: np.ndarray, seed: int = 0, keys: Sequence[str] | None = None) -> np.ndarray:
        """The copies.

        Args:
            images: One image or a batch, uint8.
            seed: Of every draw.
            keys: What the draws of each image are keyed by; by default its position.
        """
        batch, known = as_batch(images, keys)
        made = np.empty_like(batch)
        for row, (image, key) in enumerate(zip(batch, known, strict=True)):
            made[row] = self.styled(image, self.style_of(key, seed))
        return made if images.ndim == 4 else made[0]

    def style_of(self, key: str, seed: int) -> np.ndarray:
        """The image whose style an image gets."""
        return self.styles[int(rng_for("style", key, seed=seed).integers(len(self.styles)))]

    def styled(self, image: np.ndarray, style: np.ndarray) -> np.ndarray:
        """An image in the style of another, each at the size at which the network runs, (H, W, 3) uint8."""
        import torch

        size = (int(image.shape[0]), int(image.shape[1]))
        device = next(self.network.encoder.parameters()).device
        with torch.inference_mode():
            shown, given = (
                resized(as_tensor(one[None]).to(device), run_size(one.shape[0], one.shape[1], self.side))
                for one in (image, style)
            )
            features = restyled(encoded(self.network, shown), statistics(encoded(self.network, given)))
            made: np.ndarray = as_images(resized(decoded(self.network, features, shown.shape[2:]), size))[0]
        return made
