"""The nearest neighbour among the training images, as a network: distances by one product of matrices.

Images are compared at a quarter of their size, in the principal components of the training images, so that the file
stays small. A class's logit is minus the squared distance to its nearest training image.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from oodometer.core.errors import UsageError

SHRINK = 4
"""Pixels in each direction that become one."""


def nearest(n_classes: int, size: tuple[int, int], *, components: int) -> Any:
    """The network that compares so many principal components, empty before ``prepare``."""
    small = 3 * (size[0] // SHRINK) * (size[1] // SHRINK)
    if small < 1:
        raise UsageError(f"nearest: images must have at least {SHRINK} pixels in each direction")
    return Nearest(n_classes, small, min(components, small))


class Nearest(nn.Module):  # type: ignore[misc]
    """Training images in principal components, one class after the other."""

    def __init__(self, n_classes: int, n_values: int, components: int) -> None:
        super().__init__()
        self.n_classes = n_classes
        self.register_buffer("mean", torch.zeros(n_values))
        self.register_buffer("axes", torch.zeros(n_values, components))
        self.register_buffer("stored", torch.zeros(components, 0))
        self.register_buffer("squares", torch.zeros(0))
        self.n_components = components
        self.counts: list[int] = [0] * n_classes

    def n_kept(self) -> int:
        """The numbers kept of the training images, and the axes and the mean."""
        return sum(int(one.numel()) for one in (self.stored, self.axes, self.mean))

    def prepare(self, images: torch.Tensor, labels: np.ndarray, rng: np.random.Generator) -> None:  # noqa: ARG002
        """Keep the training images, (N, 3, H, W)."""
        small = _shrunk(images)
        self.mean = small.mean(dim=0)
        _, vectors = torch.linalg.eigh(torch.cov(small.T))
        self.axes = vectors[:, -self.n_components :].contiguous()
        order = np.argsort(labels, kind="stable")
        self.stored = self._components(images)[torch.from_numpy(order)].T.contiguous()
        self.squares = (self.stored * self.stored).sum(dim=0)
        self.counts = np.bincount(labels, minlength=self.n_classes).tolist()
        if min(self.counts) == 0:
            raise UsageError("nearest: a class without a training image has no nearest one; leave the class out")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The logits."""
        asked = self._components(x)
        closeness = 2 * asked @ self.stored - self.squares - (asked * asked).sum(dim=1, keepdim=True)
        classes = torch.split(closeness, self.counts, dim=1)
        return torch.cat([one.amax(dim=1, keepdim=True) for one in classes], dim=1)

    def _components(self, images: torch.Tensor) -> torch.Tensor:
        return (_shrunk(images) - self.mean) @ self.axes


def _shrunk(images: torch.Tensor) -> torch.Tensor:
    return functional.avg_pool2d(images, SHRINK).flatten(1)
