"""ONNX operators with weights: convolutions, linear layers, normalisations."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

from oodometer.models.onnx_autograd.operators import Node, operator

CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def window_padding(
    node: Node, size: list[int], kernel: list[int], strides: list[int], dilations: list[int]
) -> tuple[list[int], list[int]]:
    """What is put before and after each axis of a sliding window's input."""
    kind = node.get("auto_pad", "NOTSET")
    if kind == "VALID":
        return [0] * len(size), [0] * len(size)
    if kind == "NOTSET":
        pads = node.get("pads", [0] * 2 * len(size))
        return pads[: len(size)], pads[len(size) :]
    totals = [
        max((math.ceil(n / stride) - 1) * stride + (k - 1) * dilation + 1 - n, 0)
        for n, k, stride, dilation in zip(size, kernel, strides, dilations, strict=True)
    ]
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return (less, more) if kind == "SAME_UPPER" else (more, less)


def padded(x: Any, before: list[int], after: list[int], value: float = 0.0) -> Any:
    """The tensor with so many values more around its last axes."""
    # torch counts the axes from the last one.
    pads = [amount for pair in zip(reversed(before), reversed(after), strict=True) for amount in pair]
    return F.pad(x, pads, value=value) if any(pads) else x


@operator("Conv")
def convolution(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    """A convolution of 1 to 3 axes."""
    n_axes = x.dim() - 2
    strides, dilations = node.get("strides", [1] * n_axes), node.get("dilations", [1] * n_axes)
    before, after = window_padding(node, list(x.shape[2:]), list(weight.shape[2:]), strides, dilations)
    if before != after or min(before) < 0:
        x, before = padded(x, before, after), [0] * n_axes
    return CONVOLUTIONS[n_axes](x, weight, bias, strides, before, dilations, node.get("group", 1))


@operator("ConvTranspose")
def transposed_convolution(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    """The gradient of a convolution of 1 to 3 axes, as a layer."""
    n_axes = x.dim() - 2
    strides, dilations = node.get("strides", [1] * n_axes), node.get("dilations", [1] * n_axes)
    more = node.get("output_padding", [0] * n_axes)
    full = TRANSPOSED[n_axes](x, weight, None, strides, 0, 0, node.get("group", 1), dilations)
    before, after = _cut(node, list(x.shape[2:]), [n + extra for n, extra in zip(full.shape[2:], more, strict=True)])
    after = [cut - extra for cut, extra in zip(after, more, strict=True)]
    y = padded(full, [-amount for amount in before], [-amount for amount in after])
    return y if bias is None else y + bias.view(-1, *[1] * n_axes)


def _cut(node: Node, size: list[int], full: list[int]) -> tuple[list[int], list[int]]:
    """What a transposed convolution takes away before and after each axis."""
    kind = node.get("auto_pad", "NOTSET")
    wanted = node.get("output_shape")
    if wanted is None and kind in ("NOTSET", "VALID"):
        pads = node.get("pads", [0] * 2 * len(size)) if kind == "NOTSET" else [0] * 2 * len(size)
        return pads[: len(size)], pads[len(size) :]
    if wanted is None:
        wanted = [n * stride for n, stride in zip(size, node.get("strides", [1] * len(size)), strict=True)]
    totals = [max(have - want, 0) for have, want in zip(full, wanted[-len(size) :], strict=True)]
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return (less, more) if kind == "SAME_UPPER" else (more, less)


@operator("Gemm")
def gemm(node: Node, a: Any, b: Any, c: Any = None) -> Any:
    """The matrix alpha a b + beta c, with a and b transposed if asked."""
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    product = (a.T if node.get("transA", 0) else a) @ (b.T if node.get("transB", 0) else b)
    product = product if alpha == 1 else alpha * product
    return product if c is None else torch.add(product, c, alpha=beta)


@operator("MatMul")
def matmul(_node: Node, a: Any, b: Any) -> Any:
    """The product of matrices, stacks of them broadcast."""
    return torch.matmul(a, b)


@operator("Einsum")
def einsum(node: Node, *values: Any) -> Any:
    """The sum of products that the equation describes."""
    return torch.einsum(node.get("equation"), *values)


@operator("BatchNormalization")
def batch_normalization(node: Node, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
    """Each channel by its stored mean and variance, or by its own: exporters standardise weights so."""
    if not node.get("spatial", 1):
        raise node.refuse("spatial=0")
    if node.get("training_mode", 0):
        mean = variance = None
    return F.batch_norm(x, mean, variance, scale, bias, mean is None, 0.0, node.get("epsilon", 1e-5))


@operator("LayerNormalization")
def layer_normalization(node: Node, x: Any, scale: Any, bias: Any = None) -> Any:
    """All axes from one on by their own mean and variance."""
    shape = x.shape[node.get("axis", -1) :]
    epsilon = node.get("epsilon", 1e-5)
    if scale.shape == shape and (bias is None or bias.shape == shape):
        return F.layer_norm(x, shape, scale, bias, epsilon)
    y = F.layer_norm(x, shape, None, None, epsilon) * scale
    return y if bias is None else y + bias


@operator("InstanceNormalization")
def instance_normalization(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    """Each channel of each image by its own mean and variance."""
    return F.group_norm(x, x.shape[1], scale, bias, node.get("epsilon", 1e-5))


@operator("GroupNormalization")
def group_normalization(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    """Groups of channels by their own mean and variance; scale and bias are per group before opset 21."""
    groups = node.get("num_groups")
    if node.opset < 21:
        scale, bias = (values.repeat_interleave(x.shape[1] // groups) for values in (scale, bias))
    return F.group_norm(x, groups, scale, bias, node.get("epsilon", 1e-5))


@operator("LpNormalization")
def lp_normalization(node: Node, x: Any) -> Any:
    """Vectors along an axis by their length."""
    return F.normalize(x, float(node.get("p", 2)), node.get("axis", -1))


@operator("LRN")
def local_response_normalization(node: Node, x: Any) -> Any:
    """Each value by the squares of its neighbours in other channels."""
    size = node.get("size")
    # torch's own function puts the odd neighbour of an even size on the other side.
    squares = F.pad((x * x).flatten(2), (0, 0, (size - 1) // 2, size // 2)).unfold(1, size, 1).sum(-1)
    factor = node.get("bias", 1.0) + node.get("alpha", 1e-4) / size * squares.reshape(x.shape)
    return x / factor ** node.get("beta", 0.75)
