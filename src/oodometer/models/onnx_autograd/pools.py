"""ONNX operators that pool over windows or whole images."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

from oodometer.models.onnx_autograd.layers import padded, window_padding
from oodometer.models.onnx_autograd.operators import Node, operator

LARGEST = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
MEANS = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


@operator("MaxPool")
def max_pool(node: Node, x: Any) -> Any:
    """The largest value in each window."""
    kernel, strides, dilations = _window(node, x)
    before, after, more = _padding(node, x, kernel, strides, dilations)
    after = [amount + extra for amount, extra in zip(after, more, strict=True)]
    if before != after or any(2 * amount > k for amount, k in zip(before, kernel, strict=True)):
        x, before = padded(x, before, after, -math.inf), [0] * len(kernel)
    return LARGEST[len(kernel)](x, kernel, strides, before, dilations)


@operator("AveragePool")
def average_pool(node: Node, x: Any) -> Any:
    """The mean of each window; padding counts if count_include_pad says so, what ceil_mode adds never does."""
    kernel, strides, dilations = _window(node, x)
    if any(step != 1 for step in dilations):
        raise node.refuse(f"dilations={dilations}")
    before, after, more = _padding(node, x, kernel, strides, dilations)
    counted = bool(node.get("count_include_pad", 0))
    pool = MEANS[len(kernel)]
    if before == after and not any(more) and all(2 * amount <= k for amount, k in zip(before, kernel, strict=True)):
        return pool(x, kernel, strides, before, False, counted)
    # The share of each window that counts, by pooling ones.
    ones = torch.ones((1, 1, *x.shape[2:]), dtype=x.dtype, device=x.device)
    ones = padded(padded(ones, before, after, float(counted)), [0] * len(kernel), more)
    x = padded(x, before, [amount + extra for amount, extra in zip(after, more, strict=True)])
    return pool(x, kernel, strides) / pool(ones, kernel, strides)


def _window(node: Node, x: Any) -> tuple[list[int], list[int], list[int]]:
    """Kernel, strides, and dilations."""
    kernel, ones = node.get("kernel_shape"), [1] * (x.dim() - 2)
    return kernel, node.get("strides", ones), node.get("dilations", ones)


def _padding(
    node: Node, x: Any, kernel: list[int], strides: list[int], dilations: list[int]
) -> tuple[list[int], list[int], list[int]]:
    """What is put before and after each axis, and what ceil_mode adds for a last window that is not full."""
    size = list(x.shape[2:])
    before, after = window_padding(node, size, kernel, strides, dilations)
    if not node.get("ceil_mode", 0):
        return before, after, [0] * len(size)
    more = []
    for n, left, right, k, stride, dilation in zip(size, before, after, kernel, strides, dilations, strict=True):
        reach = (k - 1) * dilation + 1
        last = math.ceil((n + left + right - reach) / stride)
        if last * stride >= n + left:  # it would begin in the padding
            last -= 1
        more.append(max(last * stride + reach - (n + left + right), 0))
    return before, after, more


@operator("GlobalAveragePool")
def global_average_pool(_node: Node, x: Any) -> Any:
    """The mean of each channel."""
    return x.mean(tuple(range(2, x.dim())), keepdim=True)


@operator("GlobalMaxPool")
def global_max_pool(_node: Node, x: Any) -> Any:
    """The largest value of each channel."""
    return x.amax(tuple(range(2, x.dim())), keepdim=True)
