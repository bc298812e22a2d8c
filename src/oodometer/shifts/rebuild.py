"""Transforms made again from what a store says about them."""

from __future__ import annotations

from typing import Any

from oodometer.core.condition import Transform
from oodometer.core.errors import OodometerError
from oodometer.core.preprocessing import Geometry
from oodometer.core.records import TransformRecord
from oodometer.corruptions.registry import corruptions
from oodometer.corruptions.sequences import SEQUENCES
from oodometer.shifts.hue import turning
from oodometer.shifts.imagenet_c import AS_IT_IS, GREYSCALE, as_it_is, corrupting, without_colours
from oodometer.shifts.imagenet_p import frame_at

LARGEST = 4096
"""The longest side of canonical pixels that are made again: a damaged store shall not fill the memory."""


def transform_from(record: TransformRecord) -> Transform | None:
    """The transform that a record tells of, the same pixel by pixel.

    None where its description alone does not make it: a style transfer wants its paintings, a corruption of one's own
    its plugin, frost the textures with which it was made.
    """
    try:
        made = _made(record.name, dict(record.parameters), record.view)
    except (OodometerError, TypeError, KeyError, ValueError):  # what a damaged description may bring
        return None
    if made is None or (made.name, dict(made.parameters), made.view) != (
        record.name,
        dict(record.parameters),
        record.view,
    ):
        return None
    return made


def _made(name: str, described: dict[str, Any], view: Geometry | None) -> Transform | None:
    numbers = [
        described[key] for key in ("severity", "frame", "seed", "quality", "degrees") if described.get(key) is not None
    ]
    if not all(isinstance(one, int) for one in numbers):
        return None
    if view is not None and max(view.height, view.width, view.resize or 0) > LARGEST:
        return None
    if name == AS_IT_IS:
        return as_it_is(view)
    if name == GREYSCALE:
        return without_colours(view)
    if name == "hue":
        return turning(described["degrees"])
    if "frame" in described and name in SEQUENCES:
        return frame_at(name, described["frame"], seed=described["seed"])
    if "severity" in described and name in corruptions.names():
        quality, seed = described["quality"], described["seed"]
        return corrupting(name, described["severity"], quality=quality, view=view, seed=seed)
    return None
