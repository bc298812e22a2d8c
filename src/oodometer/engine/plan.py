"""The plan: which cells there are, what is still missing, and how it is cut into chunks."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata

import numpy as np

from oodometer.core.condition import Condition
from oodometer.core.dataset import Dataset, ImageSource
from oodometer.core.errors import DataError, ModelError, UsageError
from oodometer.core.labels import NUMBERS, LabelMap, align, mapped_onto, numbered
from oodometer.core.model import Model, batches
from oodometer.core.predictions import Predictions, taken
from oodometer.core.records import ConditionRecord, ModelRecord, record_of_condition, record_of_model
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.reuse import known_rows
from oodometer.store.cells import Cell
from oodometer.store.index import Index

Range = tuple[int, int]


@dataclass(frozen=True)
class Task:
    """One model on one condition.

    Args:
        labels: Of each image among the classes that are answered, (N,).
        other_labels: Further labels of each image, any of which counts; None where no image has any.
        label_map: From the model's own outputs to the classes that are answered; None: they are the same.
        covered: What is already done.
        keep_logits: Whether all logits are stored.
        known: Rows that other cells of the store have of the same images: they are not asked for again.
    """

    cell: Cell
    model: Model
    condition: Condition
    labels: np.ndarray
    other_labels: tuple[np.ndarray, ...] | None
    label_map: LabelMap | None
    covered: tuple[Range, ...]
    keep_logits: bool = False
    known: Predictions | None = None


@dataclass(frozen=True)
class Part:
    """Positions of one task's data set that lack predictions: what will be one file.

    Args:
        start: The first position.
        rows: Where these images are in the source, (N,).
    """

    task: Task
    start: int
    rows: np.ndarray

    @property
    def stop(self) -> int:
        """The position behind the last."""
        return self.start + len(self.rows)

    @cached_property
    def asked(self) -> np.ndarray:
        """Which of its images the model is asked about, (N,) bool: those whose rows are not known already."""
        if self.task.known is None:
            return np.ones(len(self.rows), dtype=bool)
        return ~np.isin(np.arange(self.start, self.stop), self.task.known.image)

    @property
    def known(self) -> Predictions | None:
        """The rows that are known already; None where there are none."""
        known = self.task.known
        if known is None:
            return None
        (places,) = np.nonzero((known.image >= self.start) & (known.image < self.stop))
        return taken(known, places) if len(places) else None

    @property
    def untouched(self) -> bool:
        """Whether the images are shown as they are: then a model answers for all its tasks at once."""
        return self.task.condition.transform is None and self.task.condition.attack is None


@dataclass(frozen=True)
class Chunk:
    """Some images of one source, and the parts that are made of them."""

    source: ImageSource
    parts: tuple[Part, ...]

    @property
    def n_predictions(self) -> int:
        """How many rows are to be made."""
        return sum(int(part.asked.sum()) for part in self.parts)


def cell_for(model: Model | StoredAnswers, condition: Condition, *, precision: str) -> Cell:
    """The cell of a model and a condition."""
    return _cell(model, record_of_model(model), condition, record_of_condition(condition), precision)


def _cell(
    model: Model | StoredAnswers,
    model_record: ModelRecord,
    condition: Condition,
    condition_record: ConditionRecord,
    precision: str,
) -> Cell:
    known, answered = None, condition.space
    if isinstance(model, StoredAnswers):
        if model.kind == "classes":
            known = model.values.shape[1]
        elif answered.name == NUMBERS:
            answered = numbered(model.values.shape[1])
    elif condition.label_map is None:
        answered = model.space
    return Cell(
        model=model_record,
        condition=condition_record,
        space=answered.name,
        n_classes=len(answered),
        n_images=len(condition.dataset),
        n_units=None if condition.unit is None else len(np.unique(condition.dataset.columns[condition.unit])),
        precision=precision,
        known_classes=known,
        answers=_answers_of_classes(model, condition),
        versions=installed_versions(),
    )


@cache
def installed_versions() -> dict[str, str]:
    """The versions of what decodes images and runs models here."""
    found = {"python": platform.python_version()}
    for package in ("oodometer", "numpy", "pillow", "onnxruntime", "torch", "timm", "torchvision"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def labels_for(model: Model, condition: Condition) -> np.ndarray:
    """The labels as indices of what the model will answer, (N,)."""
    return _answers(condition.dataset.labels, model, condition)


def other_labels_for(model: Model, condition: Condition) -> tuple[np.ndarray, ...] | None:
    """The further labels of each image as indices of what the model will answer; None where there are none."""
    others = condition.dataset.other_labels
    if others is None:
        return None
    flat = _answers(np.array([one for some in others for one in some], dtype=np.int64), model, condition)
    return tuple(np.split(flat, np.cumsum([len(some) for some in others])[:-1]))


def _answers_of_classes(model: Model | StoredAnswers, condition: Condition) -> tuple[int, ...] | None:
    """The place of each class of the data among the answers, -1 for one that does not occur; for several labels."""
    data = condition.dataset
    if data.other_labels is None:
        return None
    if isinstance(model, StoredAnswers):  # their classes have the order of the data's
        return tuple(range(len(data.space)))
    used = np.unique([*data.labels.tolist(), *(one for some in data.other_labels for one in some)])
    used = used[used >= 0]
    places = np.full(len(data.space), -1, dtype=np.int64)
    places[used] = _answers(used, model, condition)
    return tuple(int(place) for place in places)


def label_map_for(model: Model, condition: Condition) -> LabelMap | None:
    """The condition's label map from the outputs of this model, whatever order it has its classes in."""
    if condition.label_map is None:
        return None
    return mapped_onto(condition.label_map, model.space, what=f"model {model.name}")


def _answers(labels: np.ndarray, model: Model, condition: Condition) -> np.ndarray:
    data, mapped = condition.dataset, condition.label_map
    if mapped is None:
        return align(labels, data.space, model.space, what=f"model {model.name}")
    if data.space == mapped.target:
        return labels
    return mapped.labels(align(labels, data.space, mapped.source, what=f"label map {mapped.name}"))


@dataclass(frozen=True)
class Asked:
    """A condition, and whether all logits of it are stored.

    Args:
        without: Models that are not asked about it, since they lack its classes.
    """

    condition: Condition
    keep_logits: bool
    without: frozenset[str] = frozenset()


def tasks_for(
    models: Sequence[Model], asked: Sequence[Asked], index: Index, *, precision: str, try_again: bool = True
) -> list[Task]:
    """Every cell of the plan, with what the store already has of it; ``try_again`` as of `known_rows`."""
    names = [model.name for model in models]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UsageError(f"two models are named {sorted(twice)[0]!r}; give one another name (--model NAME=KIND:...)")
    records = {model.name: record_of_model(model) for model in models}
    tasks = []
    for one in asked:
        record = record_of_condition(one.condition)
        for model in (model for model in models if model.name not in one.without):
            cell = _cell(model, records[model.name], one.condition, record, precision)
            labels, others = labels_for(model, one.condition), other_labels_for(model, one.condition)
            if one.condition.attack is not None:
                _check_attackable(model, one.condition, labels)
            label_map = label_map_for(model, one.condition)
            known, covered = known_rows(index, cell, one.condition, keep_logits=one.keep_logits, try_again=try_again)
            tasks.append(Task(cell, model, one.condition, labels, others, label_map, covered, one.keep_logits, known))
    return tasks


def _check_attackable(model: Model, condition: Condition, labels: np.ndarray) -> None:
    if model.differentiable is None:
        raise ModelError(
            f"model {model.name}: {condition.name} needs gradients, which {model.kind} models do not have; give it as "
            "a torch, timm, zoo or ONNX model"
        )
    if (labels < 0).any():
        raise DataError(f"{condition.dataset.name}: {condition.name} needs the true class of every image")
    others = condition.dataset.other_labels or ()
    n_several = sum(not {first}.issuperset(more) for first, more in zip(condition.dataset.labels, others, strict=False))
    if n_several:
        # Away from one of them it may lead to another, which counts as right.
        raise DataError(
            f"{condition.dataset.name}: {condition.name} needs one true class per image, and {n_several} have several; "
            "attack the others alone"
        )


def n_missing(tasks: Iterable[Task]) -> int:
    """How many predictions are still to be made."""
    return sum(_n_asked(task, start, stop) for task in tasks for start, stop in _missing(task))


def _n_asked(task: Task, start: int, stop: int) -> int:
    known = 0 if task.known is None else int(((task.known.image >= start) & (task.known.image < stop)).sum())
    return stop - start - known


def _missing(task: Task) -> list[Range]:
    return gaps(0, task.cell.n_images, task.covered)


def chunks_for(tasks: Sequence[Task], *, size: int) -> Iterator[Chunk]:
    """What is still to be done, cut such that each image is decoded once for all tasks that want it.

    Tasks whose data sets have images in common are cut together, along the rows of the source.
    """
    of_data: dict[str, list[Task]] = {}
    for task in tasks:
        of_data.setdefault(task.condition.dataset.digest, []).append(task)
    # The same data may have been opened twice: the first of those that are equal stands for all.
    firsts = {digest: some[0].condition.dataset for digest, some in of_data.items()}
    for group in groups_of_shared_images(list(firsts.values())):
        yield from _cut([(dataset, of_data[dataset.digest]) for dataset in group], size)


def _cut(group: Sequence[tuple[Dataset, list[Task]]], size: int) -> Iterator[Chunk]:
    """Chunks of at most so many images; a task's part of each is a range of positions, less what is covered."""
    # A data set that is not in the order of its source is alone, and cut along its positions.
    places = [dataset.rows if in_order(dataset) else np.arange(len(dataset)) for dataset, _ in group]
    wanted = np.zeros(max(int(own[-1]) for own in places) + 1, dtype=bool)
    for own, (_, tasks) in zip(places, group, strict=True):
        for start, stop in {one for task in tasks for one in _missing(task)}:
            wanted[own[start:stop]] = True
    (found,) = np.nonzero(wanted)
    for some in batches(len(found), size):
        low, high = found[some][0], found[some][-1]
        parts = []
        for own, (dataset, tasks) in zip(places, group, strict=True):
            first, last = np.searchsorted(own, [low, high + 1]).tolist()
            for task in tasks:
                parts += [Part(task, a, dataset.rows[a:b]) for a, b in gaps(first, last, task.covered)]
        yield Chunk(group[0][0].source, tuple(parts))


def gaps(start: int, stop: int, covered: Iterable[Range]) -> list[Range]:
    """What of start to stop is not covered; ``covered`` is in order and without overlap.

    >>> gaps(0, 10, [(2, 4), (8, 20)])
    [(0, 2), (4, 8)]
    """
    left, found = start, []
    for low, high in covered:
        if low >= stop:
            break
        if low > left:
            found.append((left, low))
        left = max(left, high)
    if left < stop:
        found.append((left, stop))
    return found


def chunk_size(n_images: int, n_threads: int) -> int:
    """How many images a chunk has: many chunks per thread, and as many for each, so that all end together; few files.

    >>> [chunk_size(n, 2) for n in (20, 1000, 50_000)]
    [16, 32, 256]
    """
    return int(np.clip(-(-n_images // (16 * n_threads)), 16, 256))


def groups_of_shared_images(datasets: Sequence[Dataset]) -> list[list[Dataset]]:
    """The data sets, those together that have images of one source in common; each is in exactly one group.

    Parts of one source without a common image stay apart: there would be nothing to share, only smaller files.
    """
    of_source: dict[int, list[Dataset]] = {}
    alone: list[list[Dataset]] = []
    for dataset in datasets:
        if in_order(dataset):
            of_source.setdefault(id(dataset.source), []).append(dataset)
        else:
            alone.append([dataset])
    return [group for some in of_source.values() for group in _overlapping(some)] + alone


def in_order(dataset: Dataset) -> bool:
    """Whether its images come in the order of the source, each once."""
    return bool((np.diff(dataset.rows) > 0).all())


def _overlapping(datasets: Sequence[Dataset]) -> list[list[Dataset]]:
    # Whose each row of the source is; where a data set finds rows of others, their groups become its own.
    owners = np.full(max(int(one.rows[-1]) for one in datasets) + 1, -1)
    for number, dataset in enumerate(datasets):
        for other in np.unique(owners[dataset.rows]):
            if other >= 0:
                owners[owners == other] = number
        owners[dataset.rows] = number
    groups: dict[int, list[Dataset]] = {}
    for dataset in datasets:
        groups.setdefault(int(owners[dataset.rows[0]]), []).append(dataset)
    return list(groups.values())
