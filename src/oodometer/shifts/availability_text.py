"""The overview of shifts as text: the root, the shifts by kind, the groups, the sets."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from oodometer.core.columns import columns

if TYPE_CHECKING:
    from oodometer.shifts.availability import Overview

WIDTH = 120
STATES = {True: "yes", False: "no", None: "-"}


def overview_text(overview: Overview) -> str:
    """All of it, an empty line between the sections."""
    known = overview.root is not None
    shifts = [["shift", "kind", *(["run"] if known else []), "needs"]]
    shifts += [
        [shift.name, shift.kind, *([STATES[shift.there]] if known else []), shift.needs] for shift in overview.shifts
    ]
    groups = [["group", "members", *(["there"] if known else [])]]
    groups += [
        [group.name, str(len(group.members)), *([str(len(group.there))] if known else [])] for group in overview.groups
    ]
    return "\n\n".join([_root(overview), columns(shifts), columns(groups), *_sets(overview)])


def _root(overview: Overview) -> str:
    n_there = sum(listed.place is not None for listed in overview.sets)
    root = (
        f"data root: {overview.root}, which has {n_there} of {len(overview.sets)} published sets"
        if overview.root is not None
        else "no data root: name the folder of your data sets with --data-root DIR or OODOMETER_DATA"
    )
    return f"{root}\nclean images: those of --data, or imagenet of the root"


def _sets(overview: Overview) -> list[str]:
    """Where the sets lie, which are packed, and where to get the others, by their pages."""
    sections = []
    there = [[listed.name, _below(listed.place, overview.root)] for listed in overview.sets if listed.place is not None]
    if there:
        sections.append(columns([["set", "place"], *there]))
    packed = [f"{listed.name}: {listed.not_unpacked}" for listed in overview.sets if listed.not_unpacked]
    if packed:
        sections.append("\n".join(["not unpacked", *(f"  {line}" for line in packed)]))
    pages: dict[str, list[str]] = {}
    for listed in overview.sets:
        if listed.place is None and not listed.not_unpacked:
            pages.setdefault(listed.page, []).append(listed.name)
    if pages:
        title = "missing sets, and where to get them" if overview.root else "the sets' pages"
        lines = [line for page, names in pages.items() for line in (f"  {page}", *_wrapped(names))]
        sections.append("\n".join([title, *lines]))
    return sections


def _wrapped(names: list[str]) -> list[str]:
    indent = "    "
    return textwrap.wrap(
        ", ".join(names), WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _below(place: str, root: str | None) -> str:
    return place.removeprefix(root or "").lstrip("/\\")
