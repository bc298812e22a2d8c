"""Transforms made again from what a store says about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oodometer.core.condition import Transform
from oodometer.core.errors import OodometerError
from oodometer.core.preprocessing import Geometry
from oodometer.corruptions.registry import corruptions
from oodometer.corruptions.sequences import SEQUENCES
from oodometer.shifts.imagenet_c import as_it_is, corrupting, without_colours
from oodometer.shifts.imagenet_p import frame_at

LARGEST = 4096
"""The longest side of canonical pixels that are made again: a damaged store shall not fill the memory."""


def transform_from(described: Mapping[str, Any]) -> Transform | None:
    """The transform that `Condition.describe` told of, the same pixel by pixel.

    None where its description alone does not make it: a style transfer wants its paintings, a corruption of one's own
    its plugin, frost the textures with which it was made.
    """
    try:
        made = _made(dict(described))
    except (OodometerError, TypeError, KeyError, ValueError):  # what a damaged description may bring
        return None
    if made is None or {"name": made.name, **made.parameters, "view": made.view.describe()} != dict(described):
        return None
    return made


def _made(described: dict[str, Any]) -> Transform | None:
    view = Geometry(**described.pop("view"))
    name = described.pop("name")
    numbers = [described[key] for key in ("severity", "frame", "seed", "quality") if described.get(key) is not None]
    if not all(isinstance(one, int) for one in numbers):
        return None
    if max(view.height, view.width, view.resize or 0) > LARGEST:
        return None
    if name == "as it is":
        return as_it_is(view)
    if name == "greyscale":
        return without_colours()
    if "frame" in described and name in SEQUENCES:
        return frame_at(name, described["frame"], seed=described["seed"])
    if "severity" in described and name in corruptions.names():
        quality, seed = described["quality"], described["seed"]
        return corrupting(name, described["severity"], quality=quality, view=view, seed=seed)
    return None
