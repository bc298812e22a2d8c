"""What a section is made of: plain data, that a writer turns into a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from oodometer.core.estimate import Estimate
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
class DotRow:
    """A model of `Dots`.

    Args:
        rank: In words: ``1``, or ``1–3`` where it is tied.
        category: By which it is coloured.
        pairs: For each panel where the line begins and where it ends, the clean and the shifted accuracy.
        mean: Over all panels that count.
        link: Where the name leads, if anywhere.
    """

    name: str
    rank: str
    category: str
    pairs: tuple[tuple[Estimate | None, Estimate | None], ...]
    mean: Estimate | None = None
    link: str = ""


@dataclass(frozen=True)
class Dots:
    """Models by shifts: in every panel a line from the clean to the shifted accuracy, with the interval of the latter.

    Args:
        id: Its own on the page.
        panels: What each is called.
        rows: The best first.
        ties: First and last row of runs that can't be told apart.
        shown: How many rows stand there at once; the others are folded.
    """

    id: str
    caption: str
    panels: tuple[str, ...]
    rows: tuple[DotRow, ...]
    ties: tuple[tuple[int, int], ...] = ()
    shown: int = 30


@dataclass(frozen=True)
class Words:
    """Paragraphs, or lines of a list, or commands; below a heading, if it has one.

    Args:
        evidence: For each line the id of the section that shows what it says; none: no line has one.
    """

    lines: tuple[str, ...]
    kind: Literal["paragraphs", "list", "commands", "note"] = "paragraphs"
    title: str = ""
    evidence: tuple[str, ...] = ()


Part = Table | Plot | Dots | Pictures | Words


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
