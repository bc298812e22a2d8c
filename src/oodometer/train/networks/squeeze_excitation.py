"""Squeeze and excitation (Hu, Shen & Sun 2018) in residual networks: an image decides how much each channel counts."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from oodometer.train.networks.resnet import resnet
from oodometer.train.networks.resnext import resnext

REDUCTION, FEWEST = 16, 4
"""A 16th of the channels are in between, as in the paper, and at least 4: 16 channels would leave a single one."""


def se_resnet(n_classes: int, size: tuple[int, int], *, depth: int, width: float) -> Any:
    """The ResNet for small images with squeeze and excitation in every block."""
    return resnet(n_classes, size, depth=depth, width=width, attention=SqueezeExcitation)


def se_resnext(n_classes: int, size: tuple[int, int], *, depth: int, cardinality: int, base: int) -> Any:
    """The ResNeXt for small images with squeeze and excitation in every block."""
    return resnext(n_classes, size, depth=depth, cardinality=cardinality, base=base, attention=SqueezeExcitation)


def n_between(channels: int) -> int:
    """How many channels are between squeeze and excitation.

    >>> n_between(16), n_between(256)
    (4, 16)
    """
    return max(FEWEST, channels // REDUCTION)


class SqueezeExcitation(nn.Module):  # type: ignore[misc]
    """The mean of each channel, two linear layers, and a weight between 0 and 1 for each channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.squeeze = nn.Linear(channels, n_between(channels))
        self.excite = nn.Linear(n_between(channels), channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The weighed features."""
        between = functional.relu(self.squeeze(x.mean(dim=(2, 3))))
        return x * torch.sigmoid(self.excite(between))[:, :, None, None]
