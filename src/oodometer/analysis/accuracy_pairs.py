"""Models as points: accuracy on the clean set (or sets) and under a shift; from a table here, from a store nearby."""

from __future__ import annotations

import csv
import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from oodometer.analysis.families import family_of
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import share_of
from oodometer.store.cells import Cell
from oodometer.store.tables import Accuracy

MOST_NAMES = 5
"""More models than these are counted, not named."""


@dataclass(frozen=True)
class Origin:
    """Where a model comes from.

    Args:
        category: ``standard``, or what was done to it; empty where nobody says.
        parent: The model that it was made from, where it is known.
    """

    category: str = ""
    parent: str | None = None


@dataclass(frozen=True)
class Point:
    """One model: its accuracy on each clean set, and under the shift."""

    model: str
    origin: Origin
    x: tuple[Estimate, ...]
    y: Estimate


@dataclass(frozen=True)
class Points:
    """The models that were measured on both sides of a shift.

    Args:
        x: Names of the clean sets.
        y: The name of the shift.
        conditions: What ``y`` is the mean of; one, where it is no family.
        right_x, right_y: Per model and image of the first clean set and of the shift, whether it was right (or the
            share of the conditions in which it was), (M, N), all models on the same images; None where only accuracies
            are known.
        same_images: Whether the columns of both are the same photographs.
        notes: What a reader should know: models and images that were left out.
        cells: Model to its cells on the clean sets and those on ``conditions``; none where only accuracies are known.
    """

    x: tuple[str, ...]
    y: str
    conditions: tuple[str, ...]
    models: tuple[Point, ...]
    right_x: np.ndarray | None = None
    right_y: np.ndarray | None = None
    same_images: bool = False
    notes: tuple[str, ...] = ()
    cells: Mapping[str, tuple[tuple[Cell, ...], tuple[Cell, ...]]] = field(default_factory=dict)


def points_of_table(
    rows: Sequence[Accuracy], x: Sequence[str], y: str, *, origins: Mapping[str, Origin], level: float
) -> Points:
    """The models of a table that were measured on both sides; a family as ``y`` is averaged over its conditions."""
    known = dict.fromkeys(row.condition for row in rows)
    shifted = conditions_named(y, known, "the table")
    for name in x:
        conditions_named(name, known, "the table", exact=True)
    check_sides(x, shifted)
    wanted = {*x, *shifted}
    by_model: dict[str, dict[str, Accuracy]] = {}
    for row in rows:
        cells = by_model.setdefault(row.model, {})
        if row.condition in wanted and row.condition in cells:
            sources = f"{cells[row.condition].source} and {row.source}"
            raise DataError(
                f"two accuracies of {row.model} on {row.condition} ({sources}); give one table with --table"
            )
        cells[row.condition] = row
    both = {model: cells for model, cells in by_model.items() if wanted <= set(cells)}
    where = f"{', '.join(x)} and {y}"
    if not both:
        raise DataError(f"the table: no model was measured on {where}")
    found = [
        Point(
            model,
            origins.get(model, Origin()),
            tuple(_estimate(cells[name], level) for name in x),
            _mean([cells[name] for name in shifted], level),
        )
        for model, cells in both.items()
    ]
    lacking = [model for model in by_model if model not in both]
    notes = [f"left out, not measured on {where}: {named(lacking)}"] if lacking else []
    return Points(tuple(x), y, tuple(shifted), tuple(found), notes=tuple(notes))


def conditions_named(name: str, known: Iterable[str], where: str, *, exact: bool = False) -> list[str]:
    """The condition of that name, or all of the family of that name, or all that fit the pattern."""
    names = list(known)
    if name in names:
        return [name]
    some = [] if exact else [one for one in names if _is_of(one, name) or fnmatch.fnmatchcase(one, name)]
    if not some:
        families = {family_of(one) or one.partition("/")[0] for one in names}
        raise UsageError(f"{where}: nothing was measured on {name!r}{did_you_mean(name, {*names, *families})}")
    return some


def _is_of(condition: str, family: str) -> bool:
    return condition.startswith(f"{family}/") or family_of(condition) == family


def check_sides(x: Sequence[str], y: Sequence[str]) -> None:
    """An error where a set would be compared with itself."""
    for name in x:
        if name in y or list(x).count(name) > 1:
            raise UsageError(f"{name} is given twice: the clean sets and the shift must be different ones")


def named(models: Sequence[str]) -> str:
    """The models by name where they are few, else their number.

    >>> named(["a", "b"]), named(list("abcdef"))
    ('a, b', '6 models')
    """
    return ", ".join(models) if len(models) <= MOST_NAMES else f"{len(models)} models"


def _estimate(row: Accuracy, level: float) -> Estimate:
    if row.n is None:
        return Estimate(row.accuracy, None, None, None, "none: n is not known")
    near = share_of(round(row.accuracy * row.n), row.n, level=level)
    return Estimate(row.accuracy, near.low, near.high, row.n, near.interval)


def _mean(rows: Sequence[Accuracy], level: float) -> Estimate:
    if len(rows) == 1:
        return _estimate(rows[0], level)
    value = float(np.mean([row.accuracy for row in rows]))
    return Estimate(value, None, None, None, f"none: a mean over {len(rows)} conditions of a table")


def read_origins(path: str) -> dict[str, Origin]:
    """Model to where it comes from: a CSV table with the columns model, category and maybe parent."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
            if not {"model", "category"} <= set(reader.fieldnames):
                raise DataError(f"{path}: expected the columns model,category and maybe parent")
            rows = [{name: (row.get(name) or "").strip() for name in ("model", "category", "parent")} for row in reader]
    except FileNotFoundError:
        raise DataError(f"{path}: no such table of categories") from None
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise DataError(f"{path}: not a CSV table ({error})") from error
    found: dict[str, Origin] = {}
    for row in rows:
        origin = Origin(row["category"], row["parent"] or None)
        if found.setdefault(row["model"], origin) != origin:
            raise DataError(f"{path}: two different lines about {row['model']}")
    return found
