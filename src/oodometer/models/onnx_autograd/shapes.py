"""ONNX operators that move values about, and those that compute shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

from oodometer.models.onnx_autograd.operators import Node, number, operator


@operator("Identity")
def identity(_node: Node, x: Any) -> Any:
    """The same."""
    return x


@operator("Dropout", plain=(1, 2), several=True)
def dropout(node: Node, x: Any, _ratio: Any = None, training: Any = None) -> Any:
    """The same, and a mask that lets all pass: nothing is dropped outside of training."""
    if number(training):
        raise node.refuse("training_mode=1")
    return (x, torch.ones_like(x, dtype=torch.bool)) if node.n_outputs > 1 else (x,)


@operator("Flatten")
def flatten(node: Node, x: Any) -> Any:
    """A matrix: the axes before one, and the rest."""
    axis = node.get("axis", 1)
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@operator("Reshape", plain=(1,))
def reshape(node: Node, x: Any, shape: Sequence[int]) -> Any:
    """The values in another shape, where 0 is what it was and -1 what is left."""
    if not node.get("allowzero", 0):
        shape = [x.shape[place] if side == 0 else side for place, side in enumerate(shape)]
    return x.reshape(shape)


@operator("Transpose")
def transpose(node: Node, x: Any) -> Any:
    """The axes in another order, by default the reverse."""
    return x.permute(node.get("perm", list(range(x.dim()))[::-1]))


@operator("Concat")
def concat(node: Node, *values: Any) -> Any:
    """One after the other along an axis."""
    return torch.cat(values, node.get("axis"))


@operator("Split", plain=(1,), several=True)
def split(node: Node, x: Any, sizes: list[int] | None = None) -> Any:
    """Pieces along an axis, of the given sizes or as equal as can be."""
    axis = node.get("axis", 0)
    sizes = sizes or node.get("split")
    return torch.split(x, sizes or math.ceil(x.shape[axis] / node.n_outputs), axis)


@operator("Slice", plain=(1, 2, 3, 4))
def slice_(
    node: Node,
    x: Any,
    starts: list[int] | None = None,
    ends: list[int] | None = None,
    axes: list[int] | None = None,
    steps: list[int] | None = None,
) -> Any:
    """A part of some axes, perhaps in steps or backwards; all were attributes before opset 10."""
    if node.opset < 10:
        starts, ends, axes = node.get("starts"), node.get("ends"), node.get("axes")
    starts, ends = starts or [], ends or []
    axes = axes or list(range(len(starts)))
    for start, end, axis, step in zip(starts, ends, axes, steps or [1] * len(starts), strict=True):
        places = _places(start, end, step, x.shape[axis])
        if step == 1:
            x = x.narrow(axis, places.start, len(places))
        else:
            x = x.index_select(axis, torch.tensor(list(places), dtype=torch.int64, device=x.device))
    return x


def _places(start: int, end: int, step: int, n: int) -> range:
    """The places of an axis of length n in a slice; unlike Python's, one backwards never begins before the axis.

    >>> list(_places(-6, -7, -1, 5)), list(range(5))[-6:-7:-1]
    ([0], [])
    """
    start, end = (place + n if place < 0 else place for place in (start, end))
    low, high = (0, n) if step > 0 else (-1, n - 1)
    return range(min(max(start, 0), high), min(max(end, low), high), step)


@operator("Gather")
def gather(node: Node, x: Any, indices: Any) -> Any:
    """The places of an axis that the indices name; negative ones count from its end."""
    axis = node.get("axis", 0) % x.dim()
    places = indices.reshape(-1).to(torch.int64)
    values = x.index_select(axis, torch.where(places < 0, places + x.shape[axis], places))
    return values.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


@operator("GatherElements")
def gather_elements(node: Node, x: Any, indices: Any) -> Any:
    """For each place the value at its index along an axis."""
    axis = node.get("axis", 0)
    return torch.gather(x, axis, torch.where(indices < 0, indices + x.shape[axis], indices).to(torch.int64))


@operator("Squeeze", plain=(1,))
def squeeze(node: Node, x: Any, axes: list[int] | None = None) -> Any:
    """Without axes of length 1: those named (an attribute before opset 13), or all."""
    axes = axes or node.get("axes")
    return x.squeeze(tuple(axes)) if axes else x.squeeze()


@operator("Unsqueeze", plain=(1,))
def unsqueeze(node: Node, x: Any, axes: list[int] | int | None = None) -> Any:
    """With more axes of length 1 at these places of the result."""
    axes = node.get("axes") if axes is None else axes
    axes = [axes] if isinstance(axes, int) else axes or []
    rank = x.dim() + len(axes)
    for axis in sorted(axis % rank for axis in axes):
        x = x.unsqueeze(axis)
    return x


@operator("Pad", plain=(1, 2, 3))
def pad(
    node: Node,
    x: Any,
    pads: list[int] | None = None,
    value: Any = None,
    axes: list[int] | None = None,
) -> Any:
    """More values around it: a constant, its mirror image, its edge, or itself again."""
    if node.opset < 11:
        pads, value = node.get("pads"), node.get("value", 0.0)
    pads = pads or []
    axes = [axis % x.dim() for axis in axes] if axes else list(range(x.dim()))
    amounts = dict(zip(axes, zip(pads[: len(axes)], pads[len(axes) :], strict=True), strict=True))
    mode = node.get("mode", "constant")
    if mode == "constant":
        around = [amount for axis in reversed(range(x.dim())) for amount in amounts.get(axis, (0, 0))]
        return F.pad(x, around, value=number(value) or 0)
    for axis, (before, after) in amounts.items():
        if before or after:
            x = x.index_select(axis, _continued(node, mode, before, after, x.shape[axis]).to(x.device))
    return x


def _continued(node: Node, mode: str, before: int, after: int, n: int) -> Any:
    """The places of an axis of length n that an axis with so many more before and after it shows."""
    places = torch.arange(-before, n + after)
    if mode == "edge":
        return places.clamp(0, n - 1)
    if mode == "wrap":
        return places % n
    if mode != "reflect":
        raise node.refuse(f"mode={mode}")
    period = max(2 * (n - 1), 1)
    return (n - 1) - (places % period - (n - 1)).abs()


@operator("Expand", plain=(1,))
def expand(_node: Node, x: Any, shape: list[int]) -> Any:
    """Repeated along axes of length 1, as broadcasting does."""
    return x.broadcast_to(torch.broadcast_shapes(x.shape, shape))


@operator("Tile", plain=(1,))
def tile(_node: Node, x: Any, repeats: list[int]) -> Any:
    """Repeated so many times along each axis."""
    return x.repeat(repeats)


@operator("Shape")
def shape_of(node: Node, x: Any) -> Any:
    """The lengths of the axes, from one to another."""
    return torch.tensor(x.shape[node.get("start", 0) : node.get("end")], dtype=torch.int64)


@operator("Size")
def size_of(_node: Node, x: Any) -> Any:
    """How many values there are."""
    return torch.tensor(x.numel())


@operator("Constant")
def constant(node: Node) -> Any:
    """The value that the node holds."""
    for key in ("value_float", "value_floats"):
        if node.get(key) is not None:
            return torch.tensor(node.get(key), dtype=torch.float32)
    for key in ("value_int", "value_ints"):
        if node.get(key) is not None:
            return torch.tensor(node.get(key), dtype=torch.int64)
    if node.get("value") is None:
        raise node.refuse(next(iter(node.attributes), "no value"))
    return node.get("value")


@operator("ConstantOfShape", plain=(0,))
def constant_of_shape(node: Node, shape: list[int]) -> Any:
    """One value everywhere, by default 0."""
    value = node.get("value")
    return torch.zeros(shape) if value is None else torch.full(shape, value.item(), dtype=value.dtype)


@operator("Range", plain=(0, 1, 2))
def range_(_node: Node, start: Any, limit: Any, delta: Any) -> Any:
    """From a number in steps up to another."""
    return torch.arange(number(start), number(limit), number(delta))


@operator("DepthToSpace")
def depth_to_space(node: Node, x: Any) -> Any:
    """Channels moved into blocks of pixels."""
    n, channels, height, width = x.shape
    side = node.get("blocksize")
    if node.get("mode", "DCR") == "DCR":
        x = x.reshape(n, side, side, channels // side**2, height, width).permute(0, 3, 4, 1, 5, 2)
    else:
        x = x.reshape(n, channels // side**2, side, side, height, width).permute(0, 1, 4, 2, 5, 3)
    return x.reshape(n, channels // side**2, height * side, width * side)


@operator("SpaceToDepth")
def space_to_depth(node: Node, x: Any) -> Any:
    """Blocks of pixels moved into channels."""
    n, channels, height, width = x.shape
    side = node.get("blocksize")
    x = x.reshape(n, channels, height // side, side, width // side, side).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(n, channels * side**2, height // side, width // side)
