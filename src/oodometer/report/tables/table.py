"""A table of models: a line for each, every number with its interval; how it is written is said elsewhere."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from oodometer.analysis.points import named
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.report.tables.best import Differ, best_of
from oodometer.study import Study

if TYPE_CHECKING:
    from oodometer.document.numbers import IntervalStyle

MODEL = "model"
"""What to sort by for the order of the names."""

WRITERS = {
    "latex": "oodometer.report.tables.latex:latex_of",
    "markdown": "oodometer.report.tables.markdown:markdown_of",
    "csv": "oodometer.report.tables.comma_separated:csv_of",
    "text": "oodometer.report.tables.plain_text:text_of",
}
"""Who writes a table in each form."""

ENDINGS = {".tex": "latex", ".md": "markdown", ".csv": "csv"}
"""What a file's ending says about the form; of all others text."""

MOST_NAMES = 12
"""Of columns, in a message."""


@dataclass(frozen=True)
class TableOptions:
    """What is put into a table.

    Args:
        shifts: By name; none: those that the table has room for.
        columns: What is told of each shift; none: what is usual.
        models: Patterns (``resnet*``) of the models that are wanted; none: all.
        sort: The id of the column whose best comes first, or ``model``; empty: the first column, where it has a best,
            or the best on the clean set.
        grouped: Whether models of one category stand together, where there are several.
        most: How many shifts at most where none are named; None: all.
    """

    shifts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    sort: str = ""
    grouped: bool = True
    most: int | None = 4


@dataclass(frozen=True)
class Column:
    """One number of each model.

    Args:
        id: By which it is asked for: ``clean``, a shift, ``rho:SHIFT``.
        title: Above the numbers; ``over``, above neighbouring columns, what these are about; ``label`` what it is
            called in a sentence, where it is not its title.
        unit: Shares as per cent, or differences of shares as signed points.
        better: Which end is the good one; None where neither is, and nothing is bold.
        values: By model; None where it was not measured.
        differ: The difference of two models, the first minus the second, with its interval; where that is not known,
            two are told apart by intervals that do not overlap.
    """

    id: str
    title: str
    unit: Literal["percent", "points"]
    better: Literal["high", "low"] | None
    values: Mapping[str, Estimate]
    over: str = ""
    label: str = ""
    differ: Differ | None = field(default=None, compare=False)

    def best(self) -> str | None:
        """The model that is better than every other, where it can be told from them."""
        return best_of(self.values, self.better, self.differ) if self.better else None


@dataclass(frozen=True)
class Row:
    """One model: its numbers, and which of them are the best of their columns."""

    model: str
    category: str
    parent: str | None
    cells: tuple[Estimate | None, ...]
    bold: tuple[bool, ...]


@dataclass(frozen=True)
class ModelTable:
    """Models and their numbers; prints as text, and `written` in other forms.

    Args:
        name: What sort of table it is: ``leaderboard`` and so on.
        caption: What it shows, in a sentence.
        groups: The rows of each category; one without a name where they are not grouped.
        footnotes: How many images, which intervals, what is bold, what signs mean.
        notes: What a reader should know about the whole: what was left out.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    groups: tuple[tuple[str, tuple[Row, ...]], ...]
    footnotes: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """Of all groups, in order."""
        return tuple(row for _, rows in self.groups for row in rows)

    def __str__(self) -> str:
        return self.written("text")

    def written(self, form: str, interval: IntervalStyle | None = None) -> str:
        """The table as ``latex`` (it wants the package booktabs), ``markdown``, ``csv`` (full precision) or ``text``.

        Args:
            interval: How intervals are shown; None: in brackets, or not at all beside more than 10 numbers.
        """
        if form not in WRITERS:
            raise UsageError(
                f"no form {form!r} of a table{did_you_mean(form, WRITERS)}; there are {', '.join(WRITERS)}"
            )
        module, _, name = WRITERS[form].partition(":")
        write = getattr(import_module(module), name)
        text: str = write(self) if form == "csv" else write(self, interval)
        return text

    def write(self, path: str | Path, form: str = "", interval: IntervalStyle | None = None) -> None:
        """Write the table into a file, whose ending says the form where nobody does."""
        text = self.written(form or form_of(path), interval)
        try:
            # As it is: CSV brings its own ends of lines.
            Path(path).write_bytes((text if text.endswith("\n") else f"{text}\n").encode())
        except OSError as error:
            raise UsageError(f"{path}: can't be written ({error.strerror})") from error

    def as_json(self) -> dict[str, Any]:
        """The table as plain values."""
        described = ("id", "title", "over", "unit", "better")
        return {
            "name": self.name,
            "caption": self.caption,
            "columns": [{key: getattr(one, key) for key in described} for one in self.columns],
            "models": [
                {
                    "model": row.model,
                    "category": row.category,
                    "parent": row.parent,
                    "values": {
                        column.id: None if cell is None else {**asdict(cell), "best": bold}
                        for column, cell, bold in zip(self.columns, row.cells, row.bold, strict=True)
                    },
                }
                for row in self.rows
            ],
            "footnotes": list(self.footnotes),
            "notes": list(self.notes),
        }


def form_of(path: str | Path) -> str:
    """The form of a file, by its ending.

    >>> form_of("paper/robustness.tex"), form_of("robustness.txt")
    ('latex', 'text')
    """
    return ENDINGS.get(Path(path).suffix, "text")


def rows_in_groups(
    study: Study, columns: Sequence[Column], options: TableOptions
) -> tuple[tuple[str, tuple[Row, ...]], ...]:
    """The models that have a number, sorted, and those of one category together."""
    best = [column.best() for column in columns]
    origins = {model.name: model.origin for model in study.models}
    rows = [
        Row(
            name,
            origins[name].category,
            origins[name].parent,
            tuple(column.values.get(name) for column in columns),
            tuple(name == one for one in best),
        )
        for name in wanted_models(study, options.models)
        if any(name in column.values for column in columns)
    ]
    if options.sort or columns[0].better:
        rows.sort(key=_order(columns, options.sort))
    categories = dict.fromkeys(row.category for row in rows)
    if not options.grouped or len(categories) < 2:
        return (("", tuple(rows)),)
    first = sorted(categories, key=lambda name: (name != "standard", not name, name))
    return tuple((name or "category unknown", tuple(row for row in rows if row.category == name)) for name in first)


def left_out(study: Study, columns: Sequence[Column], options: TableOptions) -> list[str]:
    """A note on the models that are wanted and have no number."""
    names = [name for name in wanted_models(study, options.models) if not any(name in one.values for one in columns)]
    return [f"left out, without any of these numbers: {named(names)}"] if names else []


def wanted_models(study: Study, patterns: Sequence[str]) -> list[str]:
    """The names of the models that are asked for, in the study's order."""
    names = [model.name for model in study.models]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise UsageError(f"{study.address}: no model is like {pattern!r}{did_you_mean(pattern, names)}")
    return [name for name in names if not patterns or any(fnmatch.fnmatchcase(name, one) for one in patterns)]


def _order(columns: Sequence[Column], sort: str) -> Callable[[Row], tuple[Any, ...]]:
    """What rows are sorted by: the best first, those without the number last, equals by name."""
    if sort == MODEL:
        return lambda row: (row.model,)
    ids = [column.id for column in columns]
    if sort and sort not in ids:
        hint = did_you_mean(sort, [MODEL, *ids]) or f"; there are: {', '.join(ids[:MOST_NAMES])}, ..."
        raise UsageError(f"no column {sort!r} to sort by{hint}")
    place = ids.index(sort) if sort else 0
    sign = 1 if columns[place].better == "low" else -1

    def key(row: Row) -> tuple[bool, float, str]:
        cell = row.cells[place]
        return cell is None, 0.0 if cell is None else sign * cell.value, row.model

    return key
