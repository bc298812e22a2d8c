"""Distortions of the weights of one convolution, one function each, by name.

Each takes the weight (out, in, k, k) and the bias (out,), or None where there is none, and gives new ones; what it is
given stays as it was. The names are ours, the operations those of DeepAugment's release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from oodometer.core.registry import Registry

Kernels = tuple[Any, Any]
"""Weight and bias."""
WeightDistortion = Callable[[Any, Any, np.random.Generator], Kernels]

weight_distortions: Registry[WeightDistortion] = Registry("weight distortion", {}, group="oodometer.weight_distortions")

LAPLACIAN = ((0, 1, 0), (1, -4, 1), (0, 1, 0))
EDGE = ((-1, -1, -1), (-1, 8, -1), (-1, -1, -1))


def uniform_like(tensor: Any, rng: np.random.Generator) -> Any:
    """A tensor of that shape, uniform in [0, 1)."""
    import torch

    return torch.from_numpy(rng.random(tuple(tensor.shape), dtype=np.float32)).to(tensor)


def some_filters(weight: Any, share: float, rng: np.random.Generator) -> np.ndarray:
    """As many draws of a filter, with replacement, as that share of all filters; each filter once, in order."""
    n_filters = weight.shape[0]
    return np.unique(rng.integers(n_filters, size=max(1, round(share * n_filters))))


def through_kernels(weight: Any, kernels: Any) -> Any:
    """Each filter as an image of ``in`` channels, convolved with kernels (in, in, k, k); its size stays."""
    import torch

    return torch.conv2d(weight, kernels.to(weight), padding=tuple(side // 2 for side in kernels.shape[2:]))


@weight_distortions.register("reverse_channels")
def reverse_channels(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:  # noqa: ARG001
    """The filters in reverse order."""
    return weight.flip(0), None if bias is None else bias.flip(0)


@weight_distortions.register("negate")
def negate(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:  # noqa: ARG001
    """Weight and bias with the other sign."""
    return -weight, None if bias is None else -bias


@weight_distortions.register("negate_weight")
def negate_weight(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:  # noqa: ARG001
    """The weight alone with the other sign."""
    return -weight, bias


@weight_distortions.register("zero")
def zero(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:  # noqa: ARG001
    """Nothing is left."""
    return weight * 0, None if bias is None else bias * 0


@weight_distortions.register("minus_gelu")
def minus_gelu(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:  # noqa: ARG001
    """Minus the GELU of the weight."""
    from torch.nn import functional

    return -functional.gelu(weight), bias


@weight_distortions.register("laplacian")
def laplacian(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:  # noqa: ARG001
    """Each kernel times the Laplacian, entry by entry."""
    return weight * _around_centre(weight, LAPLACIAN), bias


@weight_distortions.register("edge")
def edge(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:  # noqa: ARG001
    """Each kernel times a kernel that finds edges, entry by entry."""
    return weight * _around_centre(weight, EDGE), bias


def _around_centre(weight: Any, kernel: tuple[tuple[int, ...], ...]) -> Any:
    """A 3x3 kernel as large as those of the weight: larger ones have zeros around it, smaller ones its centre alone."""
    import torch

    height, width = weight.shape[2:]
    canvas = np.zeros((max(height, 3), max(width, 3)), dtype=np.float32)
    top, left = (canvas.shape[0] - 3) // 2, (canvas.shape[1] - 3) // 2
    canvas[top : top + 3, left : left + 3] = kernel
    top, left = (canvas.shape[0] - height) // 2, (canvas.shape[1] - width) // 2
    return torch.from_numpy(canvas[top : top + height, left : left + width].copy()).to(weight)


@weight_distortions.register("gain")
def gain(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Each entry times 1 + 4 u v, u drawn once and v for each entry, uniform in [0, 1)."""
    return weight * _gains(weight, 4, rng), bias


@weight_distortions.register("strong_gain")
def strong_gain(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Each entry times 1 + 8 u v."""
    return weight * _gains(weight, 8, rng), bias


def _gains(weight: Any, most: float, rng: np.random.Generator) -> Any:
    strength = rng.random()
    return 1 + most * strength * uniform_like(weight, rng)


@weight_distortions.register("flip_columns")
def flip_columns(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:  # noqa: ARG001
    """Each kernel mirrored from left to right."""
    return weight.flip(-1), bias


@weight_distortions.register("random_shifts")
def random_shifts(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Kernels convolved with single entries of 1 or -1, whose places are drawn for each input channel."""
    import torch

    n_in = weight.shape[1]
    kernels = np.zeros((n_in, n_in, 3, 3), dtype=np.float32)
    for channel in range(n_in):
        row, column = rng.integers(3, size=2)
        kernels[:, channel, row, column] = rng.choice([1.0, -1.0])
    return through_kernels(weight, torch.from_numpy(kernels)), bias


@weight_distortions.register("noisy_kernels")
def noisy_kernels(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Kernels convolved with (2 u v - 1) / 6, u drawn once and v for each entry."""
    import torch

    n_in, strength = weight.shape[1], rng.random()
    drawn = rng.random((n_in, n_in, 3, 3), dtype=np.float32)
    return through_kernels(weight, torch.from_numpy(((2 * strength * drawn - 1) / 6).astype(np.float32))), bias


@weight_distortions.register("dirichlet_kernels")
def dirichlet_kernels(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Kernels convolved with draws from Dirichlet(0.1, ... 0.1): nearly all of each lies in one of nine places."""
    import torch

    n_in = weight.shape[1]
    drawn = rng.dirichlet([0.1] * 9, size=(n_in, n_in)).reshape(n_in, n_in, 3, 3)
    return through_kernels(weight, torch.from_numpy(drawn.astype(np.float32))), bias


@weight_distortions.register("add_noise")
def add_noise(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Noise between -1/2 and 1/2 is added to each entry."""
    return weight + (uniform_like(weight, rng) - 0.5), bias


@weight_distortions.register("rotate")
def rotate(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Kernels turned by 90, 180 or 270 degrees; or, half of the time, the table of kernels (out, in) is turned."""
    turns, of_table = int(rng.integers(1, 4)), bool(rng.integers(2))
    is_square = weight.shape[0] == weight.shape[1]
    return weight.rot90(turns, (0, 1) if of_table and is_square else (2, 3)), bias


@weight_distortions.register("rotate_kernels")
def rotate_kernels(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Kernels turned by 90, 180 or 270 degrees."""
    return weight.rot90(int(rng.integers(1, 4)), (2, 3)), bias


@weight_distortions.register("random_signs")
def random_signs(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Each entry times 1 or -1."""
    return weight * ((uniform_like(weight, rng) > 0.5) * 2.0 - 1), bias


@weight_distortions.register("random_mask")
def random_mask(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Half of the entries are zero."""
    return weight * (uniform_like(weight, rng) > 0.5), bias


@weight_distortions.register("mask_or_signs")
def mask_or_signs(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Half of the entries are zero, or, half of the time, have the other sign."""
    return (random_mask if rng.random() < 0.5 else random_signs)(weight, bias, rng)


@weight_distortions.register("negate_half")
def negate_half(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Filters with the other sign: half as many draws, with replacement, as there are."""
    return _negated(weight, some_filters(weight, 0.5, rng)), bias


@weight_distortions.register("negate_fifth")
def negate_fifth(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Filters with the other sign: a fifth as many draws, with replacement, as there are."""
    return _negated(weight, some_filters(weight, 0.2, rng)), bias


@weight_distortions.register("negate_some")
def negate_some(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Filters and their biases with the other sign: 12 draws for 128 of them."""
    chosen = some_filters(weight, 12 / 128, rng)
    return _negated(weight, chosen), None if bias is None else _negated(bias, chosen)


@weight_distortions.register("zero_some")
def zero_some(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Filters and their biases are zero: 25 draws for 128 of them."""
    chosen = some_filters(weight, 25 / 128, rng)
    return _changed(weight, chosen, lambda part: part * 0), _changed(bias, chosen, lambda part: part * 0)


@weight_distortions.register("minus_gelu_some")
def minus_gelu_some(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:
    """Filters and their biases become minus their GELU: 25 draws for 128 of them."""
    from torch.nn import functional

    chosen = some_filters(weight, 25 / 128, rng)
    return _changed(weight, chosen, _minus(functional.gelu)), _changed(bias, chosen, _minus(functional.gelu))


@weight_distortions.register("keep_largest")
def keep_largest(weight: Any, bias: Any, rng: np.random.Generator) -> Kernels:  # noqa: ARG001
    """Of each kernel the largest entry alone."""
    import torch

    flat = weight.flatten(2)
    largest = flat.argmax(dim=2, keepdim=True)
    return torch.zeros_like(flat).scatter(2, largest, flat.gather(2, largest)).reshape(weight.shape), bias


def _minus(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda part: -function(part)


def _negated(tensor: Any, rows: np.ndarray) -> Any:
    return _changed(tensor, rows, lambda part: -part)


def _changed(tensor: Any, rows: np.ndarray, change: Callable[[Any], Any]) -> Any:
    if tensor is None:
        return None
    result = tensor.clone()
    result[rows] = change(tensor[rows])
    return result
