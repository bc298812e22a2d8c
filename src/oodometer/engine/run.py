"""The engine: decode once, canonical pixels once, each transform once, every model while the chunk is in cache.

A chunk is done from end to end by one thread, so the threads never wait for each other: while one decodes, another is
in a forward pass, and what is in memory is bounded by threads x chunk whatever the size of the data.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from oodometer.core.attack import Attack, Target
from oodometer.core.condition import Condition, Shift, Transform
from oodometer.core.dataset import Dataset, Progress, scan_together, silent, unreadable
from oodometer.core.errors import DataError, ModelError, UsageError
from oodometer.core.model import Compute, Forward, Model, batches, checked_logits, n_cores
from oodometer.core.predictions import concatenate, from_logits, taken, with_logits
from oodometer.core.preprocessing import Geometry
from oodometer.core.records import record_of_model, record_of_shift
from oodometer.core.stored_answers import StoredAnswers
from oodometer.data.scan import rehashing
from oodometer.data.source import ChangedError
from oodometer.engine.executors import Threads, executors
from oodometer.engine.plan import (
    Asked,
    Chunk,
    Part,
    Task,
    cell_for,
    chunk_size,
    chunks_for,
    gaps,
    groups_of_shared_images,
    n_missing,
    tasks_for,
)
from oodometer.engine.stored_answers import write_stored
from oodometer.store.cells import Cell
from oodometer.store.checked import DamagedError
from oodometer.store.files import Batch
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
    """

    threads: int = 0
    chunk: int = 0
    keep: Literal["summary", "logits"] = "summary"
    skip_broken: bool = False
    rehash: bool = False
    compute: Compute = field(default_factory=Compute)
    executor: str = "threads"

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
    open_to = store if isinstance(store, Store) else open_store(os.fspath(store), create=True)
    open_to.files.sweep()
    pairs = [shift for shift in shifts if isinstance(shift, Shift)]
    conditions = conditions_of(shifts)
    _scan(conditions, options, watcher)
    needed = [side for pair in pairs if pair.measure == "map" for side in (pair.standard, pair.shifted)]
    asked = [Asked(one, options.keep == "logits" or any(_same(one, side) for side in needed)) for one in conditions]
    live = [model for model in models if isinstance(model, Model)]
    precision = options.compute.precision

    def todo(*, try_again: bool) -> list[Task]:
        return tasks_for(live, asked, look(open_to), precision=precision, try_again=try_again)

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
    with rehashing() if options.rehash else nullcontext():
        for group in groups_of_shared_images(datasets):
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
    sides = [side for one in asked for side in ((one.standard, one.shifted) if isinstance(one, Shift) else (one,))]
    found: list[Condition] = []
    for side in sides:
        if not any(_same(side, one) for one in found):
            found.append(side)
    return found


def _same(a: Condition, b: Condition) -> bool:
    # Not by their descriptions: those hold the digest of the data, for which every file would have to be read.
    return a is b or (a.dataset is b.dataset and _without_data(a) == _without_data(b))


def _without_data(one: Condition) -> tuple[Any, ...]:
    """All that a condition is besides its data; functions do not count, as what they do is in the parameters."""
    transform, attack = one.transform, one.attack
    return (
        one.name,
        one.label_map,
        one.unit,
        transform and (transform.name, transform.parameters, transform.view),
        attack and (attack.name, attack.parameters),
    )


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
    worker = Worker(store, replace(options, compute=_share(options.compute, n_threads)))
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


Images = dict[int, np.ndarray]
"""Pixels by position in a data set, or by row of a source; images that can't be read are not there."""


class StoppedError(Exception):
    """The run is being stopped: unwind."""


BATCH = {"cpu": 32}
"""Images per forward pass: few on a CPU, where a stop need not wait long and memory stays small; a GPU wants many."""


class Worker:
    """Does chunks; called by many threads. Models are opened when first needed, once per process."""

    def __init__(self, store: Store, options: RunOptions) -> None:
        self._store = store
        self._options = options
        self._opened: dict[str, Forward] = {}
        self._networks: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def __reduce__(self) -> tuple[type[Worker], tuple[Store, RunOptions]]:
        # On another machine the models are opened anew.
        return Worker, (self._store, self._options)

    def stop(self) -> None:
        """Begin no further batch: what is written stays, the rest is left for the next run."""
        self._stopped.set()

    def __call__(self, chunk: Chunk) -> int:
        """Do what is missing of a chunk; the number of predictions made."""
        try:
            images = self._decode(chunk)
            with self._store.batch() as to:
                for model, parts in _by_model(part for part in chunk.parts if part.untouched):
                    self._answer_together(model, parts, images.get(model.input.view, {}), to)
                for transform, parts in _by_transform(chunk.parts):
                    pixels = _transformed(transform, parts, images.get(transform.view, {}))
                    for part in parts:
                        self._answer_transformed(part, pixels, to)
                for part in chunk.parts:
                    if part.task.condition.attack is not None:
                        self._answer_attacked(part, images.get(part.task.model.input.view, {}), to)
        except StoppedError:
            return 0
        return chunk.n_predictions

    def _check_stop(self) -> None:
        if self._stopped.is_set():
            raise StoppedError

    def _decode(self, chunk: Chunk) -> dict[Geometry, Images]:
        """Each readable image of the chunk, decoded once, by view and row."""
        wanted = _views_wanted(chunk)
        images: dict[Geometry, Images] = {view: {} for views in wanted.values() for view in views}
        for row, views in wanted.items():
            self._check_stop()
            try:
                seen = chunk.source.views(row, views)
            except ChangedError:  # it is not broken: to leave it out would be wrong too
                raise
            except DataError as error:
                if self._options.skip_broken:
                    continue
                raise DataError(f"{error}; mend or remove it, or leave it out with --skip-broken") from error
            for view, pixels in zip(views, seen, strict=True):
                images[view][row] = pixels
        return images

    def _answer_together(self, model: Model, parts: Sequence[Part], images: Images, to: Batch) -> None:
        """Ask one model once about each image that any of its parts wants, and write the rows of all of them."""
        rows = np.unique(np.concatenate([part.rows[part.asked] for part in parts]))
        rows = rows[[row in images for row in rows.tolist()]]
        logits = self._logits(model, [images[row] for row in rows.tolist()])
        for part in parts:
            readable = np.isin(part.rows, rows) & part.asked
            own = logits[np.searchsorted(rows, part.rows[readable])]
            self._write(part, part.start + np.flatnonzero(readable), _mapped(part.task, own), to)

    def _answer_transformed(self, part: Part, pixels: Images, to: Batch) -> None:
        """Ask one model about transformed images, by position, and write the rows."""
        task, asked = part.task, part.start + np.flatnonzero(part.asked)
        positions = np.array([place for place in asked.tolist() if place in pixels], dtype=np.int64)
        shown = [_shown_to(task.model, pixels[place]) for place in positions.tolist()]
        self._write(part, positions, _mapped(task, self._logits(task.model, shown)), to)

    def _answer_attacked(self, part: Part, images: Images, to: Batch) -> None:
        """Ask one model about the images that an attack makes of these, and write what it found, and the rows."""
        task, findings = part.task, Counter[str]()
        readable = np.array([row in images for row in part.rows.tolist()], dtype=bool) & part.asked
        positions, rows = part.start + np.flatnonzero(readable), part.rows[readable]
        logits = np.empty((len(positions), task.cell.n_classes), dtype=np.float32)
        for some in self._batches(len(positions)):
            batch = np.stack([images[row] for row in rows[some].tolist()])
            logits[some] = self._attacked(task, batch, positions[some], findings)
        self._store.write_findings(task.cell.key, part.start, part.stop, findings, batch=to)
        self._write(part, positions, logits, to)

    def _batches(self, n_images: int) -> Iterator[slice]:
        for some in batches(n_images, BATCH.get(self._options.compute.device, 256)):
            self._check_stop()
            yield some

    def _logits(self, model: Model, images: Sequence[np.ndarray]) -> np.ndarray:
        """What the model itself answers, (N, K)."""
        logits = np.empty((len(images), len(model.space)), dtype=np.float32)
        for some in self._batches(len(images)):
            batch = np.stack(images[some])
            logits[some] = checked_logits(model, self._forward(model)(batch), len(batch))
        return logits

    def _write(self, part: Part, positions: np.ndarray, logits: np.ndarray, to: Batch) -> None:
        """Write the rows of the readable images among a part's, and those that are known already."""
        task = part.task
        labels = task.labels[positions]
        if task.other_labels is not None:
            labels = best_labels(logits, labels, [task.other_labels[place] for place in positions])
        rows = from_logits(logits, labels, positions)
        rows = with_logits(rows, logits) if task.keep_logits else rows
        if (known := part.known) is not None:
            known = known if task.keep_logits else replace(known, logits=None)
            rows = concatenate([rows, known])
            rows = taken(rows, np.argsort(rows.image, kind="stable"))
        self._store.write_part(task.cell.key, part.start, part.stop, rows, batch=to)

    def _attacked(self, task: Task, batch: np.ndarray, positions: np.ndarray, findings: Counter[str]) -> np.ndarray:
        attack, compute = task.condition.attack, self._options.compute
        assert attack is not None
        target = Target(self._network(task.model), compute.device, task.label_map, self._check_stop)
        ids = [task.condition.dataset.ids[one] for one in positions]
        try:
            found = attack.apply(target, batch, task.labels[positions], ids)
        except ModelError as error:  # an attack does not know whom it attacks
            raise ModelError(f"model {task.model.name}: {error}") from error
        findings.update(found.findings)
        if found.logits.shape != (len(batch), task.cell.n_classes):
            raise ModelError(f"model {task.model.name}: answers of shape {found.logits.shape} under {attack.name}")
        if not np.isfinite(found.logits).all():
            raise ModelError(f"model {task.model.name}: NaN or infinite logits under {attack.name}")
        return found.logits

    def _forward(self, model: Model) -> Forward:
        with self._lock:
            if model.name not in self._opened:
                self._opened[model.name] = model.open(self._options.compute)
            return self._opened[model.name]

    def _network(self, model: Model) -> Any:
        with self._lock:
            if model.name not in self._networks:
                assert model.differentiable is not None
                self._networks[model.name] = model.differentiable(self._options.compute)
            return self._networks[model.name]


def best_labels(logits: np.ndarray, labels: np.ndarray, others: Sequence[np.ndarray]) -> np.ndarray:
    """Of each image's labels the one that the answers rank highest: where any counts, it decides, (N,).

    >>> best_labels(np.array([[1.0, 3.0, 2.0]]), np.array([0]), [np.array([2])]).tolist()
    [2]
    """
    best = labels.copy()
    for row, more in enumerate(others):
        if len(more):
            allowed = np.unique(np.append(more, labels[row] if labels[row] >= 0 else more[0]))
            best[row] = allowed[np.argmax(logits[row, allowed])]
    return best


def _views_wanted(chunk: Chunk) -> dict[int, list[Geometry]]:
    """The views of each row to decode to: a transform's canonical one, or what a model wants of untouched images."""
    rows_of: dict[Geometry, set[int]] = {}
    for part in chunk.parts:
        transform = part.task.condition.transform
        view = transform.view if transform else part.task.model.input.view
        rows_of.setdefault(view, set()).update(part.rows[part.asked].tolist())
    views = sorted(rows_of, key=str)
    return {row: [view for view in views if row in rows_of[view]] for row in sorted(set().union(*rows_of.values()))}


def _by_model(parts: Iterable[Part]) -> list[tuple[Model, list[Part]]]:
    groups: dict[str, tuple[Model, list[Part]]] = {}
    for part in parts:
        groups.setdefault(part.task.model.name, (part.task.model, []))[1].append(part)
    return list(groups.values())


def _by_transform(parts: Iterable[Part]) -> list[tuple[Transform, list[Part]]]:
    """The transforms, and the parts that want each: those of one condition."""
    groups: dict[int, tuple[Transform, list[Part]]] = {}
    for part in parts:
        condition = part.task.condition
        if condition.transform is not None:
            groups.setdefault(id(condition), (condition.transform, []))[1].append(part)
    return list(groups.values())


def _transformed(transform: Transform, parts: Sequence[Part], images: Images) -> Images:
    """The canonical pixels, by position, changed once for all models."""
    ids = parts[0].task.condition.dataset.ids
    canonical = {
        part.start + at: images[row]
        for part in parts
        for at, row in enumerate(part.rows.tolist())
        if row in images and part.asked[at]
    }
    return {position: transform.apply(pixels, ids[position]) for position, pixels in canonical.items()}


def _shown_to(model: Model, pixels: np.ndarray) -> np.ndarray:
    """What this model sees of transformed canonical pixels: where its size is another, one plain resize of them."""
    from oodometer.data.resize import plain_resize

    view = model.input.view
    return pixels if pixels.shape[:2] == (view.height, view.width) else plain_resize(pixels, view)


def _mapped(task: Task, logits: np.ndarray) -> np.ndarray:
    """The model's own answers as answers over the classes of the condition."""
    return task.label_map.logits(logits) if task.label_map else logits
