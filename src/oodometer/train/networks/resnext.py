"""ResNeXt for small images (Xie et al. 2017): residual blocks whose middle convolution is split into groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from oodometer.core.errors import UsageError
from oodometer.train.networks.layers import conv1x1, conv3x3, draw_weights, head

PUBLISHED_BASE = 64
"""The smallest base for which all channels are the paper's; below it, they shrink in proportion."""


def resnext(
    n_classes: int,
    size: tuple[int, int],  # noqa: ARG001 - of any size
    *,
    depth: int,
    cardinality: int,
    base: int,
    attention: Callable[[int], Any] | None = None,
) -> Any:
    """The network of ``depth`` = 9n + 2 layers with ``cardinality`` groups of ``base`` channels.

    The paper's networks for CIFAR are 29-8x64d and 29-16x64d; their blocks put out 256, 512 and 1024 channels. A
    smaller base makes those fewer in proportion, which keeps the shape of the network.

    Args:
        attention: From a number of channels to what weighs the features of each block before the shortcut is added.
    """
    n, rest = divmod(depth - 2, 9)
    if rest or n < 1:
        raise UsageError(f"resnext{depth}: the depth of a ResNeXt for small images is 9n + 2: 11, 20, 29")
    share = min(base, PUBLISHED_BASE) / PUBLISHED_BASE
    blocks: list[Any] = []
    n_in = 64
    for stage in range(3):
        inner, n_out = cardinality * base * 2**stage, round(256 * 2**stage * share)
        for place in range(n):
            stride = 2 if stage and not place else 1
            blocks.append(Block(n_in, inner, n_out, stride=stride, groups=cardinality, attention=attention))
            n_in = n_out
    stem = [conv3x3(3, 64), nn.BatchNorm2d(64), nn.ReLU()]
    return draw_weights(nn.Sequential(*stem, *blocks, head(n_in, n_classes)))


class Block(nn.Module):  # type: ignore[misc]
    """1x1, grouped 3x3, 1x1; the shortcut is a 1x1 convolution where the shape changes."""

    def __init__(
        self,
        n_in: int,
        inner: int,
        n_out: int,
        *,
        stride: int,
        groups: int,
        attention: Callable[[int], Any] | None = None,
    ) -> None:
        super().__init__()
        self.conv1, self.norm1 = conv1x1(n_in, inner), nn.BatchNorm2d(inner)
        self.conv2, self.norm2 = conv3x3(inner, inner, stride=stride, groups=groups), nn.BatchNorm2d(inner)
        self.conv3, self.norm3 = conv1x1(inner, n_out), nn.BatchNorm2d(n_out)
        self.attention: Any = nn.Identity() if attention is None else attention(n_out)
        self.shortcut: Any = nn.Identity()
        if n_in != n_out or stride > 1:
            self.shortcut = nn.Sequential(conv1x1(n_in, n_out, stride=stride), nn.BatchNorm2d(n_out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The features after this block."""
        inner = functional.relu(self.norm1(self.conv1(x)))
        inner = functional.relu(self.norm2(self.conv2(inner)))
        return functional.relu(self.attention(self.norm3(self.conv3(inner))) + self.shortcut(x))
