"""A figure of a store, in a file; and which kinds of figures a store has the data for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from oodometer.analysis.line_rules import DEFAULT_OPTIONS as DEFAULT_LINE
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.columns import columns
from oodometer.core.errors import StoreError, UsageError
from oodometer.figures.kinds import Kind, draw, figure_kinds
from oodometer.figures.options import DEFAULT_OPTIONS, FigureOptions
from oodometer.figures.published import published_origins, published_store
from oodometer.figures.style import check_end, notes_of, save
from oodometer.store.index import Index, Source, index_at
from oodometer.study import CLEAN_NAMES, Study, study_of

PUBLISHED = "published:"
"""Before the name of a printed table that stands for a store."""

MOST_NAMES = 12


@dataclass(frozen=True)
class Drawn:
    """A figure that was written.

    Args:
        width, height: In inches.
        notes: What a reader of it should know: what was left out, and how its lines were drawn.
    """

    path: str
    width: float
    height: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}  {self.width:.2f} x {self.height:.2f} in"

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def figure(
    store: Source,
    kind: str,
    path: str | os.PathLike[str] = "",
    *,
    options: FigureOptions = DEFAULT_OPTIONS,
    origins: Mapping[str, Origin] | None = None,
    line: RobustnessOptions = DEFAULT_LINE,
) -> Drawn:
    """Draw one figure for a paper from a store.

    Args:
        store: Or the printed table of a paper, as ``published:recht2019_imagenet``.
        kind: One of `figure_list`.
        path: Where to; it ends in .pdf, .svg or .png. By default KIND.pdf.
        options: Which shifts and models, and the width; where there is only one shift it need not be named.
        origins: Category and parent of models whose cards do not say.
        line: How the lines from clean to shifted accuracy are drawn.
    """
    wanted = figure_kinds.get(kind)
    target = os.fspath(path) or f"{kind}.pdf"
    check_end(target)
    index, known = _source(store, origins or {})
    study = study_of(index, origins=known, options=line, only=())
    if lacking := wanted.lacking(study):
        raise StoreError(f"{_called(store)}: {kind} needs {lacking}")
    pairs = _pairs(study, kind, wanted, options)
    if pairs:
        study = study_of(index, origins=known, options=line, only=pairs)
    drawn = draw(study, kind, options)
    save(drawn, target)
    width, height = drawn.get_size_inches()
    about_shifts = [
        note for shift in study.shifts for note in (shift.notes if wanted.about_lines else shift.points.notes)
    ]
    notes = [*about_shifts, *notes_of(drawn)]
    return Drawn(target, float(width), float(height), tuple(dict.fromkeys(notes)))


def _source(store: Source, origins: Mapping[str, Origin]) -> tuple[Index, Mapping[str, Origin]]:
    """Where the numbers come from, and the models; what is known of a printed table's, unless the user says."""
    if not (isinstance(store, str) and store.startswith(PUBLISHED)):
        return index_at(store), origins
    table = store.removeprefix(PUBLISHED)
    return published_store(table), published_origins(table) | dict(origins)


def _pairs(study: Study, kind: str, wanted: Kind, options: FigureOptions) -> list[str]:
    """The shifts whose two sides are compared: those that are named, or the only one that there is."""
    alone = wanted.alone(study)
    named = options.shifts or ([_only_shift(study, kind)] if wanted.needs_shift and len(study.conditions) > 1 else [])
    return [name for name in named if name not in alone]


def _called(store: Source) -> str:
    return str(store).removeprefix(PUBLISHED)


def _only_shift(study: Study, kind: str) -> str:
    """The shift that is meant where none is named: the only one that was measured."""
    measured = [condition for condition in study.conditions if condition.name not in CLEAN_NAMES]
    names = list(dict.fromkeys(condition.family or condition.name for condition in measured))
    if len(names) != 1:
        some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
        raise UsageError(f"{kind}: name a shift with --shift; measured were {some}")
    return names[0]


@dataclass(frozen=True)
class FigureList:
    """The kinds of figures; prints as a table.

    Args:
        lacking: By kind, why it can't be drawn from the store that was asked about; empty where it can. None where
            none was.
    """

    kinds: Mapping[str, Kind]
    lacking: Mapping[str, str] | None

    def __str__(self) -> str:
        if self.lacking is None:
            rows = [[name, kind.about, kind.after] for name, kind in self.kinds.items()]
            return columns([["kind", "shows", "after"], *rows])
        states = {name: f"needs {lacking}" if lacking else "yes" for name, lacking in self.lacking.items()}
        rows = [[name, states[name], kind.about] for name, kind in self.kinds.items()]
        return columns([["kind", "from this store", "shows"], *rows])

    def as_json(self) -> list[dict[str, Any]]:
        """The kinds as plain values."""
        return [
            {"kind": name, "about": kind.about, "after": kind.after, "needs": kind.needs}
            | ({} if self.lacking is None else {"lacking": self.lacking[name]})
            for name, kind in self.kinds.items()
        ]


def figure_list(
    store: Source | None = None,
    *,
    origins: Mapping[str, Origin] | None = None,
    line: RobustnessOptions = DEFAULT_LINE,
) -> FigureList:
    """The kinds of figures that there are, and which of them a store has the data for; with lines as of `figure`."""
    kinds = {name: figure_kinds.get(name) for name in figure_kinds.names()}
    if store is None:
        return FigureList(kinds, None)
    study = study_of(store, origins=origins, options=line, only=())
    return FigureList(kinds, {name: kind.lacking(study) for name, kind in kinds.items()})
