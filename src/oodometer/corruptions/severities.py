"""The constants of each corruption, by severity and by the size of the image."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from oodometer.core.errors import UsageError

Strength = tuple[float, ...]
"""The constants of one corruption at one severity."""

LEAST_SIDE = 32


@cache
def tables() -> Mapping[str, Mapping[int, tuple[Strength, ...]]]:
    """Corruption to side to the constants of severities 1 to 5."""
    text = (files("oodometer.corruptions") / "severities.toml").read_text(encoding="utf-8")
    return {
        name: {int(side): tuple(_as_tuple(one) for one in levels) for side, levels in sides.items()}
        for name, sides in tomllib.loads(text).items()
    }


def _as_tuple(constants: float | list[float]) -> Strength:
    return tuple(float(one) for one in constants) if isinstance(constants, list) else (float(constants),)


def side_for(name: str, height: int, width: int) -> int:
    """The set of constants for an image: the one whose side is nearest to the shorter side, as a ratio.

    >>> side_for("gaussian_noise", 224, 224), side_for("gaussian_noise", 480, 640), side_for("gaussian_noise", 40, 32)
    (224, 299, 32)
    """
    side = min(height, width)
    if side < LEAST_SIDE:
        raise UsageError(f"an image of {width}x{height} pixels is too small to corrupt: at least {LEAST_SIDE} a side")
    return min(tables()[name], key=lambda known: abs(math.log(known / side)))


def strength_of(name: str, severity: int, height: int, width: int) -> Strength:
    """The constants of a corruption for an image of this size.

    >>> strength_of("fog", 3, 224, 224)
    (2.5, 1.7)
    """
    return tables()[name][side_for(name, height, width)][severity - 1]
