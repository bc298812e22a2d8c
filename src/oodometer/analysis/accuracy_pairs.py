"""Models as points: accuracy on the clean set (or sets) and under a shift, from predictions and from tables.

Of a shift that is judged by mAP, every accuracy here is that.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from oodometer.analysis.average_precision import on_common_images
from oodometer.analysis.common_images import Joined, joined
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.measured_shifts import MeasuredShift, same_photographs
from oodometer.core.condition import Measure
from oodometer.core.errors import DataError, StoreError
from oodometer.core.estimate import Estimate
from oodometer.core.model import HUMAN
from oodometer.core.reading import check_regular, whole_number, why
from oodometer.stats.intervals import equivalent_n, mean_of, share_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index
from oodometer.store.tables import Accuracy

MOST_NAMES = 5
"""More models than these are counted, not named."""

NOT_RUN = "left out, not run on"
"""How a line about models begins of which a side is lacking."""


@dataclass(frozen=True)
class Origin:
    """Where a model comes from.

    Args:
        category: ``standard``, or what was done to it; empty where nobody says.
        parent: The model that it was made from, where it is known.
        parameters: How many numbers it has learned, where it is known.
    """

    category: str = ""
    parent: str | None = None
    parameters: int | None = None

    @property
    def is_human(self) -> bool:
        """Whether these are people's answers: no line goes through them, and none is the best model."""
        return self.category == HUMAN


@dataclass(frozen=True)
class Point:
    """One model: its accuracy on each clean set, and under the shift."""

    model: str
    origin: Origin
    x: tuple[Estimate, ...]
    y: Estimate


@dataclass(frozen=True)
class Points:
    """The models that were measured on both sides of a shift; people are none of them.

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
        ids_x, ids_y: Of the images of ``right_x`` and ``right_y``.
        measure: What is called accuracy here.
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
    ids_x: np.ndarray | None = None
    ids_y: np.ndarray | None = None
    measure: Measure = "top-1"

    def n_behind(self, accuracy: Estimate, level: float) -> int | None:
        """How many images tell it, as if it were a share: a mAP's own number says nothing of how sure it is."""
        return accuracy.n if self.measure == "top-1" else equivalent_n(accuracy, level)


def pairs_of(index: Index, shift: MeasuredShift, *, origins: Mapping[str, Origin], how: IntervalOptions) -> Points:
    """The models that were measured on both sides of a shift.

    Those of predictions are judged on the images that all of them saw. Where imported accuracies stand beside them, all
    are known by their accuracies alone: the line goes through models whose images are not here.

    Args:
        how: Of the intervals the level; and all of it for those of a mAP, which are resampled.
    """
    level = how.level
    known = _with_cards(index, origins)
    people = {name for name, origin in known.items() if origin.is_human}
    both = _cells_on_both(index, shift) if shift.has_predictions else {}
    begun = {name: sides for name, sides in both.items() if name not in people}
    run = _finished(index, begun)
    names = _names(shift)
    notes = [
        *_left_out(index, shift, {*begun, *people} if begun else set()),
        *_unfinished(index, begun),
        *_other_measure(shift),
    ]
    read = _points_of_tables(index.tables, shift, origins=known, level=level, taken=set(run))
    if not run and not read.models:
        raise StoreError(_nothing(index, shift))
    if not run:
        return replace(read, notes=(*notes, *read.notes))
    points = Points(*names, (), notes=tuple(notes), measure=shift.measure)
    if shift.measure == "map":
        points = _by_precision(index, points, run, origins, how)
    else:
        points = _on_common_images(index, points, shift, run, origins, level)
    imported = [point.model for point in read.models]
    if not imported:
        return points
    said = f"beside {len(points.models)} with predictions stand models of {_sources(index)}: {named(imported)}"
    notes = [*points.notes, *read.notes, said]
    every = (*points.models, *read.models)
    return Points(*names, every, notes=tuple(notes), cells=points.cells, measure=shift.measure)


def _with_cards(index: Index, origins: Mapping[str, Origin]) -> dict[str, Origin]:
    """What is known of models by name: a table may tell of one whose card is here."""
    cards = {name: origin_of(model.entries[0].cell, name, origins) for name, model in index.models.items()}
    return {**origins, **cards}


def _other_measure(shift: MeasuredShift) -> list[str]:
    """A line where what is called accuracy is not top-1."""
    said = "judged by mAP (average precision of each label, weighted by the images that have it), not by top-1"
    return [said] if shift.measure == "map" else []


def _names(shift: MeasuredShift) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    return tuple(side.name for side in shift.standards), shift.name, tuple(side.name for side in shift.members)


def _sources(index: Index) -> str:
    return ", ".join(sorted({row.source for row in index.tables}))


def _nothing(index: Index, shift: MeasuredShift) -> str:
    where = f"{', '.join(side.name for side in shift.standards)} and {shift.name}"
    if shift.has_predictions:
        return f"{index}: no model was run on {where} over the same classes; run both with the same label map"
    return f"the table: no model was measured on {where}"


# Predictions

Sides = tuple[tuple[Cell, ...], tuple[Cell, ...]]
"""The cells of one model: one for each clean set, and one for each condition of the shift."""


def _cells_on_both(index: Index, shift: MeasuredShift) -> dict[str, Sides]:
    """The models that have labelled rows on both sides, over the same classes."""
    wanted = [side.condition.key for side in (*shift.standards, *shift.members) if side.condition is not None]
    half = len(shift.standards)
    both: dict[str, Sides] = {}
    for name, named in index.models.items():
        by_condition = {entry.cell.condition.key: entry.cell for entry in named.entries if entry.n}
        if all(key in by_condition for key in wanted):
            cells = [by_condition[key] for key in wanted]
            if len({cell.classes for cell in cells}) == 1:
                both[name] = tuple(cells[:half]), tuple(cells[half:])
    return both


def _finished(index: Index, begun: Mapping[str, Sides]) -> dict[str, Sides]:
    """The models that are done; where none is, all of them: one that is still running must not take images away."""
    done = {
        model: sides
        for model, sides in begun.items()
        if all(index.is_complete(cell) for cell in (*sides[0], *sides[1]))
    }
    return done or dict(begun)


def _left_out(index: Index, shift: MeasuredShift, run: Collection[str]) -> list[str]:
    """A line about models that saw one side only, or only some conditions of a family."""
    if not shift.has_predictions or not run:
        return []
    lacking = [name for name, model in index.models.items() if name not in run and any(one.n for one in model.entries)]
    where = f"{', '.join(side.name for side in shift.standards)} and {shift.name}"
    return [f"{NOT_RUN} {where} over the same classes: {named(lacking)}"] if lacking else []


def _on_common_images(
    index: Index,
    points: Points,
    shift: MeasuredShift,
    run: Mapping[str, Sides],
    origins: Mapping[str, Origin],
    level: float,
) -> Points:
    """The points with all models on the images that all of them saw."""
    clean = [[(standards[at],) for standards, _ in run.values()] for at in range(len(shift.standards))]
    shifted = [members for _, members in run.values()]
    same = not shift.of_other_images and same_photographs(index.images(clean[0][0][0]), index.images(shifted[0][0]))
    sides = _judged(index, clean[0], shifted, (points.x[0], points.y), same=same)
    sets, said = [sides.right_x], list(sides.notes)
    for name, cells in zip(points.x[1:], clean[1:], strict=True):
        right, common = _right(index, cells)
        sets.append(np.stack(right))
        said += _lost(name, common)
    models = tuple(
        Point(
            model,
            origin_of(members[0], model, origins),
            tuple(accuracy_of(right[at], level) for right in sets),
            accuracy_of(sides.right_y[at], level),
        )
        for at, (model, (_, members)) in enumerate(run.items())
    )
    return replace(
        points,
        models=models,
        right_x=sides.right_x,
        right_y=sides.right_y,
        same_images=same,
        notes=(*points.notes, *said),
        cells=run,
        ids_x=sides.ids_x,
        ids_y=sides.ids_y,
    )


def _by_precision(
    index: Index, points: Points, run: Mapping[str, Sides], origins: Mapping[str, Origin], how: IntervalOptions
) -> Points:
    """The points by mAP, each side on the images that all models have there; a family is averaged."""
    columns: list[list[Estimate]] = []
    said: list[str] = []
    sides = [[*standards, *members] for standards, members in run.values()]
    for at, name in enumerate((*points.x, *points.conditions)):
        estimates, common = on_common_images(index, [cells[at] for cells in sides], how)
        columns.append(estimates)
        said += _lost(name, common)
    half = len(points.x)
    models = tuple(
        Point(
            model,
            origin_of(members[0], model, origins),
            tuple(column[at] for column in columns[:half]),
            _mean_of_members([column[at] for column in columns[half:]]),
        )
        for at, (model, (_, members)) in enumerate(run.items())
    )
    return replace(points, models=models, notes=(*points.notes, *said), cells=run)


def _mean_of_members(members: Sequence[Estimate]) -> Estimate:
    """The mean over a family, with the mean of the intervals: wide enough however the members move together."""
    if len(members) == 1:
        return members[0]
    value = float(np.mean([member.value for member in members]))
    bounds = [(member.low, member.high) for member in members if member.low is not None and member.high is not None]
    if len(bounds) < len(members):
        return Estimate(value, None, None, members[0].n, "none: one of the members has no interval")
    low, high = np.mean(bounds, axis=0)
    return Estimate(value, float(low), float(high), members[0].n, f"mean of {len(members)} intervals")


FAIRER = "a clean set of the same classes would be fairer"


@dataclass(frozen=True)
class _Judged:
    """Which model is right on which image, on both sides: (M, N) each."""

    right_x: np.ndarray
    right_y: np.ndarray
    ids_x: np.ndarray
    ids_y: np.ndarray
    notes: tuple[str, ...]


Cells = Sequence[Sequence[Cell]]
"""For each model its cells of one side."""


def _judged(index: Index, clean: Cells, shifted: Cells, names: tuple[str, str], *, same: bool) -> _Judged:
    """Both sides on the photographs that all cells have; each on its own where they are different ones."""
    if same:
        right, common = _right(index, [*clean, *shifted])
        half = len(clean)
        notes = tuple(_lost(" and ".join(names), common))
        return _Judged(np.stack(right[:half]), np.stack(right[half:]), common.ids, common.ids, notes)
    (right_x, of_x), (right_y, of_y) = _right(index, clean), _right(index, shifted)
    said = _lost(names[0], of_x) + _lost(names[1], of_y)
    classes_x, classes_y = set(of_x.labels.tolist()), set(of_y.labels.tolist())
    if classes_x != classes_y:
        said.append(
            f"{names[0]} has images of {len(classes_x)} classes and {names[1]} of {len(classes_y)}, "
            f"{len(classes_x & classes_y)} of them the same: {FAIRER}"
        )
    return _Judged(np.stack(right_x), np.stack(right_y), of_x.ids, of_y.ids, tuple(said))


def _lost(where: str, common: Joined) -> list[str]:
    n = common.left_out
    return [f"{where}: {n} images left out that not all models (or conditions) have"] if n else []


def _right(index: Index, cells: Cells) -> tuple[list[np.ndarray], Joined]:
    """Per model and image whether it was right, or the share of its cells in which it was: for each model (N,)."""
    common = joined(index, [cell for of_model in cells for cell in of_model], lambda rows: rows.rank == 0)
    bounds = np.cumsum([0, *(len(of_model) for of_model in cells)])
    right = [
        np.mean(common.values[start:stop], axis=0) if stop - start > 1 else common.values[start]
        for start, stop in pairwise(bounds)
    ]
    return right, common


def accuracy_of(right: np.ndarray, level: float) -> Estimate:
    """The accuracy over images of which it is known whether the model is right, or in which share of the conditions.

    Of a family the images are the units, since an image that is hard clean is hard in all its corruptions.
    """
    if right.dtype == bool:
        return share_of(int(right.sum()), len(right), level=level)
    return mean_of(right, level=level, bounds=(0.0, 1.0))


def origin_of(cell: Cell, model: str, origins: Mapping[str, Origin]) -> Origin:
    """What the user says of the model, and where that is silent its card."""
    card = cell.model.card
    said = origins.get(model) or origins.get(cell.model_name) or Origin()
    return Origin(said.category or card.category, said.parent or card.parent, said.parameters or card.parameters)


def _unfinished(index: Index, begun: Mapping[str, Sides]) -> list[str]:
    """A line about what is not done yet: it is left out, unless nothing is done."""
    cells = [
        f"{model} on {cell.condition_name}"
        for model, sides in begun.items()
        for cell in (*sides[0], *sides[1])
        if not index.is_complete(cell)
    ]
    left_out = ", left out" if len(_finished(index, begun)) < len(begun) else ""
    return [f"unfinished{left_out}: {', '.join(cells[:3])}{' and others' if len(cells) > 3 else ''}"] if cells else []


# Tables


def points_of_table(
    rows: Sequence[Accuracy], shift: MeasuredShift, *, origins: Mapping[str, Origin], level: float
) -> Points:
    """The models of a table that were measured on both sides; a family is averaged over its conditions."""
    points = _points_of_tables(rows, shift, origins=origins, level=level, taken=set())
    if not points.models:
        where = f"{', '.join(side.name for side in shift.standards)} and {shift.name}"
        raise DataError(f"the table: no model was measured on {where}")
    return points


def _points_of_tables(
    rows: Sequence[Accuracy],
    shift: MeasuredShift,
    *,
    origins: Mapping[str, Origin],
    level: float,
    taken: set[str],
) -> Points:
    """The models of tables but those of predictions."""
    names = _names(shift)
    x, y = ([side.column for side in sides] for sides in (shift.standards, shift.members))
    wanted = {*x, *y}
    if None in wanted:
        return Points(*names, ())
    by_model: dict[str, dict[str, Accuracy]] = {}
    for row in rows:
        if origins.get(row.model, Origin()).is_human:
            continue
        cells = by_model.setdefault(row.model, {})
        if row.condition in wanted and cells.setdefault(row.condition, row) != row:
            sources = f"{cells[row.condition].source} and {row.source}"
            raise DataError(
                f"two accuracies of {row.model} on {row.condition} ({sources}); give one table with --table"
            )
    of_tables = {model: cells for model, cells in by_model.items() if model not in taken}
    both = {model: cells for model, cells in of_tables.items() if wanted <= set(cells)}
    points = [
        Point(
            model,
            origins.get(model, Origin()),
            tuple(_estimate(cells[str(name)], level, shift.measure) for name in x),
            _mean([cells[str(name)] for name in y], level, shift.measure),
        )
        for model, cells in both.items()
    ]
    lacking = [model for model in of_tables if model not in both]
    notes = []
    if lacking:
        notes.append(f"left out, not measured on {', '.join(names[0])} and {names[1]}: {named(lacking)}")
    twice = [model for model in by_model if model in taken]
    if twice:
        notes.append(f"of {named(twice)} the predictions count, not the table's accuracies")
    return Points(*names, tuple(points), notes=tuple(notes), measure=shift.measure)


def named(models: Sequence[str]) -> str:
    """The models by name where they are few, else their number.

    >>> named(["a", "b"]), named(list("abcdef"))
    ('a, b', '6 models')
    """
    return ", ".join(models) if len(models) <= MOST_NAMES else f"{len(models)} models"


def _estimate(row: Accuracy, level: float, measure: Measure) -> Estimate:
    if row.n is None:
        return Estimate(row.accuracy, None, None, None, "none: n is not known")
    if measure == "map":
        return Estimate(row.accuracy, None, None, row.n, "none: a mAP of a table")
    near = share_of(round(row.accuracy * row.n), row.n, level=level)
    return Estimate(row.accuracy, near.low, near.high, row.n, near.interval)


def _mean(rows: Sequence[Accuracy], level: float, measure: Measure) -> Estimate:
    if len(rows) == 1:
        return _estimate(rows[0], level, measure)
    value = float(np.mean([row.accuracy for row in rows]))
    return Estimate(value, None, None, None, f"none: a mean over {len(rows)} conditions of a table")


COLUMNS = ("model", "category", "parent", "parameters")


def read_origins(path: str) -> dict[str, Origin]:
    """Model to where it comes from: a CSV table with the columns model, category and maybe parent and parameters."""
    try:
        check_regular(path)
        with open(path, newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
            if not {"model", "category"} <= set(reader.fieldnames):
                raise DataError(f"{path}: expected the columns model,category and maybe parent")
            rows = [{name: (row.get(name) or "").strip() for name in COLUMNS} for row in reader]
    except FileNotFoundError:
        raise DataError(f"{path}: no such table of categories") from None
    except (ValueError, csv.Error, OSError) as error:
        raise DataError(f"{path}: not a CSV table ({why(error)})") from error
    found: dict[str, Origin] = {}
    for row in rows:
        parameters = whole_number(row["parameters"], f"{path}: {row['model']}: parameters")
        origin = Origin(row["category"], row["parent"] or None, parameters)
        if found.setdefault(row["model"], origin) != origin:
            raise DataError(f"{path}: two different lines about {row['model']}")
    return found
