"""The images that most models miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.analysis.class_scores import class_names
from oodometer.analysis.common_images import joined
from oodometer.analysis.text import columns
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.metrics.agreement import hardest_images
from oodometer.store.cells import Cell
from oodometer.store.index import Index, Source, index_at


@dataclass(frozen=True)
class HardImage:
    """One image.

    Args:
        label: Its class, as the data call it.
        missed_by: How many models miss it.
        models: How many were asked.
        instead: The wrong class that most models name, and how many do; its number where the data do not have it.
    """

    image: str
    label: str
    missed_by: int
    models: int
    instead: str
    instead_by: int


@dataclass(frozen=True)
class Hardest:
    """The hardest images of a condition, hardest first; prints as a table."""

    condition: str
    data: str
    models: tuple[str, ...]
    images: tuple[HardImage, ...]
    n: int

    def __str__(self) -> str:
        lines = [["image", "class", "missed by", "most often called"]]
        for one in self.images:
            called = f"{one.instead} ({one.instead_by})"
            lines.append([one.image, one.label, f"{one.missed_by} of {one.models}", called])
        who = f"all {len(self.models)} models" if len(self.models) > 1 else self.models[0]
        head = f"{self.condition} on {self.data}: {self.n} images that {who} saw"
        return f"{head}\n{columns(lines) if self.images else 'every model is right on every image'}"

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def hardest(store: Source, *, on: str = "clean", top: int = 20) -> Hardest:
    """The images that most models of a store miss, the hardest first; those that no model misses never.

    Args:
        on: The condition.
        top: How many, at most.
    """
    index = index_at(store)
    every = index.cells
    cells = [cell for cell in every if cell.condition_name == on and index.row_files(cell)]
    if not cells:
        hint = did_you_mean(on, {cell.condition_name for cell in every})
        raise UsageError(f"{index}: nothing was run on {on!r}{hint}")
    return hardest_of(index, cells, top=top)


def hardest_of(index: Index, cells: Sequence[Cell], *, top: int) -> Hardest:
    """The images that most models miss, from the cells of one condition that have rows."""
    cells = _of_one_kind(index, cells)
    common = joined(index, cells, lambda rows: np.column_stack([rows.rank == 0, rows.prediction]))
    answers = np.stack(common.values)
    found = hardest_images(answers[:, :, 0].astype(bool), top)
    names = _class_names(index, cells[0])
    images = tuple(
        _described(str(common.ids[at]), int(common.labels[at]), answers[:, at], names)
        for at, missing in zip(found.position, found.n_missing, strict=True)
        if missing
    )
    models = tuple(cell.model_name for cell in cells)
    return Hardest(cells[0].condition_name, cells[0].data.title, models, images, len(common))


def _of_one_kind(index: Index, cells: Sequence[Cell]) -> list[Cell]:
    """The cells, if their classes are numbered alike: else equal numbers would be other classes."""
    for cell in cells[1:]:
        if cell.classes != cells[0].classes:
            raise StoreError(
                f"{index}: {cells[0].model_name} and {cell.model_name} answer other classes on {cell.condition_name}"
            )
    return list(cells)


def _class_names(index: Index, cell: Cell) -> dict[int, str]:
    """What the data call the classes: all where the model numbers them as the data do, else those that occur."""
    images, rows = index.images(cell), index.read(cell)
    known = rows.label >= 0
    if np.array_equal(rows.label[known], images.labels[rows.image[known]]):
        return dict(enumerate(images.space.classes))
    return class_names(images, rows)


def _described(image: str, label: int, answers: np.ndarray, names: dict[int, str]) -> HardImage:
    wrong = Counter(int(prediction) for right, prediction in answers if not right)
    instead, times = min(wrong.items(), key=lambda one: (-one[1], one[0]))
    called = names.get(instead, f"class {instead}")
    return HardImage(image, names[label], wrong.total(), len(answers), called, times)
