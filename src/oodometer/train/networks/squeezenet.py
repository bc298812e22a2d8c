"""SqueezeNet 1.1 (Iandola et al. 2016) for small images: few channels are squeezed out before each 3x3 convolution.

The first convolution keeps the size, where that of the network for large images halves it; there is no dropout.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from oodometer.train.networks.layers import draw_weights, scaled

FIRST_CHANNELS = 64
STAGES = (((16, 64), (16, 64)), ((32, 128), (32, 128)), ((48, 192), (48, 192), (64, 256), (64, 256)))
"""Of each fire module, the squeezed channels and those of each of its two expanding convolutions."""


def squeezenet(n_classes: int, size: tuple[int, int], *, width: float) -> Any:  # noqa: ARG001 - of any size
    """The network with ``width`` times the channels."""
    n_in = scaled(FIRST_CHANNELS, width)
    layers: list[Any] = [nn.Conv2d(3, n_in, 3, padding=1), nn.ReLU()]
    for stage in STAGES:
        layers.append(nn.MaxPool2d(3, stride=2, padding=1))
        for squeezed, expanded in stage:
            fire = Fire(n_in, scaled(squeezed, width), scaled(expanded, width))
            layers.append(fire)
            n_in = fire.n_out
    classifier = nn.Conv2d(n_in, n_classes, 1)
    network = draw_weights(nn.Sequential(*layers, classifier, nn.AdaptiveAvgPool2d(1), nn.Flatten()))
    nn.init.normal_(classifier.weight, std=0.01)  # as by the authors
    nn.init.zeros_(classifier.bias)
    return network


class Fire(nn.Module):  # type: ignore[misc]
    """1x1 to few channels, then 1x1 and 3x3 beside each other."""

    def __init__(self, n_in: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(n_in, squeezed, 1)
        self.expand1 = nn.Conv2d(squeezed, expanded, 1)
        self.expand3 = nn.Conv2d(squeezed, expanded, 3, padding=1)
        self.n_out = 2 * expanded

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The features after this module."""
        few = functional.relu(self.squeeze(x))
        return functional.relu(torch.cat([self.expand1(few), self.expand3(few)], dim=1))
