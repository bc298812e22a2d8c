"""What a section is made of: plain data, that a writer turns into a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from oodometer.document.table import Table


@dataclass(frozen=True)
class Plot:
    """A plot, and the same numbers as a table.

    Args:
        id: Its own on the page.
        caption: What it shows, for those who see it and for those who don't.
        draw: The function of the scripts that draws it: ``oodometer.draw[NAME](element, data)``.
        data: What that function gets, plain values.
        height: In pixels.
        table: The numbers behind it; None where the script makes one of what is chosen, or another plot has it.
    """

    id: str
    caption: str
    draw: str
    data: Mapping[str, Any]
    height: int = 460
    table: Table | None = None


@dataclass(frozen=True)
class Pictures:
    """Small images, embedded: each with its source (a ``data:`` address), what it shows, and lines below it."""

    id: str
    caption: str
    images: tuple[tuple[str, str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Words:
    """Paragraphs, or lines of a list, or commands; below a heading, if it has one."""

    lines: tuple[str, ...]
    kind: Literal["paragraphs", "list", "commands", "note"] = "paragraphs"
    title: str = ""


Part = Table | Plot | Pictures | Words


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Args:
        id: Of its heading, for links.
        lead: What it says, in plain sentences.
        short: What the navigation calls it; nothing: its title.
    """

    id: str
    title: str
    lead: tuple[str, ...]
    parts: tuple[Part, ...]
    short: str = ""
