"""A table of models: a row for each, with its category and parent, and columns of numbers."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from oodometer.analysis.origins import Origin
from oodometer.analysis.point_standing import Standings
from oodometer.analysis.points import named
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.document.table import Column, Table
from oodometer.report.palette import UNKNOWN
from oodometer.report.tables.best import Differ, best_of
from oodometer.report.tables.options import TableOptions
from oodometer.study import Study

Stand = Callable[[Mapping[str, Estimate]], Standings]
"""How models of these accuracies stand to each other."""

MODEL = "model"
"""What to sort by for the order of the names."""

RANK = "rank"
"""The id of the column of ranks."""

MODEL_COLUMNS = (
    Column("Model", id=MODEL),
    Column(
        "Category", about="What the model is, by its card or by the table of categories.", hidden=True, id="category"
    ),
    Column("Parent", about="The model that it was made from.", hidden=True, id="parent"),
)
"""What stands before the numbers; on paper the categories are groups of rows."""

MOST_NAMES = 12
"""Of columns, in a message."""


@dataclass(frozen=True)
class Numbers:
    """A column, and its number of each model that has one.

    Args:
        kind: What is told: ``clean``, ``rho`` and so on, the same under every shift.
        said: What it is called in a footnote, where that is not its name.
        differ: The difference of two models, the first minus the second, with its interval; where that is not known,
            two are told apart by intervals that do not overlap.
        stand: How the models stand to each other, where they can be ranked by it.
    """

    column: Column
    values: Mapping[str, Estimate]
    kind: str = ""
    said: str = ""
    differ: Differ | None = field(default=None, compare=False)
    stand: Stand | None = field(default=None, compare=False)

    @cached_property
    def best(self) -> str | None:
        """The model that is better than every other, where it can be told from them."""
        return best_of(self.values, self.column.better, self.differ) if self.column.better else None

    def of(self, models: Collection[str]) -> Numbers:
        """The same of these models alone."""
        return replace(self, values={name: one for name, one in self.values.items() if name in models})


@dataclass(frozen=True)
class Words:
    """What a table is called, and what stands around it; the fields are those of `Table`.

    Args:
        ranked: Whether the ranks that models may have by the column that they are sorted by are told.
    """

    id: str
    caption: str
    footnotes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ranked: bool = False


def study_table(study: Study, numbers: Sequence[Numbers], words: Words, options: TableOptions) -> Table:
    """The models of a study that are wanted and have a number; those that have none are named in a note."""
    origins = {model.name: model.origin for model in study.models}
    wanted = {name: origins[name] for name in wanted_models(study, options.models)}
    known = {name: origin for name, origin in wanted.items() if any(name in one.values for one in numbers)}
    without = [name for name in wanted if name not in known]
    left_out = (f"left out, without any of these numbers: {named(without)}",) if without else ()
    notes = (*study.notes, *words.notes, *left_out)
    return model_table(known, numbers, replace(words, notes=notes), options)


def model_table(
    origins: Mapping[str, Origin], numbers: Sequence[Numbers], words: Words, options: TableOptions
) -> Table:
    """Models by name, sorted, and those of one category together."""
    names = list(origins)
    if numbers and (options.sort or numbers[0].column.better):
        names.sort(key=_order(numbers, options.sort))
    categories = sorted(
        {origin.category for origin in origins.values()}, key=lambda one: (one != "standard", not one, one)
    )
    groups: tuple[tuple[str, int], ...] = ()
    if options.grouped and len(categories) > 1:
        names.sort(key=lambda name: categories.index(origins[name].category))
        of_models = [origin.category for origin in origins.values()]
        groups = tuple((one or UNKNOWN, of_models.count(one)) for one in categories)
    ranks = _ranks(origins, numbers, options.sort) if words.ranked else None
    before = (*MODEL_COLUMNS, *([ranks.column] if ranks else []))
    best = {place: one.best for place, one in enumerate(numbers, start=len(before))}
    return Table(
        words.id,
        words.caption,
        (*before, *(one.column for one in numbers)),
        tuple(
            (
                name,
                origins[name].category,
                origins[name].parent,
                *([ranks.of.get(name)] if ranks else []),
                *(one.values.get(name) for one in numbers),
            )
            for name in names
        ),
        groups=groups,
        bold=frozenset((names.index(name), place) for place, name in best.items() if name is not None),
        footnotes=(*words.footnotes, *([ranks.footnote] if ranks else [])),
        notes=words.notes,
    )


@dataclass(frozen=True)
class _Ranks:
    """The column of the ranks that models may have, and what stands below the table about it."""

    column: Column
    of: Mapping[str, str]
    footnote: str


def _ranks(origins: Collection[str], numbers: Sequence[Numbers], sort: str) -> _Ranks | None:
    """By the column that the table is sorted by; None where no two models can be tested."""
    sorted_by = [one for one in numbers if one.column.key == sort] if sort else list(numbers[:1])
    if not sorted_by or sorted_by[0].stand is None:
        return None
    found = sorted_by[0].stand(sorted_by[0].of(origins).values)
    if not found.how:
        return None
    n = found.n_untested
    more = f"; ?: not all pairs can be tested ({n:,} can't), as their images are not known" if n else ""
    said = f"by {sorted_by[0].said or sorted_by[0].column.name}, those that a model may have: each model from which it "
    about = f"{said}can be told apart takes one away ({found.how}{more})."
    return _Ranks(Column("Rank", about=f"Ranks {about}", id=RANK), found.ranks, f"Ranks: {about}")


def on_page(table: Table, is_shown: Callable[[Column], bool]) -> Table:
    """The table for a page: with the categories, by which it is filtered; columns that are not shown can be chosen."""
    return replace(
        table,
        columns=tuple(replace(column, hidden=not is_shown(column)) for column in table.columns),
        rows=tuple((name, category or UNKNOWN, *rest) for name, category, *rest in table.rows),
        filters="Category",
        notes=(),
    )


def wanted_models(study: Study, patterns: Sequence[str]) -> list[str]:
    """The names of the models that are asked for, in the study's order."""
    names = [model.name for model in study.models]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise UsageError(f"{study.address}: no model is like {pattern!r}{did_you_mean(pattern, names)}")
    return [name for name in names if not patterns or any(fnmatch.fnmatchcase(name, one) for one in patterns)]


def _order(numbers: Sequence[Numbers], sort: str) -> Callable[[str], tuple[Any, ...]]:
    """What models are sorted by: the best first, those without the number last, equals by name."""
    if sort == MODEL:
        return lambda name: (name,)
    ids = [one.column.key for one in numbers]
    if sort and sort not in ids:
        hint = did_you_mean(sort, [MODEL, *ids]) or f"; there are: {', '.join(ids[:MOST_NAMES])}, ..."
        raise UsageError(f"no column {sort!r} to sort by{hint}")
    by = numbers[ids.index(sort) if sort else 0]
    sign = 1 if by.column.better == "low" else -1

    def key(name: str) -> tuple[bool, float, str]:
        value = by.values.get(name)
        return value is None, 0.0 if value is None else sign * value.value, name

    return key
