"""What is to be drawn: every emoji of the 50 classes, or every other one, in every package that has it."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from oodometer.build.icons.classes import Rules, classes_of
from oodometer.build.icons.iconify import MEMBERS, IconSet, read_icon_set
from oodometer.build.icons.names import codes_by_name, icons_by_code, own_names
from oodometer.build.icons.outside import subgroups_outside
from oodometer.build.icons.packages import Package
from oodometer.build.icons.pictures import draw, pixels_of_png
from oodometer.build.icons.unicode_emoji import Emoji, code_of, read_emoji
from oodometer.build.npm import read_members
from oodometer.core.errors import DataError

T = TypeVar("T")

_PICTURE = re.compile(r"img/[a-z]+/64/([0-9a-f-]+)\.png")


@dataclass(frozen=True)
class Art:
    """One emoji as one package has it.

    Args:
        draw: Its pixels at a size, (size, size, 3) uint8.
    """

    emoji: Emoji
    class_name: str
    package: Package
    draw: Callable[[int], np.ndarray]

    @property
    def id(self) -> str:
        """Its path without the ending, in the layout of ICONS-50."""
        return f"{self.class_name}/{self.package.style}_{self.package.drawing}_{self.emoji.slug}"


def find_art(files: Mapping[Package, Path], rules: Rules, *, skin_tones: bool, outside: bool = False) -> list[Art]:
    """Everything there is to draw, in the order of the packages and then of Unicode.

    Args:
        files: The packages; one of them is Unicode's list of emoji.
        skin_tones: Draw the emoji with skin tones too.
        outside: What is in none of the classes instead, in Unicode's subgroups.
    """
    emoji = _emoji_of(files)
    classes = (subgroups_outside if outside else classes_of)(emoji.values(), rules)
    sets = {
        package: _understood(package, read_icon_set, read_members(package, file, MEMBERS.__contains__))
        for package, file in files.items()
        if package.kind == "vector"
    }
    by_name = codes_by_name(emoji, [one for one in sets.values() if one.codes])
    found: list[Art] = []
    for package, file in files.items():
        if package.kind == "unicode":
            continue
        drawn = _vector(package, sets[package], emoji, by_name) if package in sets else _raster(package, file)
        for code, one in emoji.items():
            if code in drawn and code in classes and (skin_tones or not one.has_skin_tone):
                found.append(Art(one, classes[code], package, drawn[code]))
    return found


def _emoji_of(files: Mapping[Package, Path]) -> Mapping[str, Emoji]:
    package, file = next((package, file) for package, file in files.items() if package.kind == "unicode")
    members = read_members(package, file, lambda path: path == "emoji.json")
    return _understood(package, lambda found: read_emoji(json.loads(found["emoji.json"])), members)


def _understood(package: Package, read: Callable[[Mapping[str, bytes]], T], members: Mapping[str, bytes]) -> T:
    try:
        return read(members)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{package.spec}: not what it should be ({type(error).__name__}: {error})") from error


def _vector(
    package: Package, icons: IconSet, emoji: Mapping[str, Emoji], by_name: Mapping[str, str]
) -> dict[str, Callable[[int], np.ndarray]]:
    def drawer(name: str) -> Callable[[int], np.ndarray]:
        return lambda size: draw(icons.icons[name].svg(size), size)

    named = icons_by_code(icons, emoji, by_name, own_names(package.name))
    return {code: drawer(name) for code, name in named.items()}


def _raster(package: Package, file: Path) -> dict[str, Callable[[int], np.ndarray]]:
    def drawer(content: bytes) -> Callable[[int], np.ndarray]:
        return lambda size: pixels_of_png(content, size)

    members = read_members(package, file, lambda path: _PICTURE.fullmatch(path) is not None)
    if not members:
        raise DataError(f"{package.spec}: not what it should be (no pictures of 64 px in it)")
    return {code_of(posixpath.basename(path)[:-4]): drawer(members[path]) for path in sorted(members)}
