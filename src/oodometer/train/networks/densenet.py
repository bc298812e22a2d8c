"""DenseNet for small images (Huang et al. 2017): three blocks in which every layer sees all layers before it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from oodometer.core.errors import UsageError
from oodometer.train.networks.layers import conv1x1, conv3x3, draw_weights, head

FIRST_CHANNELS = 16


def densenet(n_classes: int, size: tuple[int, int], *, depth: int, growth: int) -> Any:  # noqa: ARG001 - of any size
    """The network (no bottlenecks, no compression) of ``depth`` = 3n + 4 layers, each adding ``growth`` channels."""
    n, rest = divmod(depth - 4, 3)
    if rest or n < 1:
        raise UsageError(f"densenet{depth}: the depth of a DenseNet is 3n + 4: 22, 40, 100")
    layers: list[Any] = [conv3x3(3, FIRST_CHANNELS)]
    channels = FIRST_CHANNELS
    for block in range(3):
        for _ in range(n):
            layers.append(Layer(channels, growth))
            channels += growth
        layers += [nn.BatchNorm2d(channels), nn.ReLU()]
        if block < 2:
            layers += [conv1x1(channels, channels), nn.AvgPool2d(2)]
    return draw_weights(nn.Sequential(*layers, head(channels, n_classes)))


class Layer(nn.Module):  # type: ignore[misc]
    """Normalise, activate, convolve; the result is put beside what was there."""

    def __init__(self, n_in: int, growth: int) -> None:
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(n_in), conv3x3(n_in, growth)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The features before and after this layer."""
        return torch.cat([x, self.conv(functional.relu(self.norm(x)))], dim=1)
