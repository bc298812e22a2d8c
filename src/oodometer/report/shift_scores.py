"""The gap of each shift: what a model loses between its two sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.report.asked import Asked
from oodometer.report.estimates import How
from oodometer.report.joined import Joined, clusters_by, clusters_of, joined
from oodometer.report.named import same_classes
from oodometer.report.scores import LeftOut, Score, about, or_left_out
from oodometer.report.stored_points import same_photographs
from oodometer.stats.bootstrap import Resampling, draws_of_means, interval_of
from oodometer.stats.effective_robustness import accuracy_drop
from oodometer.stats.intervals import share_of
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.store.cells import Cell
from oodometer.store.images import ImageTables
from oodometer.store.shifts import StoredShift, shifts_in
from oodometer.store.store import Store

GAP = "gap"


def shift_scores(store: Store, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """Accuracy on the standard side minus accuracy on the shifted side, of every shift that was run on both."""
    some = False
    for shift in shifts_in(store):
        standard = [cell for cell in cells if shift.is_standard(cell) and store.row_files(cell)]
        shifted = [cell for cell in cells if shift.is_shifted(cell) and store.row_files(cell)]
        # Both sides are of one model here, so each is at most one cell.
        for a, b in zip(standard, shifted, strict=False):
            some = True
            yield from or_left_out(_gap(store, shift, (a, b), asked.how), (GAP,), shift.name)
    if not some:
        raise OodometerError("no shift was run on both sides; --on natural, or the name of a shift, does")


def _gap(store: Store, shift: StoredShift, sides: tuple[Cell, Cell], how: How) -> Iterator[Score]:
    standard, shifted = sides
    if not same_classes(standard, shifted):
        raise OodometerError("its two sides are answered over different classes, so they can't be compared")
    tables = ImageTables(store)
    same = same_photographs(tables.of(standard), tables.of(shifted))
    estimate, values = _paired(store, sides, how) if same else _apart(store, sides, tables, how)
    of_cells = about(store, [shifted, standard], missing=0, data=shifted.data)
    convention = (
        f"top-1 on {standard.condition_name} ({values[0]}) minus top-1 on {shifted.condition_name} ({values[1]}); "
        + ("the same photographs, paired" if same else "different images; n is that of the shifted ones")
    )
    yield of_cells.score(GAP, estimate, convention, condition=shift.name)


def _paired(store: Store, sides: tuple[Cell, Cell], how: How) -> tuple[Estimate, list[Estimate]]:
    """On the photographs that both sides have."""
    common: Joined = joined(store, sides, lambda rows: rows.rank == 0)
    a, b = common.values
    values = [share_of(int(side.sum()), len(side), level=how.level) for side in (a, b)]
    if how.resamples_all:
        clusters = clusters_by(store, sides[0], common, how.by)
        draws = draws_of_means((a.astype(np.float64) - b)[:, None], resampling=_percentile(how), clusters=clusters)
        return _bootstrapped(draws[:, 0], values, how, n=len(a)), values
    # The difference of pairs is the second minus the first, so the shifted side comes first.
    counts = PairedCounts(int((a & b).sum()), int((~a & b).sum()), int((a & ~b).sum()), int((~a & ~b).sum()))
    return paired_difference(counts, level=how.level), values


def _apart(store: Store, sides: tuple[Cell, Cell], tables: ImageTables, how: How) -> tuple[Estimate, list[Estimate]]:
    """Each side on its own images."""
    rows = [store.read(cell) for cell in sides]
    right = [one.rank[one.rank >= 0] == 0 for one in rows]
    if not all(len(one) for one in right):
        raise OodometerError("images without labels have no accuracy; 'score --ood' tells how well they are told apart")
    values = [share_of(int(one.sum()), len(one), level=how.level) for one in right]
    if how.resamples_all:
        draws = []
        for side, (cell, one, hits) in enumerate(zip(sides, rows, right, strict=True)):
            clusters = clusters_of(tables.of(cell), one, how.by)[one.rank >= 0] if how.by else None
            # Another seed for each side: their images have nothing to do with each other.
            resampling = _percentile(how, seed=2 * how.seed + side)
            draws.append(draws_of_means(hits[:, None], resampling=resampling, clusters=clusters)[:, 0])
        return _bootstrapped(draws[0] - draws[1], values, how, n=len(right[1])), values
    standard, shifted = values
    return accuracy_drop(standard.value, shifted.value, standard.n, shifted.n, level=how.level), values


def _bootstrapped(draws: np.ndarray, values: list[Estimate], how: How, *, n: int) -> Estimate:
    name = "cluster bootstrap" if how.by else "bootstrap"
    difference = values[0].value - values[1].value
    return interval_of(draws, difference, n=n, resampling=_percentile(how), name=name)


def _percentile(how: How, *, seed: int | None = None) -> Resampling:
    # Of a difference of two means there is no jackknife here, which BCa would need.
    return replace(how.resampling, method="percentile", seed=how.seed if seed is None else seed)
