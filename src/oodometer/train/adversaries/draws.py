"""The random numbers of adversaries, as tensors beside the pixels."""

from __future__ import annotations

from typing import Any

import numpy as np


def radii(pixels: Any, most: float, rng: np.random.Generator) -> Any:
    """A radius for each image, uniform from 0 to the largest, (N, 1, 1, 1): all strengths are to be known."""
    import torch

    drawn = most * rng.random((len(pixels), 1, 1, 1), dtype=np.float32)
    return torch.from_numpy(drawn).to(pixels.device)


def uniform(pixels: Any, rng: np.random.Generator) -> Any:
    """A number from -1 to 1 for every value of the pixels, in their order of memory."""
    import torch

    n, channels, height, width = pixels.shape
    drawn = 2 * rng.random((n, height, width, channels), dtype=np.float32) - 1
    return torch.from_numpy(drawn).to(pixels.device).permute(0, 3, 1, 2)
