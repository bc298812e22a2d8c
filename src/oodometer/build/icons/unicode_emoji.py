"""Unicode's list of emoji: code points, names and subgroups."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SKIN_TONES = frozenset(f"1f3f{last}" for last in "bcdef")
_PRESENTATION = "fe0f"


@dataclass(frozen=True)
class Emoji:
    """An emoji.

    Args:
        code: Its code points, without the selector of coloured presentation, which vendors set or leave out.
        name: As Unicode has it.
        subgroup: Of the emoji without skin tones, as is ``broad_name``.
    """

    code: str
    name: str
    subgroup: str
    broad_name: str

    @property
    def has_skin_tone(self) -> bool:
        """Whether one of its code points is a skin tone."""
        return not SKIN_TONES.isdisjoint(self.code.split("-"))

    @property
    def slug(self) -> str:
        """Its name as part of a file name.

        >>> Emoji("1f45e", "man’s shoe", "clothing", "man’s shoe").slug
        'mans_shoe'
        """
        return slug_of(self.name)


def code_of(points: str) -> str:
    """Code points in one way of writing.

    >>> code_of("0023-FE0F-20E3"), code_of("1F468 200D 1F373")
    ('23-20e3', '1f468-200d-1f373')
    """
    numbers = [f"{int(point, 16):x}" for point in re.split(r"[-\s_]+", points.strip())]
    return "-".join(number for number in numbers if number != _PRESENTATION)


def slug_of(name: str) -> str:
    """A name in plain small letters and digits, ``_`` between the words.

    >>> slug_of("flag: Côte d’Ivoire"), slug_of("Japanese “here” button"), slug_of("keycap: 1")
    ('flag_cote_divoire', 'japanese_here_button', 'keycap_1')
    >>> slug_of("keycap: #"), slug_of("keycap: *")
    ('keycap_hash', 'keycap_asterisk')
    """
    spoken = name.replace("#", "hash").replace("*", "asterisk").replace("’", "").replace("'", "")
    plain = unicodedata.normalize("NFKD", spoken).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")


def read_emoji(rows: list[dict[str, Any]]) -> Mapping[str, Emoji]:
    """Every emoji by its code, in Unicode's order."""
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(code_of(row["codes"]), row)
    return {code: _emoji(code, row, first) for code, row in first.items()}


def _emoji(code: str, row: dict[str, Any], every: Mapping[str, dict[str, Any]]) -> Emoji:
    without = "-".join(point for point in code.split("-") if point not in SKIN_TONES)
    broad = every.get(without, row)
    return Emoji(code, row["name"], broad["subgroup"], broad["name"])
