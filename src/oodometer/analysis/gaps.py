"""Both sides of every shift, and the gap between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from oodometer.analysis.common_images import clusters_by, clusters_of, joined
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.named import models_of, same_classes
from oodometer.analysis.stored_pairs import same_photographs
from oodometer.analysis.text import columns, dumbbell
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling, draws_of_means, interval_of
from oodometer.stats.effective_robustness import accuracy_drop
from oodometer.stats.intervals import DEFAULT_INTERVAL, share_of
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.store.cells import Cell
from oodometer.store.images import ImageTables
from oodometer.store.shifts import StoredShift, shifts_in
from oodometer.store.store import Store, open_store

PLOT = 30
"""Places of a drawing."""


@dataclass(frozen=True)
class Gap:
    """One model on the two sides of a shift.

    Args:
        weights: The first letters of the weights' digest.
        shift: The name of the shift, and in ``kind`` what changes.
        standard, shifted: Names of the two conditions.
        accuracy_standard, accuracy_shifted: Top-1 on each, over the same classes.
        gap: The first minus the second.
        paired: Whether both sides are the same photographs; if not, n is that of the shifted ones.
        state: ``complete``, or ``unfinished`` where one of the sides is.
        warnings: What a reader of the numbers should know: signs of gradient masking.
        cells: The two sides in the store.
    """

    model: str
    weights: str
    shift: str
    kind: str
    standard: str
    shifted: str
    accuracy_standard: Estimate
    accuracy_shifted: Estimate
    gap: Estimate
    paired: bool
    state: str
    warnings: tuple[str, ...]
    cells: tuple[Cell, Cell] = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """The gap as plain values."""
        shown = {key: one for key, one in vars(self).items() if key != "cells"}
        return {key: dict(vars(one)) if isinstance(one, Estimate) else one for key, one in shown.items()}


@dataclass(frozen=True)
class Gaps:
    """The gap of every model under every shift that was run; prints as a table.

    Args:
        left_out: Shifts of which the gap is undefined, and why.
    """

    rows: tuple[Gap, ...]
    left_out: tuple[str, ...] = ()

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
        several = {
            row.model for row in self.rows if len({one.weights for one in self.rows if one.model == row.model}) > 1
        }
        shifts = _told_apart([(row.shift, row.cells[1]) for row in self.rows])
        standards = _told_apart([(row.standard, row.cells[0]) for row in self.rows])
        by_shift: dict[str, list[list[str]]] = {}
        for row, shift, standard in zip(self.rows, shifts, standards, strict=True):
            a, b = row.accuracy_standard, row.accuracy_shifted
            drawn = [dumbbell(a.value, b.value, width=PLOT)] if plot else []
            name = f"{row.model}@{row.weights}" if row.model in several else row.model
            remarks = [] if row.state == "complete" else [row.state]
            remarks += ["doubtful: see the warning"] if row.warnings else []
            remark = f"({'; '.join(remarks)})" if remarks else ""
            heading = f"{shift} (n={b.n}) against {standard} (n={a.n})"
            line = [f"  {name}", *drawn, *(_without_n(one) for one in (a, b, row.gap)), remark]
            by_shift.setdefault(heading, []).append(line)
        if not by_shift:
            return ""
        header = ["  model", *(["0" + " " * (PLOT - 2) + "1"] if plot else []), "standard", "shifted", "gap", ""]
        # All lines in one set of columns, so that they can be compared from shift to shift.
        aligned = iter(columns([header, *(line for lines in by_shift.values() for line in lines)]).splitlines())
        text = [next(aligned)]
        for heading, lines in by_shift.items():
            text += [heading, *(next(aligned) for _ in lines)]
        return "\n".join(text)

    def warnings(self) -> list[str]:
        """What a reader of the numbers should know, a line each."""
        return [f"{row.model} on {row.shifted}: {line}" for row in self.rows for line in row.warnings]

    def as_json(self) -> list[dict[str, Any]]:
        """The gaps as plain values."""
        return [row.as_json() for row in self.rows]


def gaps(
    store: str | Store,
    *,
    interval: str = DEFAULT_INTERVAL,
    level: float = 0.95,
    draws: int = 1000,
    by: str | None = None,
) -> Gaps:
    """What every model loses under every shift that was run on both sides.

    The same photographs on both sides are paired (Tango's interval); different ones are not (Newcombe's).

    Args:
        interval: Of the accuracies; ``bootstrap`` for everything.
        by: A column of the data, or ``class``: images of a group are resampled together.
    """
    opened = store if isinstance(store, Store) else open_store(str(store))
    found = gaps_between(opened, opened.cells(), IntervalOptions(interval, level, draws, by))
    if not found.rows and not found.left_out:
        raise StoreError(f"{opened}: {NO_SHIFT}")
    return found


def gaps_between(store: Store, cells: Sequence[Cell], how: IntervalOptions) -> Gaps:
    """The gaps of the shifts that have both sides among these cells."""
    rows, left_out = [], []
    for some in models_of(cells):
        for found in gaps_of(store, some, how):
            if isinstance(found, Gap):
                rows.append(found)
            else:
                left_out.append(f"{some[0].model_name}: {found}")
    return Gaps(tuple(rows), tuple(left_out))


NO_SHIFT = "no shift was run on both sides; --on natural, or the name of a shift, does"


def gaps_of(store: Store, cells: Sequence[Cell], how: IntervalOptions) -> Iterator[Gap | str]:
    """The gaps of one model; where one is undefined, the shift and why."""
    tables = ImageTables(store)
    for shift in shifts_in(store):
        standard = [cell for cell in cells if shift.is_standard(cell) and store.row_files(cell)]
        shifted = [cell for cell in cells if shift.is_shifted(cell) and store.row_files(cell)]
        # The cells are of one model, so that each side is at most one.
        for sides in zip(standard, shifted, strict=False):
            yield _gap_or_why(store, shift, sides, tables, how)


def _gap_or_why(
    store: Store, shift: StoredShift, sides: tuple[Cell, Cell], tables: ImageTables, how: IntervalOptions
) -> Gap | str:
    try:
        return _gap(store, shift, sides, tables, how)
    except OodometerError as why:
        return f"{shift.name}: {why}"


def _gap(store: Store, shift: StoredShift, sides: tuple[Cell, Cell], tables: ImageTables, how: IntervalOptions) -> Gap:
    standard, shifted = sides
    if not same_classes(standard, shifted):
        raise OodometerError("its two sides are answered over different classes, so they can't be compared")
    paired = not shift.of_other_images and same_photographs(tables.of(standard), tables.of(shifted))
    values = _paired(store, sides, how) if paired else _apart(store, sides, tables, how)
    return Gap(
        shifted.model_name,
        shifted.weights[:8],
        shift.name,
        shift.kind,
        standard.condition_name,
        shifted.condition_name,
        *values,
        paired=paired,
        state="complete" if all(store.is_sealed(cell) for cell in sides) else "unfinished",
        warnings=tuple(store.warnings(shifted)),
        cells=sides,
    )


Values = tuple[Estimate, Estimate, Estimate]
"""Top-1 on the standard side, on the shifted side, and the difference."""


def _paired(store: Store, sides: tuple[Cell, Cell], how: IntervalOptions) -> Values:
    """On the photographs that both sides have."""
    common = joined(store, sides, lambda rows: rows.rank == 0)
    a, b = common.values
    standard, shifted = (_share(side, how) for side in (a, b))
    if how.resamples_all:
        clusters = clusters_by(store, sides[0], common, how.by)
        draws = draws_of_means((a.astype(np.float64) - b)[:, None], resampling=_percentile(how), clusters=clusters)
        return standard, shifted, _bootstrapped(draws[:, 0], standard, shifted, how)
    # The difference of pairs is the second minus the first, so the shifted side comes first.
    counts = PairedCounts(int((a & b).sum()), int((~a & b).sum()), int((a & ~b).sum()), int((~a & ~b).sum()))
    return standard, shifted, paired_difference(counts, level=how.level)


def _apart(store: Store, sides: tuple[Cell, Cell], tables: ImageTables, how: IntervalOptions) -> Values:
    """Each side on its own images."""
    rows = [store.read(cell) for cell in sides]
    right = [one.rank[one.rank >= 0] == 0 for one in rows]
    if not all(len(one) for one in right):
        raise OodometerError("images without labels have no accuracy; 'score --ood' tells how well they are told apart")
    standard, shifted = (_share(one, how) for one in right)
    if how.resamples_all:
        draws = []
        for side, (cell, one, hits) in enumerate(zip(sides, rows, right, strict=True)):
            clusters = clusters_of(tables.of(cell), one, how.by)[one.rank >= 0] if how.by else None
            # Another seed for each side: their images have nothing to do with each other.
            resampling = _percentile(how, seed=2 * how.seed + side)
            draws.append(draws_of_means(hits[:, None], resampling=resampling, clusters=clusters)[:, 0])
        return standard, shifted, _bootstrapped(draws[0] - draws[1], standard, shifted, how)
    gap = accuracy_drop(standard.value, shifted.value, standard.n, shifted.n, level=how.level)
    return standard, shifted, gap


def _share(right: np.ndarray, how: IntervalOptions) -> Estimate:
    return share_of(int(right.sum()), len(right), interval=how.of_counts, level=how.level)


def _bootstrapped(draws: np.ndarray, standard: Estimate, shifted: Estimate, how: IntervalOptions) -> Estimate:
    assert shifted.n is not None
    name = "cluster bootstrap" if how.by else "bootstrap"
    difference = standard.value - shifted.value
    return interval_of(draws, difference, n=shifted.n, resampling=_percentile(how), name=name)


def _percentile(how: IntervalOptions, *, seed: int | None = None) -> Resampling:
    # Of a difference of two means there is no jackknife here, which BCa would need.
    return replace(how.resampling, method="percentile", seed=how.seed if seed is None else seed)


def _told_apart(sides: Sequence[tuple[str, Cell]]) -> list[str]:
    """What to call each: the name, with that of the data where they differ, and their digest where even that is one."""
    data = {(name, cell.data, str(cell.condition["data"])) for name, cell in sides}

    def called(name: str, cell: Cell) -> str:
        alike = [of for one, of, _ in data if one == name]
        digest = f"@{str(cell.condition['data'])[:8]}" if alike.count(cell.data) > 1 else ""
        return f"{name} ({cell.data}{digest})" if len(alike) > 1 else name

    return [called(*side) for side in sides]


def _without_n(estimate: Estimate) -> str:
    return str(estimate).partition("  n=")[0]
