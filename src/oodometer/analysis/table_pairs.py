"""Models as points from accuracies that were imported: without the answers behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from oodometer.analysis.measured_shifts import MeasuredShift
from oodometer.analysis.origins import Origin
from oodometer.analysis.points import Point, Points, named, side_names
from oodometer.core.condition import Measure
from oodometer.core.errors import DataError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import share_of
from oodometer.store.tables import Accuracy


def points_of_table(
    rows: Sequence[Accuracy], shift: MeasuredShift, *, origins: Mapping[str, Origin], level: float
) -> Points:
    """The models of a table that were measured on both sides; a family is averaged over its conditions."""
    points = points_of_tables(rows, shift, origins=origins, level=level, taken=set())
    if not points.models:
        where = f"{', '.join(side.name for side in shift.standards)} and {shift.name}"
        raise DataError(f"the table: no model was measured on {where}")
    return points


def points_of_tables(
    rows: Sequence[Accuracy],
    shift: MeasuredShift,
    *,
    origins: Mapping[str, Origin],
    level: float,
    taken: set[str],
) -> Points:
    """The models of tables but those of predictions."""
    names = side_names(shift)
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
