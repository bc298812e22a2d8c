"""What the families share: convolutions, the first draw of the weights, global pooling."""

from __future__ import annotations

from typing import Any

from torch import nn


def conv3x3(n_in: int, n_out: int, *, stride: int = 1, groups: int = 1) -> Any:
    """A convolution of 3x3 that keeps the size (or divides it), without bias."""
    return nn.Conv2d(n_in, n_out, 3, stride=stride, padding=1, groups=groups, bias=False)


def conv1x1(n_in: int, n_out: int, *, stride: int = 1) -> Any:
    """A convolution of 1x1 without bias."""
    return nn.Conv2d(n_in, n_out, 1, stride=stride, bias=False)


def draw_weights(network: Any) -> Any:
    """The network with the first weights of He et al. 2015 (normal, by fan-out)."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="linear")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return network


def head(n_features: int, n_classes: int) -> Any:
    """The mean over all places, then a linear classifier, whatever the size of the image."""
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(n_features, n_classes))


def scaled(channels: float, width: float) -> int:
    """So many times the channels, at least one."""
    return max(1, round(channels * width))
