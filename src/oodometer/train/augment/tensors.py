"""Images as what image-to-image networks take and give, at a size that they can afford."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oodometer.core.errors import UsageError


def as_batch(images: np.ndarray, keys: Sequence[str] | None) -> tuple[np.ndarray, list[str]]:
    """One image or several as a batch, (N, H, W, 3) uint8, and what the draws of each are keyed by: else its position.

    >>> as_batch(np.zeros((4, 4, 3), np.uint8), None)[1]
    ['0']
    """
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or images.shape[-1] != 3:
        raise UsageError(f"expected images (N, H, W, 3) of uint8, not {images.shape} of {images.dtype}")
    batch = images if images.ndim == 4 else images[None]
    return batch, [str(row) for row in range(len(batch))] if keys is None else list(keys)


def as_tensor(images: np.ndarray, *, white: float = 1.0) -> Any:
    """(N, H, W, 3) uint8 -> (N, 3, H, W) float32, black 0."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(images)).permute(0, 3, 1, 2).float() * (white / 255)


def as_images(values: Any, *, white: float = 1.0) -> np.ndarray:
    """(N, 3, H, W) -> (N, H, W, 3) uint8, rounded; what is no number is black, what is out of range is at its edge."""
    import torch

    finite = torch.nan_to_num(values * (255 / white), nan=0.0, posinf=255.0, neginf=0.0)
    made: np.ndarray = finite.clamp(0, 255).round().byte().permute(0, 2, 3, 1).contiguous().cpu().numpy()
    return made


def run_size(height: int, width: int, side: int | None) -> tuple[int, int]:
    """The size at which a network runs: the shorter side is ``side`` if it is longer; None: as it is.

    >>> run_size(375, 500, 128), run_size(32, 32, 128), run_size(375, 500, None)
    ((128, 171), (32, 32), (375, 500))
    """
    short = min(height, width)
    if side is None or short <= side:
        return height, width
    return max(1, round(height * side / short)), max(1, round(width * side / short))


def resized(values: Any, size: tuple[int, int]) -> Any:
    """Of another size, (N, C, H, W), without aliasing; the same where it has that size."""
    from torch.nn import functional

    if tuple(values.shape[2:]) == size:
        return values
    return functional.interpolate(values, size=size, mode="bilinear", align_corners=False, antialias=True)


def at_run_size(image: np.ndarray, side: int) -> np.ndarray:
    """An image at the size at which a network runs, (H, W, 3) uint8."""
    size = run_size(image.shape[0], image.shape[1], side)
    return image if size == image.shape[:2] else as_images(resized(as_tensor(image[None]), size))[0]
