"""Models as points: accuracy on the clean set (or sets) and under a shift, from a store or from a table."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from oodometer.core.errors import DataError, StoreError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.report.joined import Joined, joined
from oodometer.stats.bootstrap import Resampling, bootstrap_means
from oodometer.stats.intervals import share_of
from oodometer.store.cells import Cell
from oodometer.store.store import Store
from oodometer.store.tables import Accuracy, read_tables


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
        right_x, right_y: Per model and image the share of right answers, (M, N), where all models saw the same
            images; None where only accuracies are known.
        same_images: Whether both sides are the same photographs.
        notes: What a reader should know: models and images that were left out.
    """

    x: tuple[str, ...]
    y: str
    models: tuple[Point, ...]
    right_x: np.ndarray | None = None
    right_y: np.ndarray | None = None
    same_images: bool = False
    notes: tuple[str, ...] = ()


def points_of_table(
    rows: Sequence[Accuracy], x: Sequence[str], y: str, *, origins: Mapping[str, Origin], level: float
) -> Points:
    """The models of a table that were measured on both sides; a family as ``y`` is averaged over its conditions."""
    known = dict.fromkeys(row.condition for row in rows)
    shifted = conditions_named(y, known, "the table")
    for name in x:
        conditions_named(name, known, "the table", exact=True)
    by_model: dict[str, dict[str, Accuracy]] = {}
    for row in rows:
        by_model.setdefault(row.model, {})[row.condition] = row
    found, lacking = [], 0
    for model, cells in by_model.items():
        if not {*x, *shifted} <= set(cells):
            lacking += 1
            continue
        places = tuple(_estimate(cells[name], level) for name in x)
        found.append(Point(model, origins.get(model, Origin()), places, _mean([cells[c] for c in shifted], level)))
    notes = [f"{lacking} models left out: not measured on {', '.join(x)} and {y}"] if lacking else []
    return Points(tuple(x), y, tuple(found), notes=tuple(notes))


def conditions_named(name: str, known: Iterable[str], where: str, *, exact: bool = False) -> list[str]:
    """The condition of that name, or all of the family of that name."""
    names = list(known)
    if name in names:
        return [name]
    family = [] if exact else [one for one in names if one.startswith(f"{name}/")]
    if not family:
        families = {one.partition("/")[0] for one in names}
        raise UsageError(f"{where}: nothing was measured on {name!r}{did_you_mean(name, {*names, *families})}")
    return family


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


def points_of_store(
    store: Store, x: Sequence[str], y: str, *, origins: Mapping[str, Origin], resampling: Resampling
) -> Points:
    """The models of a store that were run on both sides; imported accuracies where there are no predictions."""
    groups = _by_model(store.cells())
    tables = read_tables(store)
    if not groups and not tables:
        raise StoreError(f"{store}: nothing in it yet; 'oodometer run' or 'oodometer import' makes it")
    if not groups:
        return points_of_table(tables, x, y, origins=origins, level=resampling.level)
    names = {cell.condition_name for cells in groups.values() for cell in cells}
    shifted = conditions_named(y, sorted(names), str(store))
    for name in x:
        conditions_named(name, names, str(store), exact=True)
    sides = {model: _sides(cells, x, shifted) for model, cells in groups.items()}
    both = {model: found for model, found in sides.items() if found is not None}
    notes = []
    if len(both) < len(sides):
        lacking = [model for model in sides if model not in both]
        notes.append(f"left out, not run on {', '.join(x)} and {y} over the same classes: {', '.join(lacking)}")
    if tables:
        notes.append("imported accuracies are left out, since there are predictions; give the table with --table")
    if not both:
        raise StoreError(f"{store}: no model was run on both {', '.join(x)} and {y} over the same classes; {notes[0]}")
    return _joined_points(store, tuple(x), y, both, origins, resampling, notes)


@dataclass(frozen=True)
class _Sides:
    """The cells of one model on both sides."""

    x: list[Cell]
    y: list[Cell]


def _by_model(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of each model, by a name that is its own."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.model_name, str(cell.model["digest"])), []).append(cell)
    names = [name for name, _ in groups]
    return {
        name if names.count(name) == 1 else f"{name}@{digest[:8]}": found for (name, digest), found in groups.items()
    }


def _sides(cells: Sequence[Cell], x: Sequence[str], y: Sequence[str]) -> _Sides | None:
    """The model's cells on both sides, the clean ones over the same classes as the shifted ones."""
    by_name: dict[str, list[Cell]] = {}
    for cell in cells:
        by_name.setdefault(cell.condition_name, []).append(cell)
    if not {*x, *y} <= set(by_name):
        return None
    shifted = [by_name[name][0] for name in y]
    classes = _classes(shifted[0])
    clean = [[cell for cell in by_name[name] if _classes(cell) == classes] for name in x]
    if not all(clean):
        return None
    return _Sides([_same_data(found, shifted[0]) for found in clean], shifted)


def _classes(cell: Cell) -> tuple[Any, ...]:
    return cell.n_classes, cell.condition["label_map"]


def _same_data(cells: Sequence[Cell], wanted: Cell) -> Cell:
    """The cell of the same data, where there are several."""
    same = [cell for cell in cells if cell.condition["data"] == wanted.condition["data"]]
    return (same or list(cells))[0]


def _joined_points(
    store: Store, x: tuple[str, ...], y: str, both: Mapping[str, _Sides], origins: Mapping[str, Origin],
    resampling: Resampling, notes: list[str],
) -> Points:  # fmt: skip
    """All models on the images that all of them saw."""
    # Several clean sets have images of their own: each is joined by itself.
    clean = [_right(store, [[sides.x[at]] for sides in both.values()]) for at in range(len(x))]
    shifted = _right(store, [sides.y for sides in both.values()])
    right_x, right_y = clean[0][0], shifted[0]
    same = len(x) == 1 and np.array_equal(clean[0][1].ids, shifted[1].ids)
    for name, (_, common) in zip((*x, y), (*clean, shifted), strict=True):
        if common.left_out:
            notes.append(f"{name}: {common.left_out} images left out that not all models (or conditions) have")
    found = []
    for place, (model, sides) in enumerate(both.items()):
        card = sides.y[0].model.get("card", {})
        origin = origins.get(model, Origin(str(card.get("category", "")), card.get("parent")))
        places = tuple(_share(right[place], resampling) for right, _ in clean)
        found.append(Point(model, origin, places, _share(right_y[place], resampling)))
    return Points(x, y, tuple(found), right_x, right_y, same, tuple(notes))


def _right(store: Store, cells: Sequence[Sequence[Cell]]) -> tuple[np.ndarray, Joined]:
    """Per model and image the share of conditions in which it was right, (M, N)."""
    sizes = [len(one) for one in cells]
    common = joined(store, [cell for one in cells for cell in one], lambda rows: rows.rank == 0)
    bounds = np.cumsum([0, *sizes])
    of_model = [
        np.mean(common.values[start:stop], axis=0) if stop - start > 1 else common.values[start]
        for start, stop in pairwise(bounds)
    ]
    return np.stack(of_model), common


def _share(right: np.ndarray, resampling: Resampling) -> Estimate:
    if right.dtype == bool:
        return share_of(int(right.sum()), len(right), level=resampling.level)
    return bootstrap_means(right, resampling=resampling)


def read_origins(path: str) -> dict[str, Origin]:
    """Model to where it comes from: a CSV table with the columns model, category and maybe parent."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            if not {"model", "category"} <= set(reader.fieldnames or ()):
                raise DataError(f"{path}: expected the columns model,category and maybe parent")
            return {
                row["model"].strip(): Origin((row["category"] or "").strip(), (row.get("parent") or "").strip() or None)
                for row in reader
                if row["model"]
            }
    except FileNotFoundError:
        raise DataError(f"{path}: no such table of categories") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not a CSV table ({error})") from error
