"""Distortions of the activations of one image, one function each, by name.

Each takes what a layer made of one image, (C, H, W), and gives as much; what it is given stays as it was. The names
are ours, the operations those of DeepAugment's release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from oodometer.core.registry import Registry
from oodometer.train.augment.deepaugment.weights import uniform_like

ActivationDistortion = Callable[[Any, np.random.Generator], Any]

activation_distortions: Registry[ActivationDistortion] = Registry(
    "activation distortion", {}, group="oodometer.activation_distortions"
)

HEAD = ("copy_channels", "keep_most", "flip_signs", "none")
"""After the first layer of a super-resolution network, one of them for each image."""
BODY = ("negate", "relu_or_gelu", "flip", "skip", "none")
"""Within its body; ``skip``, which leaves out blocks, is done by `distort` and not a function of one layer's output."""
BOTTLENECK = (
    "scale",
    "zero_positions",
    "negate_positions",
    "permute_channels",
    "flip_some_channels",
    "flip_all_channels",
    "noisy_identity",
    "extra_taps",
    "shift_channels",
)
"""At the bottleneck of an auto-encoder, one of them for each image."""


@activation_distortions.register("none")
def none(values: Any, rng: np.random.Generator) -> Any:  # noqa: ARG001
    """As they are."""
    return values


@activation_distortions.register("copy_channels")
def copy_channels(values: Any, rng: np.random.Generator) -> Any:
    """Five times, one channel becomes a copy of another."""
    result = values.clone()
    for target, source in rng.integers(len(values), size=(5, 2)).tolist():
        result[target] = result[source]
    return result


@activation_distortions.register("keep_most")
def keep_most(values: Any, rng: np.random.Generator) -> Any:
    """5 % of all values are zero."""
    return values * (uniform_like(values, rng) >= 0.05)


@activation_distortions.register("flip_signs")
def flip_signs(values: Any, rng: np.random.Generator) -> Any:
    """2.5 % of all values get the other sign."""
    return values * ((uniform_like(values, rng) >= 0.025) * 2.0 - 1)


@activation_distortions.register("negate")
def negate(values: Any, rng: np.random.Generator) -> Any:  # noqa: ARG001
    """All values with the other sign."""
    return -values


@activation_distortions.register("relu_or_gelu")
def relu_or_gelu(values: Any, rng: np.random.Generator) -> Any:
    """The ReLU, with a chance of one third, or the GELU of the values."""
    from torch.nn import functional

    return functional.relu(values) if rng.integers(3) == 1 else functional.gelu(values)


@activation_distortions.register("flip")
def flip(values: Any, rng: np.random.Generator) -> Any:
    """The channels in reverse order, and rows (with a chance of one third) or columns."""
    return values.flip((0, 1) if rng.integers(3) == 1 else (0, 2))


@activation_distortions.register("scale")
def scale(values: Any, rng: np.random.Generator) -> Any:
    """All values times 3 + 4 u v, u drawn once and v for each value.

    The release does so to a code of bits, 0 and 1, of which the zeros stay.
    """
    strength = rng.random()
    return values * (3 + 4 * strength * uniform_like(values, rng))


@activation_distortions.register("zero_positions")
def zero_positions(values: Any, rng: np.random.Generator) -> Any:
    """20 % of all positions are zero in every channel."""
    return values * (uniform_like(values[0], rng) > 0.2)


@activation_distortions.register("negate_positions")
def negate_positions(values: Any, rng: np.random.Generator) -> Any:
    """10 % of all positions get the other sign in every channel."""
    return values * ((uniform_like(values[0], rng) > 0.1) * 2.0 - 1)


@activation_distortions.register("permute_channels")
def permute_channels(values: Any, rng: np.random.Generator) -> Any:
    """The first ten channels in another order."""
    n_permuted = min(10, len(values))
    return values[np.concatenate([rng.permutation(n_permuted), np.arange(n_permuted, len(values))])]


@activation_distortions.register("flip_some_channels")
def flip_some_channels(values: Any, rng: np.random.Generator) -> Any:
    """Five times, one channel is flipped: its rows, its columns, or both."""
    result, sides = values.clone(), _sides(rng)
    for channel in rng.integers(len(values), size=5).tolist():
        result[channel] = result[channel].flip(sides)
    return result


@activation_distortions.register("flip_all_channels")
def flip_all_channels(values: Any, rng: np.random.Generator) -> Any:
    """Every channel is flipped: its rows, its columns, or both."""
    return values.flip(tuple(1 + side for side in _sides(rng)))


def _sides(rng: np.random.Generator) -> tuple[int, ...]:
    """Rows, columns or both; the release draws two of three dimensions, the first of which has one member."""
    return ((0,), (1,), (0, 1))[int(rng.integers(3))]


@activation_distortions.register("noisy_identity")
def noisy_identity(values: Any, rng: np.random.Generator) -> Any:
    """Convolved with the identity plus noise between -0.1 and 0.1."""
    n_channels = len(values)
    kernels = _identity(n_channels) + (rng.random((n_channels, n_channels, 3, 3), dtype=np.float32) - 0.5) * 0.2
    return _convolved(values, kernels)


@activation_distortions.register("extra_taps")
def extra_taps(values: Any, rng: np.random.Generator) -> Any:
    """To half of the channels any channel is added, moved by at most a pixel."""
    n_channels = len(values)
    kernels = _identity(n_channels)
    for channel in range(n_channels):
        if rng.random() < 0.5:
            other = int(rng.integers(n_channels))
            row, column = rng.integers(3, size=2)
            kernels[channel, other, row, column] = 1
    return _convolved(values, kernels)


@activation_distortions.register("shift_channels")
def shift_channels(values: Any, rng: np.random.Generator) -> Any:
    """Each channel is moved by at most a pixel, as the one before it or, with a chance of 20 %, another way."""
    n_channels = len(values)
    kernels = np.zeros((n_channels, n_channels, 3, 3), dtype=np.float32)
    row, column = rng.integers(3, size=2)
    for channel in range(n_channels):
        if rng.random() < 0.2:
            row, column = rng.integers(3, size=2)
        kernels[channel, channel, row, column] = 1
    return _convolved(values, kernels)


def _identity(n_channels: int) -> np.ndarray:
    kernels = np.zeros((n_channels, n_channels, 3, 3), dtype=np.float32)
    kernels[np.arange(n_channels), np.arange(n_channels), 1, 1] = 1
    return kernels


def _convolved(values: Any, kernels: np.ndarray) -> Any:
    import torch

    return torch.conv2d(values[None], torch.from_numpy(kernels).to(values), padding=1)[0]
