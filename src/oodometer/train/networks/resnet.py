"""ResNet for small images (He et al. 2016, section 4.2): three stages of 16, 32 and 64 channels, plain shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from oodometer.core.errors import UsageError
from oodometer.train.networks.layers import conv3x3, draw_weights, head, scaled


def resnet(
    n_classes: int,
    size: tuple[int, int],  # noqa: ARG001 - of any size
    *,
    depth: int,
    width: float,
    attention: Callable[[int], Any] | None = None,
) -> Any:
    """The network of ``depth`` = 6n + 2 layers, with ``width`` times the channels.

    Args:
        attention: From a number of channels to what weighs the features of each block before the shortcut is added.
    """
    n, rest = divmod(depth - 2, 6)
    if rest or n < 1:
        raise UsageError(f"resnet{depth}: the depth of a ResNet for small images is 6n + 2: 8, 14, 20, 32, 44, 56, 110")
    channels = [scaled(one, width) for one in (16, 32, 64)]
    blocks: list[Any] = []
    n_in = channels[0]
    for stage, n_out in enumerate(channels):
        for place in range(n):
            blocks.append(Block(n_in, n_out, stride=2 if stage and not place else 1, attention=attention))
            n_in = n_out
    stem = [conv3x3(3, channels[0]), nn.BatchNorm2d(channels[0]), nn.ReLU()]
    return draw_weights(nn.Sequential(*stem, *blocks, head(n_in, n_classes)))


class Block(nn.Module):  # type: ignore[misc]
    """Two convolutions and a shortcut: every second pixel and empty channels where the shape changes (option A)."""

    def __init__(self, n_in: int, n_out: int, *, stride: int, attention: Callable[[int], Any] | None = None) -> None:
        super().__init__()
        self.conv1, self.norm1 = conv3x3(n_in, n_out, stride=stride), nn.BatchNorm2d(n_out)
        self.conv2, self.norm2 = conv3x3(n_out, n_out), nn.BatchNorm2d(n_out)
        self.attention: Any = nn.Identity() if attention is None else attention(n_out)
        self.stride, self.n_more = stride, n_out - n_in

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The features after this block."""
        inner = functional.relu(self.norm1(self.conv1(x)))
        inner = self.attention(self.norm2(self.conv2(inner)))
        shortcut = functional.avg_pool2d(x, 1, self.stride) if self.stride > 1 else x
        if self.n_more:
            shortcut = functional.pad(shortcut, (0, 0, 0, 0, 0, self.n_more))
        return functional.relu(inner + shortcut)
