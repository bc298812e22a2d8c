"""Wide residual networks (Zagoruyko & Komodakis 2016): few layers, many channels, activations before convolutions."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from oodometer.core.errors import UsageError
from oodometer.train.networks.layers import conv1x1, conv3x3, draw_weights, head, scaled


def wide_resnet(n_classes: int, size: tuple[int, int], *, depth: int, width: float) -> Any:  # noqa: ARG001 - any size
    """The network of ``depth`` = 6n + 4 layers, with ``width`` times 16, 32 and 64 channels."""
    n, rest = divmod(depth - 4, 6)
    if rest or n < 1:
        raise UsageError(f"wrn{depth}: the depth of a Wide ResNet is 6n + 4: 10, 16, 22, 28, 40")
    blocks: list[Any] = []
    n_in = 16
    for stage, n_out in enumerate(scaled(one, width) for one in (16, 32, 64)):
        for place in range(n):
            blocks.append(Block(n_in, n_out, stride=2 if stage and not place else 1))
            n_in = n_out
    return draw_weights(nn.Sequential(conv3x3(3, 16), *blocks, nn.BatchNorm2d(n_in), nn.ReLU(), head(n_in, n_classes)))


class Block(nn.Module):  # type: ignore[misc]
    """Normalise, activate, convolve, twice; the shortcut is a 1x1 convolution where the shape changes."""

    def __init__(self, n_in: int, n_out: int, *, stride: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(n_in), conv3x3(n_in, n_out, stride=stride)
        self.norm2, self.conv2 = nn.BatchNorm2d(n_out), conv3x3(n_out, n_out)
        self.shortcut = conv1x1(n_in, n_out, stride=stride) if n_in != n_out or stride > 1 else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The features after this block."""
        active = functional.relu(self.norm1(x))
        inner = self.conv2(functional.relu(self.norm2(self.conv1(active))))
        return inner + (x if self.shortcut is None else self.shortcut(active))
