"""Balls around an image: what a perturbation may be, of which norm, and uniform draws from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from oodometer.core.random import rng_for

Norm = Literal["linf", "l2"]
NORMS: tuple[Norm, ...] = get_args(Norm)
LEVELS = 255
SIDE = 224
"""The budgets of L2 are stated for images of that side, as in the 204-model testbed."""
ROUNDING = 2.0**-24
"""By how much a float32 in [0, 1] may be off."""


@dataclass(frozen=True)
class Ball:
    """All perturbations up to a size.

    Args:
        norm: Of the perturbation of the pixels in [0, 1].
        epsilon: Its largest size: of ``linf`` in levels of 255, of ``l2`` at 224 x 224 pixels.
    """

    norm: Norm
    epsilon: float

    def radius(self, height: int, width: int) -> float:
        """The largest norm at this size of image; the mean square per pixel is the same at every size.

        >>> Ball("linf", 2).radius(32, 32) == 2 / 255, Ball("l2", 0.5).radius(224, 224), Ball("l2", 0.5).radius(56, 224)
        (True, 0.5, 0.25)
        """
        return self.epsilon / LEVELS if self.norm == "linf" else self.epsilon * math.sqrt(height * width) / SIDE

    def around(self, images: Any) -> Room:
        """Where perturbed images may be, (N, 3, H, W) in [0, 1]."""
        radius = self.radius(*images.shape[-2:])
        return room_of(images, radius) if self.norm == "linf" else Room(self.norm, images, radius)

    def uniform(self, images: Any, ids: Sequence[str], *, what: str, seed: int) -> Any:
        """One draw per image, uniform in the ball and keyed by the image's id, then clipped to [0, 1]."""
        import torch

        shape = tuple(images.shape[1:])
        draws = np.stack([_draw(self.norm, shape, rng_for(what, one, seed=seed)) for one in ids])
        room = self.around(images)
        return room.project(images + room.radius * torch.from_numpy(draws).to(images.device))


def _draw(norm: Norm, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """A point of the unit ball, uniform."""
    if norm == "linf":
        return 2 * rng.random(shape, dtype=np.float32) - 1
    direction = rng.standard_normal(shape, dtype=np.float32)
    # The share of the ball within a radius r is r to the power of the number of its dimensions.
    length = rng.random() ** (1 / direction.size)
    return direction * np.float32(length / np.linalg.norm(direction))


def room_of(images: Any, radius: Any) -> Room:
    """The room of ``linf`` balls around images (N, 3, H, W) in [0, 1], of one radius or of one each, (N, 1, 1, 1)."""
    return Room("linf", images, radius, (images - radius).clamp_(min=0), (images + radius).clamp_(max=1))


@dataclass(frozen=True)
class Room:
    """The part of the balls around some images that lies in [0, 1].

    Args:
        images: The centres, (N, 3, H, W).
        radius: Of all balls; of ``linf`` maybe one for each image, (N, 1, 1, 1).
        low: The least value of each pixel.
        high: The largest.
    """

    norm: Norm
    images: Any
    radius: Any
    low: Any = 0.0
    high: Any = 1.0

    def take(self, kept: Any) -> Room:
        """The room of some of the images."""
        if self.norm == "linf":
            return replace(self, images=self.images[kept], low=self.low[kept], high=self.high[kept])
        return replace(self, images=self.images[kept])

    def direction(self, gradients: Any) -> Any:
        """Where the loss grows fastest, as a perturbation of norm 1; zero where the gradient is."""
        if self.norm == "linf":
            return gradients.sign()
        # Scaled by the largest first: the squares of a small gradient would be zero in float32.
        largest = gradients.abs().amax(dim=(1, 2, 3), keepdim=True)
        scaled = gradients / largest.masked_fill(largest == 0, 1)
        return scaled / _norms(scaled).clamp(min=1)

    def project(self, images: Any) -> Any:
        """The nearest images of the ball, clipped to [0, 1], within this room."""
        if self.norm == "linf":
            return images.clamp(self.low, self.high)
        # The centre is in [0, 1], so that clipping brings an image nearer to it and not out of the ball.
        change = images - self.images
        change *= self.radius / _norms(change).clamp(min=self.radius)
        return change.add_(self.images).clamp_(0, 1)

    def check(self, images: Any) -> None:
        """An error of ours where an image is out of the ball or of [0, 1], or is not a number."""
        change = images - self.images
        if self.norm == "linf":
            size, rounding = change.abs().amax(), 2 * ROUNDING
        else:
            size = _norms(change).amax()
            rounding = 1e-5 * self.radius + ROUNDING * math.sqrt(change[0].numel())
        # Written so that NaN fails.
        if not (float(size) <= self.radius + rounding and float(images.amin()) >= 0 and float(images.amax()) <= 1):
            raise RuntimeError(f"a perturbation of {self.norm} norm {float(size)} is out of its ball ({self.radius})")


def _norms(images: Any) -> Any:
    import torch

    return torch.linalg.vector_norm(images, dim=(1, 2, 3), keepdim=True)
