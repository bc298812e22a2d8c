"""Resize of ONNX, axis by axis: for each output place the source places that it mixes, and their weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oodometer.models.onnx_autograd.operators import Node, operator

# The specification's rules for places between two pixels.
ROUNDING: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "round_prefer_floor": lambda places: np.ceil(places - 0.5),
    "round_prefer_ceil": lambda places: np.floor(places + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


@operator("Resize", "Upsample", plain=(1, 2, 3))
def resize(node: Node, x: Any, *given: Any) -> Any:
    """The image in another size: nearest, linear or cubic."""
    if node.get("antialias", 0) or node.get("exclude_outside", 0):
        raise node.refuse("antialias or exclude_outside")
    scales, sizes = _asked(node, given)
    axes = [axis % x.dim() for axis in node.get("axes") or range(x.dim())]
    if sizes and node.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise node.refuse("keep_aspect_ratio_policy")
    before = [x.shape[axis] for axis in axes]
    after = sizes or [math.floor(n * scale) for n, scale in zip(before, scales, strict=True)]
    if after == before:  # whatever the scales: as onnxruntime does it
        return x
    scales = scales or [out / n for n, out in zip(before, after, strict=True)]
    for axis, n, out, scale in zip(axes, before, after, scales, strict=True):
        if scale != 1:
            x = _along(x, axis, _taps(node, n, out, np.float32(scale)))
    return x


def _asked(node: Node, given: tuple[Any, ...]) -> tuple[list[float], list[int]]:
    """The scales or the sizes, whichever is given."""
    if node.op == "Upsample" or node.opset < 11:
        return (given[0] if given else node.get("scales")), []
    scales, sizes = (*given, None, None, None)[1:3]  # the first is the region of interest, which has no use here
    return scales or [], sizes or []


def _along(x: Any, axis: int, taps: list[tuple[np.ndarray, np.ndarray]]) -> Any:
    shape = [-1 if other == axis else 1 for other in range(x.dim())]
    mixed = None
    for places, weights in taps:
        part = x.index_select(axis, torch.from_numpy(places).to(x.device))
        if len(taps) > 1:
            part = part * torch.from_numpy(weights).to(x).view(shape)
        mixed = part if mixed is None else mixed + part
    return mixed


def _taps(node: Node, n: int, out: int, scale: np.float32) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each output place the source places and weights, as many pairs as values are mixed."""
    source = _source(node, n, out, scale)
    mode = node.get("mode", "nearest")
    if mode == "nearest":
        rule = node.get("nearest_mode", "round_prefer_floor" if _modern(node) else "floor")
        return [(_inside(ROUNDING[rule](source), n), np.ones(out))]
    if mode == "linear":
        source = source.clip(0, n - 1)
        low = np.floor(source)
        return [(_inside(low, n), 1 - (source - low)), (_inside(low + 1, n), source - low)]
    low = np.floor(source)
    sharpness = node.get("cubic_coeff_a", -0.75)
    return [
        (_inside(low + step, n), _cubic(np.abs(source - low - step), sharpness))  # the edge continues outside
        for step in (-1, 0, 1, 2)
    ]


def _modern(node: Node) -> bool:
    return node.op == "Resize" and node.opset >= 11


def _inside(places: np.ndarray, n: int) -> np.ndarray:
    clipped: np.ndarray = places.clip(0, n - 1).astype(np.int64)
    return clipped


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """Keys' kernel (1981), for distances up to 2."""
    near = (a + 2) * distance**3 - (a + 3) * distance**2 + 1
    far = a * (distance**3 - 5 * distance**2 + 8 * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


def _source(node: Node, n: int, out: int, scale: np.float32) -> np.ndarray:
    """Where each output place lies in the input, in float32 as onnxruntime: half-way places are rounded alike."""
    places = np.arange(out, dtype=np.float32)
    rule = node.get("coordinate_transformation_mode", "half_pixel" if _modern(node) else "asymmetric")
    centred: np.ndarray = (places + 0.5) / scale - 0.5
    if rule == "half_pixel" or (rule == "pytorch_half_pixel" and out > 1):
        return centred
    if rule == "half_pixel_symmetric":
        return centred + n / 2 * (1 - out / (scale * n))
    if rule == "asymmetric":
        return places / scale
    if rule == "align_corners" and out > 1:
        return places * (n - 1) / (out - 1)
    if rule in ("align_corners", "pytorch_half_pixel"):
        return np.zeros_like(places)
    raise node.refuse(f"coordinate_transformation_mode={rule}")
