"""Both sides of every shift, and the gap between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from oodometer.analysis.accuracy_pairs import FAIRER, pairs_of
from oodometer.analysis.common_images import few_groups_in, groups_of
from oodometer.analysis.differences import drop_under_shift
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.mean_gap import MeanGap, mean_gap
from oodometer.analysis.measured_shifts import MeasuredShift, measured_shifts, members_apart
from oodometer.analysis.people import models_alone
from oodometer.analysis.points import Points
from oodometer.analysis.text import columns, dumbbell
from oodometer.catalogue.class_names import human_names
from oodometer.core.condition import Measure
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling, draws_of_means, interval_of
from oodometer.stats.intervals import DEFAULT_INTERVAL, mean_of, share_of
from oodometer.store.cells import Cell
from oodometer.store.images import Images
from oodometer.store.index import Index, Source, index_at

PLOT = 30
"""Places of a drawing."""
FEW_CLASSES = 5
"""More are counted, not named."""


@dataclass(frozen=True)
class Gap:
    """One model on the two sides of a shift.

    Args:
        weights: The first letters of the weights' digest; empty for imported accuracies.
        shift: The name of the shift, and in ``kind`` what changes.
        standard: The name of the clean side.
        conditions: What the shifted side is the mean of; one, where it is no family.
        measure: What is called accuracy here: ``top-1``, or ``map``.
        accuracy_standard, accuracy_shifted: It on each, over the same classes.
        gap: The first minus the second.
        paired: Whether both sides are the same photographs; if not, n is that of the shifted ones.
        state: ``complete``, ``unfinished`` where one of the sides is, or ``imported``.
        warnings: What a reader of the numbers should know: signs of gradient masking, other classes.
        cells: The cells of the standard side and of the shifted one; none where only accuracies are known.
    """

    model: str
    weights: str
    shift: str
    kind: str
    standard: str
    conditions: tuple[str, ...]
    measure: Measure
    accuracy_standard: Estimate
    accuracy_shifted: Estimate
    gap: Estimate
    paired: bool
    state: str
    warnings: tuple[str, ...]
    cells: tuple[Cell, ...] = field(repr=False, default=())

    def as_json(self) -> dict[str, Any]:
        """The gap as plain values."""
        shown = {key: value for key, value in vars(self).items() if key != "cells"}
        return {key: dict(vars(value)) if isinstance(value, Estimate) else value for key, value in shown.items()}


@dataclass(frozen=True)
class Gaps:
    """The gap of every model under every shift that was run; prints as a table.

    Args:
        left_out: Shifts of which the gap is undefined, and why.
        notes: What a reader of the numbers should know: images or models that do not count, what is damaged.
        mean: Over all rows, where it is asked for.
    """

    rows: tuple[Gap, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    mean: MeanGap | None = None

    def __str__(self) -> str:
        return self.table()

    def only(self, wanted: Callable[[Gap], bool]) -> Gaps:
        """The gaps that are wanted."""
        return replace(self, rows=tuple(row for row in self.rows if wanted(row)))

    def table(self, *, plot: bool = False) -> str:
        """The gaps as text: for each shift its two sides, and a line for each model.

        Args:
            plot: Draw both sides on the scale from 0 to 1.
        """
        by_shift: dict[str, list[list[str]]] = {}
        for row in self.rows:
            a, b = row.accuracy_standard, row.accuracy_shifted
            drawn = [dumbbell(a.value, b.value, width=PLOT)] if plot else []
            remarks = [] if row.state == "complete" else [row.state]
            remarks += ["doubtful: see the warning"] if row.warnings else []
            remark = f"({'; '.join(remarks)})" if remarks else ""
            mean = f", the mean of {len(row.conditions)} conditions" if len(row.conditions) > 1 else ""
            by = "mAP, " if row.measure == "map" else ""
            heading = f"{row.shift} ({by}n={_n(b)}{mean}) against {row.standard} (n={_n(a)})"
            line = [f"  {row.model}", *drawn, *(f"{estimate:.4f}" for estimate in (a, b, row.gap)), remark]
            by_shift.setdefault(heading, []).append(line)
        if self.mean is not None:
            heading, line = self._mean_line(self.mean, plot=plot)
            by_shift[heading] = [line]
        if not by_shift:
            return ""
        header = ["  model", *(["0" + " " * (PLOT - 2) + "1"] if plot else []), "standard", "shifted", "gap", ""]
        # All lines in one set of columns, so that they can be compared from shift to shift.
        aligned = iter(columns([header, *(line for lines in by_shift.values() for line in lines)]).splitlines())
        text = [next(aligned)]
        for heading, lines in by_shift.items():
            text += [heading, *(next(aligned) for _ in lines)]
        return "\n".join(text)

    def _mean_line(self, mean: MeanGap, *, plot: bool) -> tuple[str, list[str]]:
        """The last heading and the line below it."""
        a, b = mean.accuracy_standard, mean.accuracy_shifted
        drawn = [dumbbell(a.value, b.value, width=PLOT)] if plot else []
        heading = f"mean of {mean.n_pairs} (n={_n(b)}) against standard (n={_n(a)})"
        return heading, ["  mean", *drawn, *(f"{estimate:.4f}" for estimate in (a, b, mean.gap)), ""]

    def warnings(self) -> list[str]:
        """What a reader of the numbers should know, a line each; what holds for several models is said once."""
        models: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            for line in row.warnings:
                models.setdefault((row.shift, line), []).append(row.model)
        return [f"{', '.join(names)} on {shift}: {line}" for (shift, line), names in models.items()]

    def as_json(self) -> list[dict[str, Any]]:
        """The gaps as plain values."""
        return [row.as_json() for row in self.rows]


def gaps(
    store: Source,
    *,
    interval: str = DEFAULT_INTERVAL,
    level: float = 0.95,
    draws: int = 1000,
    by: str | None = None,
    each: bool = False,
    mean: bool = False,
) -> Gaps:
    """What every model loses under every shift, measured or imported.

    The same photographs on both sides are paired (Tango's interval); different ones are not (Newcombe's). Of a family
    of corruptions the mean counts. All models are judged on the images that all of them saw.

    Args:
        interval: Of the accuracies; ``bootstrap`` for everything.
        by: A column of the data, or ``class``: images of a group are resampled together.
        each: Whether the conditions of a family are shifts of their own, rather than averaged.
        mean: Whether the mean over all models and shifts is told too.
    """
    index, how = models_alone(index_at(store)), IntervalOptions(interval, level, draws, by)
    found = gaps_in(index, how, each=each)
    if not found.rows and not found.left_out and not found.notes:
        raise StoreError(f"{index}: {NO_SHIFT}")
    if mean:
        told = {row.shift for row in found.rows}
        parts = [part for part in _parts(index, each=each) if part.name in told]
        several = (pairs_of(index, part, origins={}, how=how) for part in parts)
        found = replace(found, mean=mean_gap(several, level=level))
    return found


NOT_SAME_CLASSES = "the two sides are not over the same classes"
NO_SHIFT = "no shift was run on both sides; --on natural, or the name of a shift, does"


@lru_cache(maxsize=4)
def gaps_in(index: Index, how: IntervalOptions, *, each: bool = False) -> Gaps:
    """The gaps of every shift; why one is undefined is told, and stops no other."""
    measured = measured_shifts(index)
    rows, left_out, notes = [], [*measured.notes, *_unlabelled(index)], list(index.problems)
    notes += few_groups_in(index, [entry.cell for entry in index.answered], how.by)
    for part in _parts(index, each=each):
        try:
            points = pairs_of(index, part, origins={}, how=how)
        except OodometerError as why:
            left_out.append(f"{part.name}: {why}")
            continue
        of_part = [_gap(index, part, points, at, how) for at in range(len(points.models))]
        rows += of_part
        # A warning that names the classes says more than a note that counts them.
        named = any(NOT_SAME_CLASSES in line for row in of_part for line in row.warnings)
        notes += [f"{part.name}: {note}" for note in points.notes if not (named and note.endswith(FAIRER))]
    return Gaps(tuple(rows), tuple(left_out), tuple(notes))


def _parts(index: Index, *, each: bool) -> list[MeasuredShift]:
    """What has a gap each."""
    shifts = [shift for shift in measured_shifts(index).shifts if shift.measure != "none"]
    return [part for shift in shifts for part in (members_apart(shift) if each else [shift])]


def _unlabelled(index: Index) -> list[str]:
    """A line about shifts whose images are of no class."""
    answered = {entry.cell.condition.key for entry in index.answered if not entry.n}
    names = dict.fromkeys(shift.name for shift in index.shifts if shift.shifted.key in answered)
    return [
        f"{name}: images without labels have no accuracy; 'score --ood {name}' tells how well they are told apart"
        for name in names
    ]


def _gap(index: Index, shift: MeasuredShift, points: Points, at: int, how: IntervalOptions) -> Gap:
    point = points.models[at]
    cells = tuple(cell for side in points.cells.get(point.model, ((), ())) for cell in side)
    standard, shifted, gap = _values(index, points, at, how)
    done = all(index.is_complete(cell) for cell in cells)
    return Gap(
        point.model,
        cells[0].model.weights[:8] if cells else "",
        shift.name,
        shift.kind,
        points.x[0],
        points.conditions,
        points.measure,
        standard,
        shifted,
        gap,
        points.same_images,
        ("complete" if done else "unfinished") if cells else "imported",
        (*_attack_warnings(index, cells), *_class_warnings(index, shift, cells)),
        cells,
    )


def _attack_warnings(index: Index, cells: Sequence[Cell]) -> list[str]:
    return [line for cell in cells if cell.condition.attack is not None for line in index.warnings(cell)]


def _class_warnings(index: Index, shift: MeasuredShift, cells: Sequence[Cell]) -> list[str]:
    """A line where the sides of an attribute shift are of other classes: then more changes than the attribute."""
    if shift.kind != "attribute" or len(cells) < 2:
        return []
    standard, shifted = (_classes(index.images(cell)) for cell in (cells[0], cells[-1]))
    if standard == shifted:
        return []
    sides = [f"{_listed(some)} only in the {side} images" for side, some in _apart(standard, shifted) if some]
    return [f"{NOT_SAME_CLASSES}: {'; '.join(sides)}"]


def _apart(standard: set[str], shifted: set[str]) -> tuple[tuple[str, list[str]], ...]:
    return ("standard", sorted(standard - shifted)), ("shifted", sorted(shifted - standard))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - FEW_CLASSES
    return ", ".join(names[:FEW_CLASSES]) + (f" and {more} more" if more > 0 else "")


def _classes(images: Images) -> set[str]:
    """The classes that occur, as people call them."""
    others = (label for some in images.other_labels or () for label in some)
    called = human_names(images.space)
    return {called[label] for label in {*images.labels.tolist(), *others} if label >= 0}


Values = tuple[Estimate, Estimate, Estimate]
"""The accuracy on the standard side, on the shifted side, and the difference."""


def _values(index: Index, points: Points, at: int, how: IntervalOptions) -> Values:
    point = points.models[at]
    if points.right_x is None or points.right_y is None:
        return point.x[0], point.y, drop_under_shift(points, at, how.level)
    if points.stopped_x is not None or points.stopped_y is not None:  # how many there are depends on what was seen
        return point.x[0], point.y, drop_under_shift(points, at, how.level)
    right = points.right_x[at], points.right_y[at]
    standard, shifted = (_accuracy(side, how) for side in right)
    if not how.resamples_all:
        return standard, shifted, drop_under_shift(points, at, how.level)
    clusters = _clusters(index, points, at, how)
    if points.same_images:
        difference = right[0].astype(np.float64) - right[1]
        draws = draws_of_means(difference[:, None], resampling=_percentile(how), clusters=clusters[0])[:, 0]
        return standard, shifted, _bootstrapped(draws, standard, shifted, how, clusters[:1])
    sides = [
        # Another seed for each side: their images have nothing to do with each other.
        draws_of_means(hits[:, None], resampling=_percentile(how, seed=2 * how.seed + side), clusters=groups)[:, 0]
        for side, (hits, groups) in enumerate(zip(right, clusters, strict=True))
    ]
    return standard, shifted, _bootstrapped(sides[0] - sides[1], standard, shifted, how, clusters)


def _clusters(index: Index, points: Points, at: int, how: IntervalOptions) -> tuple[np.ndarray | None, ...]:
    """The group of each image of both sides, where groups are resampled."""
    standards, members = points.cells[points.models[at].model]
    ids = points.ids_x, points.ids_y
    sides = zip((standards[0], members[0]), ids, strict=True)
    return tuple(None if how.by is None or of is None else groups_of(index, cell, of, how.by) for cell, of in sides)


def _accuracy(right: np.ndarray, how: IntervalOptions) -> Estimate:
    if right.dtype != bool:
        return mean_of(right, level=how.level, bounds=(0.0, 1.0))
    return share_of(int(right.sum()), len(right), interval=how.of_counts, level=how.level)


def _bootstrapped(
    draws: np.ndarray,
    standard: Estimate,
    shifted: Estimate,
    how: IntervalOptions,
    clusters: Sequence[np.ndarray | None],
) -> Estimate:
    """The difference; of two sides the one with fewer groups says how sure it is."""
    assert shifted.n is not None
    name = "cluster bootstrap" if how.by else "bootstrap"
    difference = standard.value - shifted.value
    groups = min((len(np.unique(side)) for side in clusters if side is not None), default=None)
    return interval_of(
        draws, difference, n=shifted.n, resampling=_percentile(how), name=name, groups=groups, bounds=(-1.0, 1.0)
    )


def _percentile(how: IntervalOptions, *, seed: int | None = None) -> Resampling:
    # Of a difference of two means there is no jackknife here, which BCa would need.
    return replace(how.resampling, method="percentile", seed=how.seed if seed is None else seed)


def _n(estimate: Estimate) -> str:
    return "?" if estimate.n is None else str(estimate.n)
