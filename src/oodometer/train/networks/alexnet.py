"""A network for small images like AlexNet (Krizhevsky, Sutskever & Hinton 2012): five convolutions, nothing normalised.

Three linear layers follow the mean over all places, so that images may have any size. The first convolution is 3x3 with
stride 1, since small images have few pixels to skip; there is no dropout.
"""

from __future__ import annotations

from typing import Any

from torch import nn

from oodometer.train.networks.layers import draw_weights, scaled

CHANNELS = (64, 192, 384, 256, 256)
"""Of the five convolutions, as in the one-tower AlexNet (Krizhevsky 2014)."""
POOLED_AFTER = (0, 1, 4)
HIDDEN = 512


def alexnet(n_classes: int, size: tuple[int, int], *, width: float) -> Any:  # noqa: ARG001 - of any size
    """The network with ``width`` times the channels."""
    layers: list[Any] = []
    n_in = 3
    for number, n_out in enumerate(scaled(one, width) for one in CHANNELS):
        layers += [nn.Conv2d(n_in, n_out, 3, padding=1), nn.ReLU()]
        if number in POOLED_AFTER:
            layers.append(nn.MaxPool2d(3, stride=2, padding=1))
        n_in = n_out
    hidden = scaled(HIDDEN, width)
    linear = [nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_classes)]
    return draw_weights(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), *linear))
