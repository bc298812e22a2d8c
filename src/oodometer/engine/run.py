"""A run: look at the images, plan what is missing, have it done, seal what is complete, and tell what to heed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Literal

from oodometer.core.attack import Attack
from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset, Progress, scan_together, silent, unreadable
from oodometer.core.errors import DataError, UsageError
from oodometer.core.model import Compute, Model, n_cores
from oodometer.core.records import record_of_model, record_of_shift
from oodometer.core.stored_answers import StoredAnswers
from oodometer.data.scan import rehashing
from oodometer.engine.answerable import answerable, same_condition, sides_of
from oodometer.engine.executors import Threads, executors
from oodometer.engine.plan import (
    Asked,
    Task,
    cell_for,
    chunk_size,
    chunks_for,
    gaps,
    n_missing,
    tasks_for,
)
from oodometer.engine.stored_answers import write_stored
from oodometer.engine.worker import Worker
from oodometer.store.cells import Cell
from oodometer.store.checked import DamagedError
from oodometer.store.index import Index, look
from oodometer.store.run import Run
from oodometer.store.store import Store, open_store


@dataclass(frozen=True)
class RunOptions:
    """How a run is done; nothing here but ``precision`` changes what comes out.

    Args:
        threads: How many chunks are worked on at once; 0: one per core.
        chunk: Images per chunk; 0: chosen by the size of the data.
        keep: ``logits`` stores all of them too, as float16.
        skip_broken: Leave out images that can't be read; otherwise they are an error.
        rehash: Read every image again to see whether it has changed, also where its file seems the same.
        compute: Device and precision of the forward passes.
        executor: Who does the chunks.
        may_leave_out: Names of shifts that are left out for models without their classes, which is told; of others
            that is an error.
    """

    threads: int = 0
    chunk: int = 0
    keep: Literal["summary", "logits"] = "summary"
    skip_broken: bool = False
    rehash: bool = False
    compute: Compute = field(default_factory=Compute)
    executor: str = "threads"
    may_leave_out: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.threads < 0 or self.chunk < 0:
            raise UsageError("threads and chunk must be 0 (chosen for you) or more")
        if self.keep not in ("summary", "logits"):
            raise UsageError(f"keep {self.keep!r}: expected summary or logits")


@dataclass(frozen=True)
class Watcher:
    """Who is told how a run goes; by default nobody.

    Args:
        running: Told the number of predictions made and to make.
        scanning: Told the number of files looked at before the work begins.
        warn: Told, in one line, what the user should know.
    """

    running: Progress = silent
    scanning: Progress = silent
    warn: Callable[[str], None] = lambda line: None  # noqa: ARG005


def run(
    models: Sequence[Model | StoredAnswers],
    shifts: Sequence[Condition | Shift],
    *,
    store: str | Store,
    options: RunOptions | None = None,
    watcher: Watcher | None = None,
) -> Run:
    """Ask every model about every shift and keep the answers; what the store has already is not done again.

    Args:
        shifts: Of each both sides are run, and the store remembers that they are a pair; or clean images alone.

    Returns:
        What the run was about; `score`, `gaps` and their like take it as they take a store.
    """
    options, watcher = options or RunOptions(), watcher or Watcher()
    if not models or not shifts:
        raise UsageError("nothing to run: give at least one model and one shift, or clean images")
    warnings = _Warnings(watcher)
    watcher = replace(watcher, warn=warnings)
    can = answerable(shifts, models, options.may_leave_out)
    shifts = can.shifts
    for line in can.lines:
        watcher.warn(line)
    open_to = store if isinstance(store, Store) else open_store(os.fspath(store), create=True)
    open_to.files.sweep()
    pairs = [shift for shift in shifts if isinstance(shift, Shift)]
    conditions = conditions_of(shifts)
    _scan(conditions, options, watcher)
    needed = [side for pair in pairs if pair.measure == "map" for side in (pair.standard, pair.shifted)]
    asked = [
        Asked(one, options.keep == "logits" or any(same_condition(one, side) for side in needed), can.without(one))
        for one in conditions
    ]
    live = [model for model in models if isinstance(model, Model)]
    precision = options.compute.precision

    def todo(*, try_again: bool) -> list[Task]:
        return tasks_for(live, asked, look(open_to), precision=precision, try_again=try_again)

    for line in _damaged_images(look(open_to), conditions):
        watcher.warn(line)
    for model in live:
        for line in _ran_otherwise(look(open_to), model):
            watcher.warn(line)
    tasks = todo(try_again=True)
    if _remove_damaged_attacks(tasks, open_to):
        tasks = todo(try_again=True)
    records = tuple(record_of_shift(pair) for pair in pairs)
    for record in records:
        open_to.add_shift(record)
    stored = [model for model in models if isinstance(model, StoredAnswers)]
    n_written = sum(_write_stored(model, asked, open_to) for model in stored)
    if tasks:
        _execute(tasks, open_to, options, watcher)
    else:
        watcher.running(n_written, n_written)
    # Another run that seals the same cells may have taken away parts of ours: look again, and do what is missing.
    # Images that could not be read are not among it: they were tried just now.
    while missing := [task for task in todo(try_again=False) if gaps(0, task.cell.n_images, task.covered)]:
        _execute(missing, open_to, options, watcher)
    _judge_attacks(tasks, open_to, watcher)
    cells = [task.cell for task in tasks]
    cells += [cell_for(model, one, precision="float32") for model in stored for one in conditions]
    return Run(open_to, tuple(cells), records, tuple(warnings.lines))


def _damaged_images(index: Index, conditions: Sequence[Condition]) -> Iterator[str]:
    """A line for each table of images, of this run's data or others of them, that the store has not whole."""
    mine = {condition.dataset.digest for condition in conditions}
    names = {(condition.dataset.name, condition.dataset.part) for condition in conditions}
    stored = {cell.data.digest for cell in index.cells if (cell.data.name, cell.data.part) in names}
    for digest in sorted(stored):
        if index.store.images_table(digest) is None:
            then = "written anew" if digest in mine else "its answers are not used again; the run that made it mends it"
            yield f"{index.store.files.locate(f'datasets/{digest}')}...parquet: missing or damaged; {then}"


def _ran_otherwise(index: Index, model: Model) -> Iterator[str]:
    """A line where the same weights were run before with another preprocessing: both are kept, and told apart."""
    now = record_of_model(model)
    for name, named in index.models.items():
        before = named.model
        if (before.name, before.digest) == (now.name, now.digest) and before.key != now.key:
            yield (
                f"{model.name} was run before with another preprocessing ({before.input}); both are kept, and the old "
                f"one can be removed with 'oodometer rm {index} {name!r}'"
            )


class _Warnings:
    """Passes warnings on, and keeps them."""

    def __init__(self, watcher: Watcher) -> None:
        self.lines: list[str] = []
        self._warn = watcher.warn

    def __call__(self, line: str) -> None:
        self.lines.append(line)
        self._warn(line)


def _scan(conditions: Sequence[Condition], options: RunOptions, watcher: Watcher) -> None:
    """Look at every file before the work begins."""
    datasets = list({id(condition.dataset): condition.dataset for condition in conditions}.values())
    of_source: dict[int, list[Dataset]] = {}
    for dataset in datasets:
        of_source.setdefault(id(dataset.source), []).append(dataset)
    with rehashing() if options.rehash else nullcontext():
        for group in of_source.values():
            scan_together(group, watcher.scanning)
    for dataset in datasets:
        check_readable(dataset, watcher, skip_broken=options.skip_broken)


def _write_stored(model: StoredAnswers, asked: Sequence[Asked], store: Store) -> int:
    kept = [[one.condition for one in asked if one.keep_logits is keep] for keep in (True, False)]
    return sum(
        write_stored(model, some, store, keep_logits=keep)
        for some, keep in zip(kept, (True, False), strict=True)
        if some
    )


def _remove_damaged_attacks(tasks: Sequence[Task], store: Store) -> bool:
    """Begin anew where it is lost what an attack found out about itself: its rows alone say less."""
    lost = [task.cell for task in tasks if task.condition.attack is not None and not _has_findings(store, task.cell)]
    for cell in lost:
        store.remove_cell(cell.key)
    return bool(lost)


def _has_findings(store: Store, cell: Cell) -> bool:
    """Whether what an attack found out can be read, as far as it is done."""
    try:
        store.findings(cell)
    except DamagedError:
        return False
    return True


def _judge_attacks(tasks: Sequence[Task], store: Store, watcher: Watcher) -> None:
    """Say what attacks found out about themselves."""
    for task in tasks:
        if task.condition.attack is not None:
            for line in _judged(task.condition.attack, task.cell, store):
                watcher.warn(f"{task.model.name} on {task.condition.name}: {line}")


def _judged(attack: Attack, cell: Cell, store: Store) -> list[str]:
    """What to warn of, kept with the cell; where its findings are damaged, what was kept before."""
    try:
        lines = list(attack.judge(store.findings(cell)))
    except DamagedError:
        unsure = "what the attack found out about itself is damaged, so that new warnings about it may be lacking"
        return [*store.known_warnings(cell), unsure]
    store.write_warnings(cell, lines)
    return lines


def conditions_of(asked: Sequence[Condition | Shift]) -> list[Condition]:
    """The conditions, and both sides of the shifts, each once."""
    sides = [side for one in asked for side in sides_of(one)]
    found: list[Condition] = []
    for side in sides:
        if not any(same_condition(side, one) for one in found):
            found.append(side)
    return found


def check_readable(dataset: Dataset, watcher: Watcher, *, skip_broken: bool) -> None:
    """Look at every file before the work begins: a broken one is an error now, not after hours."""
    broken = dataset.scan(watcher.scanning).broken
    if not broken:
        return
    line = unreadable(dataset, broken)
    if len(broken) == len(dataset):
        raise DataError(line)
    if not skip_broken:
        raise DataError(f"{line}; fix or remove them, or leave them out with --skip-broken")
    watcher.warn(f"{line}; left out, n is smaller by {len(broken)}")


def _execute(tasks: list[Task], store: Store, options: RunOptions, watcher: Watcher) -> None:
    n_threads = options.threads or n_cores()
    largest = max((task.cell.n_images for task in tasks), default=0)
    chunks = chunks_for(tasks, size=options.chunk or chunk_size(largest, n_threads))
    store.add_cells((task.cell, task.condition.dataset) for task in tasks)
    total, done = n_missing(tasks), 0
    executor = executors.get(options.executor)(n_threads)
    worker = Worker(store, _share(options.compute, n_threads), skip_broken=options.skip_broken)
    watcher.running(done, total)
    for n_predictions in executor.map(worker, chunks, stop=worker.stop):
        done += n_predictions
        watcher.running(done, total)

    def seal(task: Task) -> None:
        store.seal(task.cell, keep_logits=task.keep_logits)

    # By threads here, whoever did the chunks: sealing mostly waits for the disk.
    for _ in Threads(n_threads).map(seal, tasks, stop=lambda: None):
        pass


def _share(compute: Compute, n_threads: int) -> Compute:
    """The threads of one forward pass, when that many passes run at once."""
    return replace(compute, threads=max(1, n_cores() // n_threads))
