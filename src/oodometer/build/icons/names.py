"""Which emoji an icon is, where its package knows only names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from importlib.resources import files

from oodometer.build.icons.iconify import IconSet
from oodometer.build.icons.tables import read_toml
from oodometer.build.icons.unicode_emoji import Emoji, slug_of

_FLAG = re.compile(r"^flag-for-(flag-)?")


def own_names(package: str) -> dict[str, str]:
    """Unicode's name for some icons of a package, by the icon's name; from ``icon_names.toml``."""
    found: dict[str, str] = read_toml(files("oodometer.build.icons") / "icon_names.toml").get(package, {})
    return found


def codes_by_name(emoji: Mapping[str, Emoji], coded: Iterable[IconSet]) -> dict[str, str]:
    """The code of every name by which an emoji is known, without what stands between the words.

    First Unicode's names, then those in packages with code points, then the names of single characters in the
    Unicode standard, which are older than emoji.
    """
    found: dict[str, str] = {}
    for one in emoji.values():
        found.setdefault(squeezed(slug_of(one.name)), one.code)
    for icons in coded:
        code_by_icon: dict[str, str] = {}
        for code, name in icons.codes.items():
            if code in emoji:
                found.setdefault(squeezed(name), code)
                code_by_icon.setdefault(name, code)
        for name, parent in icons.aliases.items():
            if parent in code_by_icon:
                found.setdefault(squeezed(name), code_by_icon[parent])
    for code in emoji:
        if "-" not in code:
            found.setdefault(squeezed(slug_of(unicodedata.name(chr(int(code, 16)), ""))), code)
    found.pop("", None)
    return found


def squeezed(name: str) -> str:
    """A name without what stands between its words.

    >>> squeezed("flag-for-south-korea"), squeezed("aerial_tramway")
    ('flagsouthkorea', 'aerialtramway')
    """
    return re.sub(r"[^a-z0-9]", "", _FLAG.sub("flag-", name.lower()))


def icons_by_code(
    icons: IconSet, emoji: Mapping[str, Emoji], by_name: Mapping[str, str], own: Mapping[str, str]
) -> dict[str, str]:
    """The name of the icon of each emoji that a package has: by its code points, or by its names where it has none."""
    if icons.codes:
        return {code: name for code, name in icons.codes.items() if code in emoji}
    named = {one.name: one.code for one in emoji.values()}
    found: dict[str, str] = {}
    for name in icons.icons:
        code = named.get(own[name]) if name in own else by_name.get(squeezed(name))
        if code is not None:
            found.setdefault(code, name)
    return found
