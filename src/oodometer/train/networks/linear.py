"""A linear classifier on pixels: multinomial logistic regression."""

from __future__ import annotations

from typing import Any

from torch import nn


def linear(n_classes: int, size: tuple[int, int]) -> Any:
    """One weight for each pixel, channel and class, zero at first."""
    layer = nn.Linear(3 * size[0] * size[1], n_classes)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return nn.Sequential(nn.Flatten(), layer)
