"""The section of the hardest images: what most models miss, and what they take it for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from oodometer.analysis.hardest import Hardest, HardImage
from oodometer.core.errors import OodometerError
from oodometer.document.section import Part, Pictures, Section, Words
from oodometer.document.table import Column, Table
from oodometer.report.html.thumbnails import thumbnail
from oodometer.store.cells import Cell
from oodometer.study import Picture, Study
from oodometer.study.evidence import hardest_images
from oodometer.study.hard_conditions import cells_of_most, hard_conditions

MOST_CONDITIONS = 6
MOST_PICTURES = 24
MOST_BYTES = 300_000
LOOKED_AT = 1000
"""Of so many of the hardest images, those that are shown are chosen."""


def section(study: Study) -> Section | None:
    """What most models miss on the clean set and under each natural shift; None without predictions."""
    asked = hard_conditions(study)
    found: list[tuple[Sequence[Cell], Hardest]] = []
    notes: list[str] = []
    for condition in asked[:MOST_CONDITIONS]:
        cells = cells_of_most(study, condition)
        try:
            hard = hardest_images(study, cells, top=LOOKED_AT)
        except OodometerError as error:
            notes.append(f"{condition.name}: {error}")
            continue
        if hard.images:
            found.append((cells, hard))
    if not found:
        return None
    each = max(4, min(12, MOST_PICTURES // len(found)))
    chosen = [(cells, hard, _chosen(hard.images, each)) for cells, hard in found]
    pictures = _with_pictures(study.picture, chosen) if study.picture else []
    parts: list[Part] = [*pictures, _table(chosen, folded=bool(pictures))]
    if more := [one.name for one in asked[MOST_CONDITIONS:]]:
        notes.append(f"Not shown: {', '.join(more)}.")
    if notes:
        parts.append(Words(tuple(notes), "note"))
    return Section("hardest", "Hardest images", _lead(chosen, shown=bool(pictures)), tuple(parts))


Chosen = tuple[Sequence[Cell], Hardest, Sequence[HardImage]]
"""The cells of a condition, its hardest images, and those of them that are shown."""


def _chosen(images: Sequence[HardImage], n: int) -> list[HardImage]:
    """The hardest ones; of equally hard ones those on whose error most models agree, and each class in turn."""
    found: list[HardImage] = []
    for _, group in groupby(images, key=lambda one: one.missed_by):
        seen: Counter[str] = Counter()
        turns = []
        for one in sorted(group, key=lambda one: -one.instead_by):
            turns.append((seen[one.label], -one.instead_by, one))
            seen[one.label] += 1
        found += [one for *_, one in sorted(turns, key=lambda turn: turn[:2])]
        if len(found) >= n:
            break
    return found[:n]


def _lead(chosen: Sequence[Chosen], *, shown: bool) -> tuple[str, ...]:
    n_models = len(chosen[0][1].models)
    if n_models == 1:
        first = f"Only {chosen[0][1].models[0]} was asked, so there is no hardest image: these are some that it misses."
    else:
        first = (
            "The images that most models miss, and what most of these take them for. Where all fail together, look at "
            "the label first: it may be what is wrong."
        )
    order = "Of equally hard images, those on whose error most models agree come first, each class in turn."
    without = "The images themselves are not shown: give their data with --data."
    return (f"{first} {order}",) if shown else (f"{first} {order}", without)


def _with_pictures(picture: Picture, chosen: Sequence[Chosen]) -> list[Pictures]:
    """The images of each condition that are there, until the page would be too large."""
    parts, left = [], MOST_BYTES
    for number, (cells, hard, images) in enumerate(chosen):
        shown = []
        for one in images:
            pixels = picture(cells[0], one.image)
            source = thumbnail(pixels) if pixels is not None else ""
            if source and len(source) <= left:
                left -= len(source)
                shown.append((source, _alternative(one), _lines(one)))
        if shown:
            parts.append(Pictures(f"hardest-{number}", _caption(hard, len(shown)), tuple(shown)))
    return parts


def _alternative(one: HardImage) -> str:
    return f"{one.image}: {one.label}, missed by {one.missed_by} of {one.models} models"


def _lines(one: HardImage) -> tuple[str, ...]:
    if one.models == 1:
        return (one.label, f"called {one.instead}")
    call = "calls" if one.instead_by == 1 else "call"
    return (one.label, f"missed by {one.missed_by} of {one.models}", f"{one.instead_by} {call} it {one.instead}")


def _caption(hard: Hardest, n: int) -> str:
    """How many images every model misses, and that these are some of them."""
    on = f"{hard.condition} on {hard.data}" if hard.data != hard.condition else hard.condition
    every = sum(one.missed_by == one.models for one in hard.images)
    # If all that were looked at are missed by all, there may be more.
    many = f"{every:,}" if every < LOOKED_AT else f"at least {every:,}"
    if len(hard.models) == 1:
        return f"{on}: {n} of {many} images that {hard.models[0]} misses, of {hard.n:,}."
    verb = "is" if every == 1 else "are"
    who = "both models" if len(hard.models) == 2 else f"all {len(hard.models)} models"
    return f"{on}: of {hard.n:,} images, {many} {verb} missed by {who}. Shown: {n}."


def _table(chosen: Sequence[Chosen], *, folded: bool) -> Table:
    columns = (
        Column("Condition"),
        Column("Image", about="Its id in the data."),
        Column("Class", about="The true one."),
        Column("Missed by", "count", about="How many models miss it."),
        Column("Models", "count", about="How many were asked about it."),
        Column("Most often called", about="The wrong class that most models name."),
        Column("By", "count", about="How many name it."),
    )
    rows = tuple(
        (hard.condition, one.image, one.label, one.missed_by, one.models, one.instead, one.instead_by)
        for _, hard, images in chosen
        for one in images
    )
    return Table("hardest-table", "The hardest images of each condition.", columns, rows, folded=folded)
