"""EDSR (Lim et al. 2017): super-resolution by residual blocks without normalisation.

Layers have the names of the published weights (``edsr_baseline_x4.pt``: 16 blocks, 64 features, x4, pixels in 0..255),
which therefore can be loaded into `Edsr(16, 64, 4, value_range=255)`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from oodometer.train.augment.deepaugment.places import Places

MEAN = (0.4488, 0.4371, 0.4040)
"""Of the images that the published network was trained on."""


class Block(nn.Module):  # type: ignore[misc] # torch has no types here
    """Two convolutions with a ReLU between them, added to what goes in."""

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.body = nn.Sequential(_convolution(n_features, n_features), nn.ReLU(), _convolution(n_features, n_features))

    def forward(self, values: Any) -> Any:
        """As many features as there were."""
        return values + self.body(values)


class Edsr(nn.Module):  # type: ignore[misc] # torch has no types here
    """From images (N, 3, H, W) to images that are ``scale`` times as high and wide.

    Args:
        n_blocks: Of the body.
        n_features: Channels between its layers.
        scale: A power of two.
        value_range: What white is.
    """

    def __init__(self, n_blocks: int = 8, n_features: int = 32, scale: int = 2, value_range: float = 1) -> None:
        super().__init__()
        if scale not in (1, 2, 4, 8):
            raise ValueError(f"a scale of {scale}: it must be 1, 2, 4 or 8")
        self.value_range = value_range
        self.n_blocks = n_blocks
        self.sub_mean, self.add_mean = _mean_shift(-value_range), _mean_shift(value_range)
        self.head = nn.Sequential(_convolution(3, n_features))
        blocks = [Block(n_features) for _ in range(n_blocks)]
        self.body = nn.Sequential(*blocks, _convolution(n_features, n_features))
        steps: list[nn.Module] = []
        for _ in range(scale.bit_length() - 1):
            steps += [_convolution(n_features, 4 * n_features), nn.PixelShuffle(2)]
        self.tail = nn.Sequential(nn.Sequential(*steps), _convolution(n_features, 3))

    def forward(self, images: Any) -> Any:
        """The larger images."""
        first = self.head(self.sub_mean(images))
        return self.add_mean(self.tail(first + self.body(first)))

    def places(self) -> Places:
        """Where DeepAugment distorts."""
        blocks = tuple((f"body.{n}.body.0", f"body.{n}.body.2") for n in range(self.n_blocks))
        return Places(blocks, head="head", body=tuple(f"body.{n}" for n in range(self.n_blocks + 1)))


def _convolution(n_in: int, n_out: int) -> nn.Conv2d:
    return nn.Conv2d(n_in, n_out, 3, padding=1)


def _mean_shift(by: float) -> nn.Conv2d:
    """A 1x1 convolution that adds so many times the mean and is never trained."""
    shift = nn.Conv2d(3, 3, 1)
    with torch.no_grad():
        shift.weight.copy_(torch.eye(3)[:, :, None, None])
        shift.bias.copy_(by * torch.tensor(MEAN))
    return shift.requires_grad_(False)
