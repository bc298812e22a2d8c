"""Icon sets as Iconify packs them: drawings by name, other names for them, and maybe code points."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from oodometer.build.icons.unicode_emoji import code_of

MEMBERS = frozenset({"icons.json", "chars.json"})
_MOST_PARENTS = 5


@dataclass(frozen=True)
class Icon:
    """A drawing: the inside of an SVG file, and the part of the plane that it fills."""

    body: str
    left: float
    top: float
    width: float
    height: float
    h_flip: bool = False
    v_flip: bool = False
    quarter_turns: int = 0

    def svg(self, size: int) -> str:
        """The SVG file of a square of so many pixels, the drawing in its middle."""
        body = self.body
        if self.h_flip or self.v_flip:
            x, x_scale = (2 * self.left + self.width, -1) if self.h_flip else (0, 1)
            y, y_scale = (2 * self.top + self.height, -1) if self.v_flip else (0, 1)
            body = f'<g transform="translate({x:g} {y:g}) scale({x_scale} {y_scale})">{body}</g>'
        if self.quarter_turns % 4:
            middle = f"{self.left + self.width / 2:g} {self.top + self.height / 2:g}"
            body = f'<g transform="rotate({90 * self.quarter_turns} {middle})">{body}</g>'
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
            f'width="{size}" height="{size}" '
            f'viewBox="{self.left:g} {self.top:g} {self.width:g} {self.height:g}">{body}</svg>'
        )


@dataclass(frozen=True)
class IconSet:
    """The icons of a package that are not hidden.

    Args:
        icons: By name; those with a drawing of their own come before other names for them.
        aliases: Names that are another icon, unchanged.
        codes: The name of each code that the package knows.
    """

    icons: Mapping[str, Icon]
    aliases: Mapping[str, str]
    codes: Mapping[str, str]


def read_icon_set(members: Mapping[str, bytes]) -> IconSet:
    """The icon set of a package's ``icons.json`` and ``chars.json``."""
    packed: dict[str, Any] = json.loads(members["icons.json"])
    chars: dict[str, str] = json.loads(members.get("chars.json", b"{}"))
    sides = {
        side: packed.get(side, 0 if side in ("left", "top") else 16) for side in ("left", "top", "width", "height")
    }
    aliases: dict[str, dict[str, Any]] = packed.get("aliases", {})
    icons: dict[str, Icon] = {}
    for name, row in packed["icons"].items():
        if not row.get("hidden"):
            icons[name] = Icon(row["body"], **{side: row.get(side, usual) for side, usual in sides.items()})
    for name in aliases:
        found = _of_alias(name, aliases, icons)
        if found is not None:
            icons[name] = found
    codes: dict[str, str] = {}
    for points, name in chars.items():
        if name in icons:
            codes.setdefault(code_of(points), name)
    plain = {name: row["parent"] for name, row in aliases.items() if set(row) == {"parent"} and name in icons}
    return IconSet(icons, plain, codes)


def _of_alias(name: str, aliases: Mapping[str, dict[str, Any]], icons: Mapping[str, Icon]) -> Icon | None:
    """The drawing that another name stands for, turned over as it says; None where it is hidden or leads nowhere."""
    rows: list[dict[str, Any]] = []
    while name in aliases and len(rows) < _MOST_PARENTS:
        rows.append(aliases[name])
        name = aliases[name]["parent"]
    icon = icons.get(name)
    if icon is None or any(row.get("hidden") for row in rows):
        return None
    for row in reversed(rows):
        icon = replace(
            icon,
            h_flip=icon.h_flip != bool(row.get("hFlip")),
            v_flip=icon.v_flip != bool(row.get("vFlip")),
            quarter_turns=icon.quarter_turns + int(row.get("rotate", 0)),
        )
    return icon
