"""A small compressive auto-encoder (Theis et al. 2017): an image becomes few levels, and these an image again.

As in the network of DeepAugment's release, the code has 32 channels at a quarter of the side, with three residual
blocks on either side of it. It has 16 convolutions instead of 21, for squares of 4x4 pixels become channels at once;
and where the release makes bits of the code, values are rounded to nine levels. Both make it learn within a minute.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from oodometer.train.augment.deepaugment.places import Places

BOTTLENECK = 32
STRIDE = 4
LEVELS = 4
"""Above zero, and as many below it."""


class Levels(nn.Module):  # type: ignore[misc] # torch has no types here
    """Values between -1 and 1 rounded to levels, 1/4 apart; gradients pass as if nothing had happened."""

    def forward(self, values: Any) -> Any:
        """The rounded values."""
        return values + ((values * LEVELS).round() / LEVELS - values).detach()


class Residual(nn.Module):  # type: ignore[misc] # torch has no types here
    """Two convolutions, added to what goes in."""

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.body = nn.Sequential(_layer(n_features, n_features), nn.Conv2d(n_features, n_features, 3, padding=1))

    def forward(self, values: Any) -> Any:
        """As many features as there were."""
        return values + self.body(values)


class Cae(nn.Module):  # type: ignore[misc] # torch has no types here
    """From images (N, 3, H, W) in [0, 1] to images of the same size; any size, by repeating the edge for a while.

    Args:
        n_features: Of the inner layers; the release has 128.
    """

    value_range = 1.0

    def __init__(self, n_features: int = 48) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.PixelUnshuffle(STRIDE),
            nn.Conv2d(3 * STRIDE**2, n_features, 3, padding=1),
            *(Residual(n_features) for _ in range(3)),
            nn.Conv2d(n_features, BOTTLENECK, 3, padding=1),
            nn.Tanh(),
        )
        self.code = Levels()
        self.decoder = nn.Sequential(
            nn.Conv2d(BOTTLENECK, n_features, 3, padding=1),
            *(Residual(n_features) for _ in range(3)),
            nn.Conv2d(n_features, 3 * STRIDE**2, 3, padding=1),
            nn.PixelShuffle(STRIDE),
        )

    def forward(self, images: Any) -> Any:
        """What is left of the images."""
        height, width = images.shape[2:]
        padded = functional.pad(images, (0, -width % STRIDE, 0, -height % STRIDE), mode="replicate")
        return (self.decoder(self.code(self.encoder(padded - 0.5))) + 0.5)[:, :, :height, :width]

    def begin_with(self, images: Any) -> None:
        """First weights by which the code are the principal components of squares of images (N, 3, H, W).

        From there a few hundred steps lead to sharp images, from random weights several thousand.
        """
        squares = functional.pixel_unshuffle(images - 0.5, STRIDE).permute(0, 2, 3, 1).flatten(0, 2)
        values, vectors = torch.linalg.eigh(squares.T @ squares / len(squares))
        vectors = vectors[:, -BOTTLENECK:].T
        widths = 2 * values[-BOTTLENECK:].clamp(min=0).sqrt()[:, None] + 0.02  # what becomes 1, where tanh bends
        with torch.no_grad():
            for layer, matrix in (
                (self.encoder[1], torch.eye(3 * STRIDE**2)),
                (self.encoder[-2], vectors / widths),
                (self.decoder[0], (vectors * widths).T),
                (self.decoder[-2], torch.eye(3 * STRIDE**2)),
            ):
                layer.weight.mul_(0.02)
                layer.weight[: len(matrix), : matrix.shape[1], 1, 1] += matrix

    def places(self) -> Places:
        """Where DeepAugment distorts."""
        names = [name for name, module in self.named_modules() if isinstance(module, nn.Conv2d)]
        bottleneck = f"encoder.{len(self.encoder) - 1}"
        return Places(tuple((name,) for name in names), bottleneck=bottleneck, code="code")


def _layer(n_in: int, n_out: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(n_in, n_out, 3, padding=1), nn.LeakyReLU())
