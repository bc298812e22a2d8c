"""Residual multigrid networks (Ke, Maire & Yu 2017) for small images: every layer sees a pyramid of three grids.

A convolution on a grid sees that grid, the next finer one (its maxima) and the next coarser one (each pixel repeated).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from oodometer.core.errors import UsageError
from oodometer.train.networks.layers import conv3x3, draw_weights, scaled

GRIDS = (1, 2, 4)
"""What the channels of each grid are divided by, the finest first: 64, 32, 16 in the paper."""
SMALLEST = 16
"""Pixels of an image of which one is left on the coarsest grid of the last stage."""


def multigrid(n_classes: int, size: tuple[int, int], *, depth: int, width: float) -> Any:
    """The network of ``depth`` = 6n + 2 layers, with ``width`` times 16, 32 and 64 channels on the finest grid."""
    n, rest = divmod(depth - 2, 6)
    if rest or n < 1:
        raise UsageError(f"multigrid{depth}: the depth of a multigrid network is 6n + 2: 8, 14, 20")
    if min(size) < SMALLEST:
        raise UsageError(f"multigrid: images must have at least {SMALLEST} pixels in each direction")
    return draw_weights(
        Multigrid(n_classes, n, [[scaled(one / grid, width) for grid in GRIDS] for one in (16, 32, 64)])
    )


class Multigrid(nn.Module):  # type: ignore[misc]
    """Three stages of residual blocks on pyramids; between them every grid becomes half as large."""

    def __init__(self, n_classes: int, n: int, stages: list[list[int]]) -> None:
        super().__init__()
        self.first = Layer([3] * len(GRIDS), stages[0], neighbours=False)
        blocks, before = [], stages[0]
        for channels in stages:
            for _ in range(n):
                blocks.append(Block(before, channels))
                before = channels
        self.blocks = nn.ModuleList(blocks)
        self.n = n
        self.classifier = nn.Linear(sum(stages[-1]), n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The logits, from the means of all channels of all grids."""
        grids = [x]
        for _ in GRIDS[1:]:
            grids.append(functional.avg_pool2d(grids[-1], 2))
        grids = [functional.relu(grid) for grid in self.first(grids)]
        for number, block in enumerate(self.blocks):
            if number and number % self.n == 0:
                grids = [functional.max_pool2d(grid, 2) for grid in grids]
            grids = block(grids)
        return self.classifier(torch.cat([grid.mean(dim=(2, 3)) for grid in grids], dim=1))


class Block(nn.Module):  # type: ignore[misc]
    """Two layers over the pyramid; what was there is added, with empty channels where there are more."""

    def __init__(self, n_in: list[int], n_out: list[int]) -> None:
        super().__init__()
        self.one, self.two = Layer(n_in, n_out), Layer(n_out, n_out)

    def forward(self, grids: list[torch.Tensor]) -> list[torch.Tensor]:
        """The pyramid after this block."""
        inner = self.two([functional.relu(grid) for grid in self.one(grids)])
        return [functional.relu(new + _widened(old, new)) for old, new in zip(grids, inner, strict=True)]


class Layer(nn.Module):  # type: ignore[misc]
    """A convolution on every grid, over it and its neighbours, and a normalisation."""

    def __init__(self, n_in: list[int], n_out: list[int], *, neighbours: bool = True) -> None:
        super().__init__()
        self.neighbours = neighbours
        seen = [sum(n_in[max(0, grid - 1) : grid + 2]) if neighbours else n_in[grid] for grid in range(len(n_in))]
        self.convs = nn.ModuleList(conv3x3(wide, new) for wide, new in zip(seen, n_out, strict=True))
        self.norms = nn.ModuleList(nn.BatchNorm2d(new) for new in n_out)

    def forward(self, grids: list[torch.Tensor]) -> list[torch.Tensor]:
        """The pyramid after this layer, the finest grid first."""
        seen = [_with_neighbours(grids, place) for place in range(len(grids))] if self.neighbours else grids
        return [norm(conv(x)) for conv, norm, x in zip(self.convs, self.norms, seen, strict=True)]


def _with_neighbours(grids: list[torch.Tensor], place: int) -> torch.Tensor:
    here = grids[place]
    parts = [here]
    if place > 0:
        parts.insert(0, functional.max_pool2d(grids[place - 1], 2))
    if place + 1 < len(grids):
        parts.append(functional.interpolate(grids[place + 1], size=here.shape[-2:], mode="nearest"))
    return torch.cat(parts, dim=1)


def _widened(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    n_more = new.shape[1] - old.shape[1]
    return functional.pad(old, (0, 0, 0, 0, 0, n_more)) if n_more else old
