"""The scores of every model of a store, each number with its interval and n."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import Predictions
from oodometer.metrics.metric import Metric, columns_of
from oodometer.metrics.metric import metrics as cell_metrics
from oodometer.report.asked import (
    DEFAULT_METRICS,
    EVERY_METRIC,
    Asked,
    GroupScores,
    ScoreOptions,
    checked_names,
    group_scores,
)
from oodometer.report.estimates import How, estimate_of
from oodometer.report.joined import clusters_of
from oodometer.report.scaled import Scaled
from oodometer.report.scores import Score, Scores, score_of
from oodometer.stats.intervals import DEFAULT_INTERVAL, share_of
from oodometer.store.cells import Cell
from oodometer.store.images import images_of
from oodometer.store.queries import Counts, counts
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, read_tables

COUNTED = ("top-1", "top-5", "error")
"""Metrics that are counts of rows: one query answers them for all cells at once."""

DEFAULT_OPTIONS = ScoreOptions()


def score(
    store: str | Store,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    interval: str = DEFAULT_INTERVAL,
    level: float = 0.95,
    options: ScoreOptions = DEFAULT_OPTIONS,
    progress: Callable[[int, int], None] | None = None,
) -> Scores:
    """The metrics of every model, measured or imported.

    Args:
        metrics: Their names; ``all`` for every one that is defined here.
        interval: ``clopper-pearson`` or ``wilson`` for shares; ``bootstrap`` or ``bca`` for every metric.
        level: Of the interval.
        options: What some metrics need.
        progress: Called with the number of cells read, and of all.
    """
    opened = store if isinstance(store, Store) else open_store(str(store))
    how = How(interval, level, options.draws, options.by, options.seed)
    asked = Asked(checked_names(metrics), how, options)
    undefined = Undefined()
    counted = counts(opened)
    tables = read_tables(opened)
    if not counted and not tables:
        raise StoreError(f"{opened}: no predictions in it yet; 'oodometer run' or 'oodometer import' makes some")
    rows = [one for found in counted for one in _counted(opened, found, asked)]
    rows += _of_cells(opened, [found.cell for found in counted], asked, undefined, progress)
    rows += _of_groups(opened, [found.cell for found in counted], asked, undefined)
    rows = sorted(rows, key=lambda row: (row.model, row.weights))
    rows += [one for found in tables for one in _imported(found, asked)]
    if EVERY_METRIC not in metrics:
        undefined.check(metrics, rows)
    if not rows:
        raise StoreError(f"{opened}: none of its images has a label, so there is no accuracy")
    return Scores(tuple(rows), undefined.lines())


class Undefined:
    """What could not be computed, where, and why."""

    def __init__(self) -> None:
        self.where: dict[tuple[str, str], list[str]] = {}

    @contextmanager
    def noting(self, names: Sequence[str], where: str) -> Iterator[None]:
        """Keep an error about these metrics for later."""
        try:
            yield
        except OodometerError as why:
            for name in names:
                self.where.setdefault((name, str(why)), []).append(where)

    def check(self, names: Sequence[str], rows: Sequence[Score]) -> None:
        """An error if one of these metrics is defined nowhere."""
        found = {row.metric.partition("[")[0] for row in rows}
        for name, why in self.where:
            if name in names and name not in found:
                raise OodometerError(why)

    def lines(self) -> tuple[str, ...]:
        """One line per metric and reason."""
        return tuple(
            why if len(where) == 1 else f"{why} ({name}: {len(where)} times)"
            for (name, why), where in self.where.items()
        )


def _counted(store: Store, found: Counts, asked: Asked) -> Iterator[Score]:
    """The metrics that are counts."""
    if found.n == 0 or asked.how.resamples_all:
        return
    cell = found.cell
    hits = {"top-1": found.top1, "error": found.n - found.top1}
    if _has_top5(cell):
        hits["top-5"] = found.top5
    for name in asked.names:
        if name in hits:
            estimate = share_of(hits[name], found.n, interval=asked.how.interval, level=asked.how.level)
            missing = cell.n_images - found.n_rows
            yield score_of(store, [cell], name, estimate, missing=missing, convention=cell_metrics.get(name).convention)


def _has_top5(cell: Cell) -> bool:
    """Whether top-5 says anything: with five classes or fewer every answer is among the top five."""
    known = cell.n_classes if cell.known_classes is None else cell.known_classes
    return known >= 5 and cell.n_classes > 5


def _of_cells(
    store: Store, cells: list[Cell], asked: Asked, undefined: Undefined, progress: Callable[[int, int], None] | None
) -> Iterator[Score]:
    """The metrics that are a number about one cell and no count."""
    known = set(cell_metrics.names())
    names = [name for name in asked.names if name in known and (asked.how.resamples_all or name not in COUNTED)]
    if not names:
        return
    scaled = Scaled(store, cells, asked.options.temperature)
    for done, cell in enumerate(cells):
        if progress:
            progress(done, len(cells))
        with undefined.noting(names, cell.condition_name):
            rows = scaled.read(cell)
            for name in names:
                if name == "top-5" and not _has_top5(cell):
                    continue
                metric = cell_metrics.get(name)
                with undefined.noting([name], cell.condition_name):
                    estimate = _estimate(store, cell, metric, rows, asked.how)
                    said = metric.convention + scaled.note(cell)
                    yield score_of(store, [cell], name, estimate, missing=cell.n_images - len(rows), convention=said)
    if progress:
        progress(len(cells), len(cells))


def _estimate(store: Store, cell: Cell, metric: Metric, rows: Predictions, how: How) -> Estimate:
    columns = columns_of(metric, rows)
    clusters = None
    if how.by is not None:
        labelled = rows.rank >= 0 if len(columns[0]) < len(rows) else slice(None)
        clusters = clusters_of(images_of(store, cell), rows, how.by)[labelled]
    return estimate_of(metric, columns, how, clusters)


def _of_groups(store: Store, cells: list[Cell], asked: Asked, undefined: Undefined) -> Iterator[Score]:
    """The metrics about several cells of one model, or about less than a cell."""
    known = set(group_scores.names())
    by_function: dict[GroupScores, list[str]] = {}
    for name in asked.names:
        if name in known:
            by_function.setdefault(group_scores.get(name), []).append(name)
    for function, names in by_function.items():
        for of_model in models_of(cells):
            with undefined.noting(names, of_model[0].model_name):
                yield from function(store, of_model, asked)


def models_of(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells of each model: of the same weights, preprocessing and precision."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        same = (cell.model_name, str(cell.model["digest"]), str(cell.model.get("input")), cell.precision)
        groups.setdefault(same, []).append(cell)
    return list(groups.values())


def _imported(found: Accuracy, asked: Asked) -> Iterator[Score]:
    for name, share in (("top-1", found.accuracy), ("error", 1 - found.accuracy)):
        if not asked.wants(name):
            continue
        if found.n is None:
            estimate = Estimate(share, None, None, None, "none: n is not known")
        elif asked.how.resamples_all:
            estimate = Estimate(share, None, None, found.n, "none: the images are not here")
        else:
            # The table gives a rounded share; the nearest count is the one it came from, or as close as can be known.
            near = share_of(round(share * found.n), found.n, interval=asked.how.interval, level=asked.how.level)
            estimate = Estimate(share, near.low, near.high, found.n, near.interval)
        convention = cell_metrics.get(name).convention
        yield Score(found.model, "", found.condition, "", "", name, estimate, 0, "imported", "", convention)
