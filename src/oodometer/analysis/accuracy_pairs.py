"""Models as points: accuracy on the clean set (or sets) and under a shift, from predictions and from tables.

Of a shift that is judged by mAP, every accuracy here is that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from oodometer.analysis.average_precision import on_common_images
from oodometer.analysis.common_images import Joined, right_on_common
from oodometer.analysis.family_apart import mean_accuracy_apart
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.measured_shifts import MeasuredShift, same_photographs
from oodometer.analysis.origins import Origin, origin_of
from oodometer.analysis.points import Point, Points, named, side_names
from oodometer.analysis.sampled import accuracy_of, drawn_apart, first_stopped
from oodometer.analysis.table_pairs import points_of_tables
from oodometer.core.errors import StoreError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import mean_of_intervals
from oodometer.store.cells import Cell
from oodometer.store.index import Index

NOT_RUN = "left out, not run on"
"""How a line about models begins of which a side is lacking."""


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
    names = side_names(shift)
    notes = [
        *_left_out(index, shift, {*begun, *people} if begun else set()),
        *_unfinished(index, begun),
        *_other_measure(shift),
    ]
    read = points_of_tables(index.tables, shift, origins=known, level=level, taken=set(run))
    if not run and not read.models:
        raise StoreError(_nothing(index, shift))
    if not run:
        return replace(read, notes=(*notes, *read.notes))
    points = Points(*names, (), notes=tuple(notes), measure=shift.measure)
    if shift.measure == "map":
        points = _by_precision(index, points, run, origins, how)
    elif any(drawn_apart((*standards, *members)) for standards, members in run.values()):
        points = _drawn_apart(index, points, run, origins, level)
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
    for name, model in index.models.items():
        by_condition = {entry.cell.condition.key: entry.cell for entry in model.entries if entry.n}
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
    drawn = [first_stopped([cell for cells in of_set for cell in cells]) for of_set in clean]
    drawn_y = first_stopped([cell for members in shifted for cell in members])
    models = tuple(
        Point(
            model,
            origin_of(members[0], model, origins),
            tuple(accuracy_of(right[at], level, sample) for right, sample in zip(sets, drawn, strict=True)),
            accuracy_of(sides.right_y[at], level, drawn_y),
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
        stopped_x=drawn[0],
        stopped_y=drawn_y,
    )


def _drawn_apart(
    index: Index, points: Points, run: Mapping[str, Sides], origins: Mapping[str, Origin], level: float
) -> Points:
    """The points where every condition has images of its own: they are known by their accuracies."""
    models = tuple(
        Point(
            model,
            origin_of(members[0], model, origins),
            tuple(mean_accuracy_apart(index, [cell], level=level) for cell in standards),
            mean_accuracy_apart(index, members, level=level),
        )
        for model, (standards, members) in run.items()
    )
    said = "every condition has images of its own, drawn apart: sides are compared by their accuracies"
    of_models = [members for _, members in run.values()]
    return replace(
        points,
        models=models,
        right_x=np.stack(right_on_common(index, [standards[0] for standards, _ in run.values()]).values),
        notes=(*points.notes, said),
        cells=run,
        stopped_x=first_stopped([standards[0] for standards, _ in run.values()]),
        stopped_y=first_stopped([cell for members in of_models for cell in members]),
        apart=tuple(np.stack(right_on_common(index, cells).values) for cells in zip(*of_models, strict=True)),
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
            mean_of_intervals([column[at] for column in columns[half:]]),
        )
        for at, (model, (_, members)) in enumerate(run.items())
    )
    return replace(points, models=models, notes=(*points.notes, *said), cells=run)


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
    common = right_on_common(index, [cell for of_model in cells for cell in of_model])
    bounds = np.cumsum([0, *(len(of_model) for of_model in cells)])
    right = [
        np.mean(common.values[start:stop], axis=0) if stop - start > 1 else common.values[start]
        for start, stop in pairwise(bounds)
    ]
    return right, common


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
