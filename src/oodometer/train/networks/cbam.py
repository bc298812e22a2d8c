"""CBAM (Woo et al. 2018) in residual networks: channels are weighed by what the image shows, then places are."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from oodometer.train.networks.resnet import resnet
from oodometer.train.networks.resnext import resnext
from oodometer.train.networks.squeeze_excitation import n_between

SIDE = 7
"""Of the convolution over places, as in the paper."""


def cbam_resnet(n_classes: int, size: tuple[int, int], *, depth: int, width: float) -> Any:
    """The ResNet for small images with CBAM in every block."""
    return resnet(n_classes, size, depth=depth, width=width, attention=Cbam)


def cbam_resnext(n_classes: int, size: tuple[int, int], *, depth: int, cardinality: int, base: int) -> Any:
    """The ResNeXt for small images with CBAM in every block."""
    return resnext(n_classes, size, depth=depth, cardinality=cardinality, base=base, attention=Cbam)


class Cbam(nn.Module):  # type: ignore[misc]
    """Weights of channels from their means and maxima, then weights of places from those over channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.squeeze = nn.Linear(channels, n_between(channels), bias=False)
        self.excite = nn.Linear(n_between(channels), channels, bias=False)
        self.places = nn.Conv2d(2, 1, SIDE, padding=SIDE // 2, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The weighed features."""
        both = [self.excite(functional.relu(self.squeeze(one))) for one in (x.mean(dim=(2, 3)), x.amax(dim=(2, 3)))]
        x = x * torch.sigmoid(both[0] + both[1])[:, :, None, None]
        seen = torch.cat([x.mean(dim=1, keepdim=True), x.amax(dim=1, keepdim=True)], dim=1)
        return x * torch.sigmoid(self.places(seen))
