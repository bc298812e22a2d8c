"""Shake-Shake (Gastaldi 2017): two branches in each block, mixed at random while learning, half and half afterwards.

Every image has a mix of its own, another one on the way back (the paper's Shake-Shake-Image). The draws of a step are
keyed by it, so that a training that goes on after a kill ends with the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from oodometer.core.errors import UsageError
from oodometer.train.networks.layers import conv1x1, conv3x3, draw_weights, head

FIRST_CHANNELS = 16


class Draws:
    """Where a network's random numbers come from: a generator that each step begins anew; before, torch's own."""

    def __init__(self) -> None:
        self.generator: torch.Generator | None = None

    def begin(self, rng: np.random.Generator) -> None:
        """Draw from here on as this generator says."""
        self.generator = torch.Generator().manual_seed(int(rng.integers(2**62)))

    def per_image(self, x: torch.Tensor) -> torch.Tensor:
        """A number between 0 and 1 for each image, (N, 1, 1, 1)."""
        return torch.rand(len(x), 1, 1, 1, generator=self.generator).to(x.device, x.dtype)


def shake_shake(n_classes: int, size: tuple[int, int], *, depth: int, base: int) -> Any:  # noqa: ARG001 - of any size
    """The ResNet of ``depth`` = 6n + 2 layers whose branches have ``base``, 2 and 4 times ``base`` channels."""
    n, rest = divmod(depth - 2, 6)
    if rest or n < 1:
        raise UsageError(f"shake-shake{depth}: the depth of a Shake-Shake ResNet is 6n + 2: 8, 14, 20, 26")
    draws, blocks, n_in = Draws(), [], FIRST_CHANNELS
    for stage in range(3):
        n_out = base * 2**stage
        for place in range(n):
            stride = 2 if stage and not place else 1
            blocks.append(Block(_plain, n_in, n_out, stride, draws))
            n_in = n_out
    stem = [conv3x3(3, FIRST_CHANNELS), nn.BatchNorm2d(FIRST_CHANNELS)]
    return draw_weights(Shaken(*stem, *blocks, nn.ReLU(), head(n_in, n_classes), draws=draws))


def shake_shake_resnext(
    n_classes: int,
    size: tuple[int, int],  # noqa: ARG001 - of any size
    *,
    depth: int,
    cardinality: int,
    base: int,
) -> Any:
    """The ResNeXt of ``depth`` = 9n + 2 layers whose two branches have ``cardinality`` groups of ``base`` channels."""
    n, rest = divmod(depth - 2, 9)
    if rest or n < 1:
        raise UsageError(f"shake-shake{depth}: the depth of a Shake-Shake ResNeXt is 9n + 2: 11, 20, 29")

    def grouped(n_in: int, n_out: int, stride: int) -> Any:
        return _grouped(n_in, n_out, stride, cardinality)

    draws, blocks, n_in = Draws(), [], FIRST_CHANNELS
    for stage in range(3):
        n_out = cardinality * base * 2**stage
        for place in range(n):
            stride = 2 if stage and not place else 1
            blocks.append(Block(grouped, n_in, n_out, stride, draws))
            n_in = n_out
    stem = [conv3x3(3, FIRST_CHANNELS), nn.BatchNorm2d(FIRST_CHANNELS)]
    return draw_weights(Shaken(*stem, *blocks, nn.ReLU(), head(n_in, n_classes), draws=draws))


class Shaken(nn.Sequential):  # type: ignore[misc]
    """The layers one after the other; `begin_step` says from what a step's mixes are drawn."""

    def __init__(self, *layers: Any, draws: Draws) -> None:
        super().__init__(*layers)
        self.draws = draws

    def begin_step(self, rng: np.random.Generator) -> None:
        """Draw the mixes of the next step as this generator says."""
        self.draws.begin(rng)


class Block(nn.Module):  # type: ignore[misc]
    """Two branches, mixed, and a shortcut; where the shape changes, that is two views of every second pixel."""

    def __init__(self, branch: Any, n_in: int, n_out: int, stride: int, draws: Draws) -> None:
        super().__init__()
        self.first, self.second = branch(n_in, n_out, stride), branch(n_in, n_out, stride)
        self.shortcut: Any = nn.Identity() if n_in == n_out and stride == 1 else Shortcut(n_in, n_out, stride)
        self.draws = draws

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The features after this block."""
        first, second = self.first(x), self.second(x)
        if not self.training:
            return self.shortcut(x) + 0.5 * (first + second)
        return self.shortcut(x) + mixed(first, second, self.draws.per_image(x), self.draws.per_image(x))


def mixed(first: torch.Tensor, second: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    """The first with weight ``alpha``, the second with the rest; on the way back the weight is ``beta``."""
    backward = beta * first + (1 - beta) * second
    forward = alpha * first + (1 - alpha) * second
    return backward + (forward - backward).detach()


class Shortcut(nn.Module):  # type: ignore[misc]
    """Half of the channels from every second pixel, half from those one further down and right (zero at the edge)."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.here, self.beside = conv1x1(n_in, n_out // 2), conv1x1(n_in, n_out - n_out // 2)
        self.norm = nn.BatchNorm2d(n_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The features in the block's shape."""
        x = functional.relu(x)
        beside = functional.pad(x, (0, 1, 0, 1))[:, :, 1:, 1:]
        views = (functional.avg_pool2d(one, 1, self.stride) for one in (x, beside))
        here, moved = (conv(view) for conv, view in zip((self.here, self.beside), views, strict=True))
        return self.norm(torch.cat([here, moved], dim=1))


def _plain(n_in: int, n_out: int, stride: int) -> Any:
    """A branch of the ResNet: twice activate, convolve, normalise."""
    first = [nn.ReLU(), conv3x3(n_in, n_out, stride=stride), nn.BatchNorm2d(n_out)]
    return nn.Sequential(*first, nn.ReLU(), conv3x3(n_out, n_out), nn.BatchNorm2d(n_out))


def _grouped(n_in: int, n_out: int, stride: int, groups: int) -> Any:
    """A branch of the ResNeXt: 1x1, grouped 3x3, 1x1."""
    first = [nn.ReLU(), conv1x1(n_in, n_out), nn.BatchNorm2d(n_out)]
    middle = [nn.ReLU(), conv3x3(n_out, n_out, stride=stride, groups=groups), nn.BatchNorm2d(n_out)]
    return nn.Sequential(*first, *middle, nn.ReLU(), conv1x1(n_out, n_out), nn.BatchNorm2d(n_out))
