"""The scores of every model of a store, each number with its interval and n."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from oodometer.analysis.cell_estimates import CellEstimates
from oodometer.analysis.common_images import clusters_of, few_groups_in
from oodometer.analysis.imported_scores import imported_corruption_scores
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import (
    DEFAULT_METRICS,
    EVERY_METRIC,
    Asked,
    GroupScores,
    ScoreOptions,
    asked_name,
    checked_names,
    group_scores,
)
from oodometer.analysis.named import check_condition, models_of
from oodometer.analysis.sampled import accuracy_when_stopped, in_order_drawn, one_minus, stopped
from oodometer.analysis.score_table import LeftOut, Score, Scores, about, or_left_out
from oodometer.analysis.temperature_scaling import Scaled
from oodometer.analysis.value_scores import check_columns, value_scores
from oodometer.core.errors import OodometerError, StoreError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.core.model import n_cores
from oodometer.core.predictions import Predictions
from oodometer.metrics.conformal import check_alpha
from oodometer.metrics.metric import Metric
from oodometer.metrics.metric import metrics as cell_metrics
from oodometer.metrics.multi_label import read_label_sets
from oodometer.stats.intervals import DEFAULT_INTERVAL, share_of
from oodometer.store.cells import Cell
from oodometer.store.folder import Entry
from oodometer.store.index import Index, Source, index_at
from oodometer.store.tables import Accuracy

COUNTED = ("top-1", "top-5", "error")
"""Metrics that are counts of rows: one query answers them for all cells at once."""

FEWEST_TO_DOUBT = 20
"""Images, below which a low top-1 beside a high top-5 may be chance."""

TOGETHER = 32
"""Cells that a thread reads at once: the intervals of their calibration errors are searched for together."""

DEFAULT_OPTIONS = ScoreOptions()

Progress = Callable[[int, int], None]
"""Called with the number of cells that are done, and of all."""


def score(
    store: Source,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    interval: str = DEFAULT_INTERVAL,
    level: float = 0.95,
    options: ScoreOptions = DEFAULT_OPTIONS,
    progress: Progress | None = None,
) -> Scores:
    """The metrics of every model, measured or imported.

    Args:
        metrics: Their names; ``all`` for every one that is defined here, but breakdowns such as ``per-class`` and what
            reads all logits, such as ``temperature``.
        interval: ``clopper-pearson`` or ``wilson`` for shares; ``bootstrap`` or ``bca`` for every metric.
        level: Of the interval.
        options: What some metrics need.
        progress: Called with the number of cells read, and of all.

    Raises:
        OodometerError: A metric that was named is undefined for every model and condition. With ``all`` it is left
            out, and so is top-5 accuracy where nothing but the default was asked for.
    """
    index = index_at(store)
    how = IntervalOptions(interval, level, options.draws, options.by, options.seed)
    asked = Asked(checked_names(metrics), how, options)
    if how.resamples_all or set(asked.names) - set(COUNTED):
        _ = how.resampling  # an error now, if the draws are too few, rather than in the middle
    counted, tables = index.answered, index.tables
    if not counted and not tables:
        raise StoreError(f"{index}: no predictions in it yet; 'oodometer run' or 'oodometer import' makes some")
    cells = [found.cell for found in counted]
    _check_options(options, index, cells)
    undefined = Undefined()
    rows = [one for found in counted for one in undefined.without(_counted(index, found, asked), _where(found.cell))]
    rows += _of_cells(index, cells, asked, undefined, progress)
    rows += _of_groups(index, cells, asked, undefined)
    rows += undefined.without(value_scores(index, cells, asked)) if options.by_value else []
    rows = sorted(rows, key=lambda row: (row.model, row.weights))
    rows += [one for found in tables for one in _imported(found, asked)]
    rows += imported_corruption_scores(tables, asked)
    # By default top-5 is asked for by nobody in particular: where there are few classes, it is just not there.
    told = ("top-1",) if tuple(metrics) == DEFAULT_METRICS else asked.names
    undefined.check(() if EVERY_METRIC in metrics and rows else told, rows)
    return Scores(tuple(rows), undefined.lines(told), (*index.problems, *_warnings(index, options.by)))


def _warnings(index: Index, by: str | None) -> tuple[str, ...]:
    """What was found out about attacks while they ran, data of few groups, and answers that seem out of order."""
    cells = [entry.cell for entry in index.answered]
    attacked = [cell for cell in cells if cell.condition.attack is not None]
    of_attacks = [f"{_where(cell)}: {line}" for cell in attacked for line in index.warnings(cell)]
    disordered = [_where(entry.cell) + _shares(entry) for entry in index.answered if _out_of_order(entry)]
    return (*of_attacks, *few_groups_in(index, cells, by), *disordered)


def _out_of_order(entry: Entry) -> bool:
    """Whether the true class is often among the best five but seldom the best: then they may be in reversed order."""
    if entry.n < FEWEST_TO_DOUBT or _no_top5(entry.cell):
        return False
    chance = entry.n / entry.cell.n_classes
    top1, top5 = entry.top1 - chance, entry.top5 - 5 * chance  # beyond what chance gives: of few classes it is much
    return top5 >= (entry.n - 5 * chance) / 2 and 3 * top1 < top5


def _shares(entry: Entry) -> str:
    top1, top5 = entry.top1 / entry.n, entry.top5 / entry.n
    return f": top-1 is {top1:.4f} but top-5 {top5:.4f}; are its classes in order, the best first?"


def _check_options(options: ScoreOptions, index: Index, cells: Sequence[Cell]) -> None:
    """An error for what the user named and nothing can be made of, whatever metrics are asked for."""
    if options.temperature is not None:
        check_condition(options.temperature, cells, "--temperature")
    if options.ood is not None:
        check_condition(options.ood, cells, "--ood")
    if options.calibrate_on is not None:
        check_condition(options.calibrate_on, cells, "--calibrate-on")
    check_alpha(options.alpha)
    if options.normaliser is not None:
        index.of_model(options.normaliser)
    if options.label_sets is not None:
        read_label_sets(options.label_sets, n_classes=max((cell.n_classes for cell in cells), default=1000))
    check_columns(index, cells, options.by_value)
    if options.by not in (None, "class"):
        known = {"class"}
        for cell in cells:
            known |= set(index.images(cell).columns)
            if options.by in known:
                return
        raise UsageError(f"--by {options.by}: no data here have such a column{did_you_mean(str(options.by), known)}")


class Undefined:
    """What could not be computed, where, and why."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[str]] = {}

    def without(self, found: Iterable[Score | LeftOut], where: str = "") -> Iterator[Score]:
        """The scores alone; the reasons are kept, with the cell that they are about, if it is one."""
        for one in found:
            if not isinstance(one, LeftOut):
                yield one
                continue
            for name in one.metrics:
                self._found.setdefault((name, one.why), []).append(where)

    def check(self, names: Sequence[str], rows: Sequence[Score]) -> None:
        """An error if one of these metrics is defined nowhere."""
        found = {asked_name(row.metric) for row in rows}
        for name in names:
            if name not in found:
                reasons = [why for one, why in self._found if one == name]
                raise OodometerError(
                    _said([name], reasons[0] if reasons else "there are no predictions to compute it from")
                )

    def lines(self, names: Sequence[str]) -> tuple[str, ...]:
        """One line per reason that keeps one of these metrics from being computed."""
        by_reason: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for (name, why), where in self._found.items():
            if name in names:
                by_reason.setdefault((why.removeprefix(f"{name}: "), tuple(where)), []).append(name)
        return tuple(_said(about_names, why) + _places(where) for (why, where), about_names in by_reason.items())


def _said(names: Sequence[str], why: str) -> str:
    """A reason with the metrics that it is about, once."""
    return why if why.startswith(f"{names[0]}: ") else f"{', '.join(names)}: {why}"


def _places(where: Sequence[str]) -> str:
    if not where[0]:
        return ""
    return f" ({where[0]})" if len(where) == 1 else f" ({where[0]} and {len(where) - 1} more)"


def _where(cell: Cell) -> str:
    return f"{cell.model_name} on {cell.condition_name}"


def _counted(index: Index, found: Entry, asked: Asked) -> Iterator[Score | LeftOut]:
    """The metrics that are counts."""
    if asked.how.resamples_all or not asked.wants(*COUNTED):
        return
    cell = found.cell
    if found.n == 0:
        yield LeftOut(COUNTED, "no labelled images, so it is undefined")
        return
    hits = {"top-1": found.top1, "top-5": found.top5, "error": found.n - found.top1}
    sample = stopped(cell)
    of_cell = about(index, [cell], missing=cell.n_rows - found.n_rows)
    for name in asked.names:
        if name == "top-5" and (why := _no_top5(cell)):
            yield LeftOut(("top-5",), why)
        elif sample is not None and name in ("top-1", "error"):
            accuracy = accuracy_when_stopped(in_order_drawn(index, cell), sample, level=asked.how.level)
            estimate = accuracy if name == "top-1" else one_minus(accuracy)
            yield of_cell.score(name, estimate, cell_metrics.get(name).convention)
        elif name in hits:
            estimate = share_of(hits[name], found.n, interval=asked.how.interval, level=asked.how.level)
            yield of_cell.score(name, estimate, cell_metrics.get(name).convention)


def _no_top5(cell: Cell) -> str:
    """Why top-5 accuracy says nothing about this cell; empty where it does."""
    if cell.n_classes <= 5:
        return f"every answer is among the best five of {cell.n_classes} classes"
    if cell.known_classes is not None and cell.known_classes < 5:
        return f"only the best {cell.known_classes} classes of these answers are known"
    return ""


def _of_cells(
    index: Index, cells: Sequence[Cell], asked: Asked, undefined: Undefined, progress: Progress | None
) -> Iterator[Score]:
    """The metrics that are a number about one cell and no count."""
    known = set(cell_metrics.names())
    names = [name for name in asked.names if name in known and (asked.how.resamples_all or name not in COUNTED)]
    if not names or not cells:
        return
    wanted = [cell_metrics.get(name) for name in names]
    for done, (cell, found) in enumerate(scores_of_cells(index, cells, wanted, asked)):
        if progress:
            progress(done, len(cells))
        yield from undefined.without(found, _where(cell))
    if progress:
        progress(len(cells), len(cells))


def scores_of_cells(
    index: Index, cells: Sequence[Cell], metrics: Sequence[Metric], asked: Asked
) -> Iterator[tuple[Cell, Iterator[Score | LeftOut]]]:
    """The metrics of each of these cells, and what is undefined of it; cells are read by several threads."""
    reading = _Reading(index, Scaled(index, cells, asked.options.temperature))

    def scores(some: Sequence[Cell]) -> list[list[Score | LeftOut]]:
        opened = [list(_open(reading, cell, metrics, asked.how)) for cell in some]
        read = [part.estimates for parts in opened for part in parts if part.estimates is not None]
        CellEstimates.prepare(read)
        return [[score for part in parts for score in part.scores()] for parts in opened]

    # Temperatures are fitted once for each model, by whoever comes first.
    threads = 1 if asked.options.temperature else n_cores()
    together = [cells[start : start + TOGETHER] for start in range(0, len(cells), TOGETHER)]
    with ThreadPoolExecutor(threads) as pool:
        for some, found in zip(together, pool.map(scores, together), strict=True):
            yield from zip(some, map(iter, found), strict=True)


@dataclass(frozen=True)
class _Reading:
    """Where the rows of cells and their images come from."""

    index: Index
    scaled: Scaled


@dataclass(frozen=True)
class _Opened:
    """Metrics of a cell whose rows are read; without them, why they can't be."""

    reading: _Reading
    cell: Cell
    metrics: tuple[Metric, ...]
    estimates: CellEstimates | None
    missing: int = 0
    why: str = ""

    def scores(self) -> Iterator[Score | LeftOut]:
        """Each metric with its interval, or why it has none."""
        if self.estimates is None:
            yield LeftOut(tuple(metric.name for metric in self.metrics), self.why)
            return
        of_cell = about(self.reading.index, [self.cell], missing=self.missing)
        for metric in self.metrics:
            if metric.name == "top-5" and (why := _no_top5(self.cell)):
                yield LeftOut(("top-5",), why)
                continue
            try:
                estimate = self.estimates.of(metric)
            except OodometerError as error:
                yield LeftOut((metric.name,), str(error))
            else:
                scaled = self.reading.scaled
                note = scaled.note(self.cell) if scaled.changes(metric) else ""
                yield of_cell.score(metric.name, estimate, metric.convention + note)


def _open(reading: _Reading, cell: Cell, metrics: Sequence[Metric], how: IntervalOptions) -> Iterator[_Opened]:
    """The rows of a cell, read for the metrics that need them as they are and for those of scaled confidences."""
    plain = tuple(metric for metric in metrics if not reading.scaled.changes(metric))
    changed = tuple(metric for metric in metrics if reading.scaled.changes(metric))
    needed = {name for metric in plain for name in metric.columns} | ({"label"} if how.by == "class" else set())

    def needed_alone(cell: Cell) -> Predictions:
        return reading.index.read_some(cell, needed)

    for read, some in ((needed_alone, plain), (reading.scaled.read, changed)):
        if some:
            yield _read(reading, cell, read, some, how)


def _read(
    reading: _Reading,
    cell: Cell,
    read: Callable[[Cell], Predictions],
    metrics: tuple[Metric, ...],
    how: IntervalOptions,
) -> _Opened:
    try:
        rows = read(cell)
        clusters = clusters_of(reading.index.images(cell), rows, how.by) if how.by else None
    except UsageError:
        raise
    except OodometerError as error:
        return _Opened(reading, cell, metrics, None, why=str(error))
    return _Opened(reading, cell, metrics, CellEstimates(rows, metrics, how, clusters), cell.n_rows - len(rows))


def _of_groups(index: Index, cells: Sequence[Cell], asked: Asked, undefined: Undefined) -> Iterator[Score]:
    """The metrics about several cells of one model, or about less than a cell."""
    known = set(group_scores.names())
    by_function: dict[GroupScores, list[str]] = {}
    for name in asked.names:
        if name in known:
            by_function.setdefault(group_scores.get(name), []).append(name)
    for function, names in by_function.items():
        for of_model in models_of(cells):
            yield from undefined.without(or_left_out(function(index, of_model, asked), tuple(names)))


def _imported(found: Accuracy, asked: Asked) -> Iterator[Score]:
    for name, share in (("top-1", found.accuracy), ("error", round(1 - found.accuracy, 12))):
        if asked.wants(name):
            convention = cell_metrics.get(name).convention
            estimate = _of_table(share, found.n, asked.how)
            yield Score(found.model, "", found.condition, "", "", name, estimate, 0, "imported", "", convention)


def _of_table(share: float, n: int | None, how: IntervalOptions) -> Estimate:
    if n is None:
        return Estimate(share, None, None, None, "none: n is not known")
    if how.resamples_all:
        return Estimate(share, None, None, n, "none: the images are not here")
    # The table gives a rounded share; the nearest count is the one it came from, or as close as can be known.
    near = share_of(round(share * n), n, interval=how.interval, level=how.level)
    return Estimate(share, near.low, near.high, n, near.interval)
