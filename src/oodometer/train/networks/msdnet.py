"""MSDNet for small images (Huang et al. 2018): dense layers at three scales, and classifiers on the way.

The last classifier is the answer. While it learns, those before it learn too, as in the paper: the sum of all losses is
what is made smaller. What no classifier would see is not computed (the paper's lazy evaluation); the transition layers
between blocks, which save computation only, are left out.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from oodometer.core.errors import UsageError
from oodometer.train.networks.layers import conv1x1, conv3x3, draw_weights, head

N_SCALES = 3
FIRST_CHANNELS = 16
"""At the finest scale; twice and four times as many at the others."""
FIRST_CLASSIFIER, STEP = 4, 2
"""The layer after which the first classifier looks, and how many layers are between two."""
BETWEEN = (1, 2, 4)
"""How many times the new channels a layer has in between, at each scale."""
CLASSIFIER_CHANNELS = 128


def msdnet(n_classes: int, size: tuple[int, int], *, classifiers: int, growth: int) -> Any:
    """The network with so many classifiers, of 4 + 2 (classifiers - 1) layers.

    Args:
        growth: Channels that a layer adds at the finest scale; twice and four times as many at the others.
    """
    if classifiers < 1 or growth < 2 or growth % 2:
        raise UsageError(f"msdnet{classifiers}-{growth}: at least one classifier, and an even growth from 2 on")
    if min(size) < 2 ** (N_SCALES - 1):
        raise UsageError("msdnet: images must have at least 4 pixels in each direction")
    return draw_weights(MsdNet(n_classes, classifiers, growth))


class MsdNet(nn.Module):  # type: ignore[misc]
    """Layers over a list of features, the finest first; `side_logits` has what the earlier classifiers said."""

    def __init__(self, n_classes: int, classifiers: int, growth: int) -> None:
        super().__init__()
        n_layers = FIRST_CLASSIFIER + STEP * (classifiers - 1)
        self.places = [FIRST_CLASSIFIER + STEP * number for number in range(classifiers)]
        self.first = First()
        channels = [FIRST_CHANNELS * 2**scale for scale in range(N_SCALES)]
        layers, heads = [], []
        for number in range(1, n_layers + 1):
            # A scale counts as long as it can still come down to the coarsest one by the last layer.
            finest = max(0, N_SCALES - 1 - (n_layers - number))
            layers.append(Layer(channels, growth, finest))
            for scale in range(finest, N_SCALES):
                channels[scale] += growth * 2**scale
            if number in self.places:
                heads.append(_classifier(channels[-1], n_classes))
        self.layers, self.heads = nn.ModuleList(layers), nn.ModuleList(heads)
        self.side_logits: list[torch.Tensor] = []

    def n_aside(self) -> int:
        """The weights of the earlier classifiers, on which the answer does not depend."""
        return sum(int(one.numel()) for earlier in self.heads[:-1] for one in earlier.parameters())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The logits of the last classifier."""
        features, answers = self.first(x), []
        for number, layer in enumerate(self.layers, start=1):
            features = layer(features)
            is_last = number == len(self.layers)
            if number in self.places and (self.training or is_last):
                answers.append(self.heads[self.places.index(number)](features[-1]))
        self.side_logits = answers[:-1]
        return answers[-1]


class First(nn.Module):  # type: ignore[misc]
    """The image at every scale, each made of the finer one by a convolution."""

    def __init__(self) -> None:
        super().__init__()
        steps = [(3, FIRST_CHANNELS, 1)]
        steps += [(FIRST_CHANNELS * 2 ** (scale - 1), FIRST_CHANNELS * 2**scale, 2) for scale in range(1, N_SCALES)]
        self.scales = nn.ModuleList(
            nn.Sequential(conv3x3(n_in, n_out, stride=stride), nn.BatchNorm2d(n_out), nn.ReLU())
            for n_in, n_out, stride in steps
        )

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        """The features, the finest first."""
        features = []
        for scale in self.scales:
            x = scale(x)
            features.append(x)
        return features


class Layer(nn.Module):  # type: ignore[misc]
    """New channels at every scale from ``finest`` on, half of them from the next finer scale, beside the old ones."""

    def __init__(self, channels: list[int], growth: int, finest: int) -> None:
        super().__init__()
        self.finest = finest
        same, down = [], []
        for scale in range(finest, N_SCALES):
            new, between = growth * 2**scale, BETWEEN[scale]
            has_finer = scale > 0
            same.append(_convolutions(channels[scale], new // 2 if has_finer else new, between, stride=1))
            if has_finer:
                down.append(_convolutions(channels[scale - 1], new // 2, between, stride=2))
        self.same, self.down = nn.ModuleList(same), nn.ModuleList(down)

    def forward(self, features: list[torch.Tensor]) -> list[torch.Tensor]:
        """The features after this layer; scales that nothing needs any more stay as they were."""
        result = list(features)
        for place, scale in enumerate(range(self.finest, N_SCALES)):
            parts = [features[scale], self.same[place](features[scale])]
            if scale > 0:
                parts.append(self.down[scale - max(self.finest, 1)](features[scale - 1]))
            result[scale] = torch.cat(parts, dim=1)
        return result


def _convolutions(n_in: int, n_out: int, between: int, *, stride: int) -> Any:
    """1x1 to a few times the new channels, then 3x3; each normalised and activated."""
    inner = min(n_in, between * n_out)
    first = [conv1x1(n_in, inner), nn.BatchNorm2d(inner), nn.ReLU()]
    return nn.Sequential(*first, conv3x3(inner, n_out, stride=stride), nn.BatchNorm2d(n_out), nn.ReLU())


def _classifier(n_in: int, n_classes: int) -> Any:
    layers: list[Any] = []
    for channels in (n_in, CLASSIFIER_CHANNELS):
        layers += [conv3x3(channels, CLASSIFIER_CHANNELS, stride=2), nn.BatchNorm2d(CLASSIFIER_CHANNELS), nn.ReLU()]
    return nn.Sequential(*layers, head(CLASSIFIER_CHANNELS, n_classes))
