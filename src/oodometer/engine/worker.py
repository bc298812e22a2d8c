"""A chunk: decode once, canonical pixels once, each transform once, every model while the chunk is in cache.

It is done from end to end by one thread, so the threads never wait for each other: while one decodes, another is in a
forward pass, and what is in memory is bounded by threads x chunk whatever the size of the data.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from oodometer.core.attack import Target
from oodometer.core.condition import Transform
from oodometer.core.errors import DataError, ModelError
from oodometer.core.model import Compute, Forward, Model, Stoppable, batches, checked_logits
from oodometer.core.predictions import concatenate, from_logits, taken, with_logits
from oodometer.core.preprocessing import Geometry
from oodometer.data.source import ChangedError
from oodometer.engine.plan import (
    Chunk,
    Part,
    Task,
)
from oodometer.store.files import Batch
from oodometer.store.store import Store

Images = dict[int, np.ndarray]
"""Pixels by position in a data set, or by row of a source; images that can't be read are not there."""


class StoppedError(Exception):
    """The run is being stopped: unwind."""


BATCH = {"cpu": 32}
"""Images per forward pass: few on a CPU, where a stop need not wait long and memory stays small; a GPU wants many."""


class Worker:
    """Does chunks; called by many threads. Models are opened when first needed, once per process."""

    def __init__(self, store: Store, compute: Compute, *, skip_broken: bool) -> None:
        self._store = store
        self._compute = compute
        self._skip_broken = skip_broken
        self._opened: dict[str, Forward] = {}
        self._networks: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def __reduce__(self) -> tuple[Callable[..., Worker], tuple[Store, Compute]]:
        # On another machine the models are opened anew.
        return partial(Worker, skip_broken=self._skip_broken), (self._store, self._compute)

    def stop(self) -> None:
        """Begin no further batch: what is written stays, the rest is left for the next run."""
        self._stopped.set()
        opened: list[object] = list(self._opened.values())
        for forward in opened:
            if isinstance(forward, Stoppable):
                forward.stop()

    def __call__(self, chunk: Chunk) -> int:
        """Do what is missing of a chunk; the number of predictions made."""
        try:
            images = self._decode(chunk)
            with self._store.batch() as to:
                for model, parts in _by_model(part for part in chunk.parts if part.untouched):
                    self._answer_together(model, parts, images.get(model.input.view, {}), to)
                for transform, view, parts in _by_transform(chunk.parts):
                    pixels = _transformed(transform, parts, images.get(view, {}))
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
                if self._skip_broken:
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
        for some in batches(n_images, BATCH.get(self._compute.device, 256)):
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
        attack, compute = task.condition.attack, self._compute
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
                self._opened[model.name] = model.open(self._compute)
            return self._opened[model.name]

    def _network(self, model: Model) -> Any:
        with self._lock:
            if model.name not in self._networks:
                assert model.differentiable is not None
                self._networks[model.name] = model.differentiable(self._compute)
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
        rows_of.setdefault(_view_of(part), set()).update(part.rows[part.asked].tolist())
    views = sorted(rows_of, key=str)
    return {row: [view for view in views if row in rows_of[view]] for row in sorted(set().union(*rows_of.values()))}


def _by_model(parts: Iterable[Part]) -> list[tuple[Model, list[Part]]]:
    groups: dict[str, tuple[Model, list[Part]]] = {}
    for part in parts:
        groups.setdefault(part.task.model.name, (part.task.model, []))[1].append(part)
    return list(groups.values())


def _view_of(part: Part) -> Geometry:
    """How an image is decoded for a part: as its transform is defined, or else as its model wants to see it."""
    transform = part.task.condition.transform
    return (transform.view if transform else None) or part.task.model.input.view


def _by_transform(parts: Iterable[Part]) -> list[tuple[Transform, Geometry, list[Part]]]:
    """The transforms, what each is made on, and the parts that want it: those of one condition."""
    groups: dict[tuple[int, Geometry], tuple[Transform, Geometry, list[Part]]] = {}
    for part in parts:
        condition, view = part.task.condition, _view_of(part)
        if condition.transform is not None:
            groups.setdefault((id(condition), view), (condition.transform, view, []))[2].append(part)
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
