"""Encoder and decoder of a style transfer, in the layout of the weights that people pass around.

Those (github.com/naoto0804/pytorch-AdaIN: ``vgg_normalised.pth``, of which the layers up to relu4_1 are used, and
``decoder.pth``) are state dicts whose names are the places of the convolutions in a sequence of layers. A network that
is learned here has the same kind of layers, and fewer of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

EPSILON = 1e-5
"""Added to a variance before its root is taken, as in the published code."""

Stages = tuple[tuple[int, ...], ...]
PUBLISHED: Stages = ((64, 64), (128, 128), (256, 256, 256, 256), (512,))
"""The channels of VGG-19 up to relu4_1; between stages the side is halved."""
SMALL: Stages = ((32,), (64,))
"""The channels of a network that is learned here."""


@dataclass(frozen=True)
class StyleNetwork:
    """Encoder and decoder.

    Args:
        stride: How many pixels the features are apart.
    """

    encoder: nn.Sequential
    decoder: nn.Sequential
    stride: int


def new_network(stages: Stages) -> StyleNetwork:
    """The network with these channels, and the weights that torch gives it."""
    return StyleNetwork(_encoder(stages), _decoder(stages), 2 ** (len(stages) - 1))


def _encoder(stages: Stages) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Conv2d(3, 3, 1)]
    n_in = 3
    for number, stage in enumerate(stages):
        layers += [nn.MaxPool2d(2, ceil_mode=True)] if number else []
        for n_out in stage:
            layers += [nn.ReflectionPad2d(1), nn.Conv2d(n_in, n_out, 3), nn.ReLU()]
            n_in = n_out
    return nn.Sequential(*layers)


def _decoder(stages: Stages) -> nn.Sequential:
    """The encoder's layers in reverse: each convolution has the channels that its mirror image was given."""
    layers: list[nn.Module] = []
    for number, stage in reversed(list(enumerate(stages))):
        before = stages[number - 1][-1] if number else 3
        for n_in, n_out in zip(reversed(stage), [*reversed(stage[:-1]), before], strict=True):
            layers += [nn.ReflectionPad2d(1), nn.Conv2d(n_in, n_out, 3), nn.ReLU()]
        layers += [nn.Upsample(scale_factor=2, mode="nearest")] if number else []
    return nn.Sequential(*layers[:-1])  # no ReLU after the last convolution


def statistics(features: Any) -> tuple[Any, Any]:
    """Mean and standard deviation of each channel of (N, C, H, W); of the variance the unbiased estimate."""
    flat = features.flatten(2)
    mean, deviation = flat.mean(dim=2), (flat.var(dim=2) + EPSILON).sqrt()
    return mean[:, :, None, None], deviation[:, :, None, None]


def restyled(features: Any, style: tuple[Any, Any]) -> Any:
    """Features with the means and deviations of a style (adaptive instance normalisation)."""
    mean, deviation = statistics(features)
    return (features - mean) / deviation * style[1] + style[0]


def padded(images: Any, stride: int) -> Any:
    """Images whose sides are multiples of the stride, and long enough to be mirrored at their edges."""
    height, width = images.shape[2:]
    least = 2 * stride
    bottom, right = (max(least, -(-side // stride) * stride) - side for side in (height, width))
    return functional.pad(images, (0, right, 0, bottom), mode="replicate")


def encoded(network: StyleNetwork, images: Any) -> Any:
    """The features of images (N, 3, H, W) in [0, 1]."""
    return network.encoder(padded(images, network.stride))


def decoded(network: StyleNetwork, features: Any, size: Sequence[int]) -> Any:
    """The images that have such features, of that size."""
    return network.decoder(features)[:, :, : size[0], : size[1]]


def features_by_stage(network: StyleNetwork, images: Any) -> list[Any]:
    """The features after the first convolution of every stage, as the published losses take them."""
    taken: list[Any] = []
    values, is_first = padded(images, network.stride), False
    for number, layer in enumerate(network.encoder):
        values = layer(values)
        is_first = is_first or number == 0 or isinstance(layer, nn.MaxPool2d)
        if is_first and isinstance(layer, nn.ReLU):
            taken.append(values)
            is_first = False
    return taken


def on(network: StyleNetwork, device: torch.device | str) -> StyleNetwork:
    """The network on a device."""
    return StyleNetwork(network.encoder.to(device), network.decoder.to(device), network.stride)
