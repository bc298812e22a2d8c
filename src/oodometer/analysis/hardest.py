"""The images that most models miss."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.analysis.class_names import answer_names, name_in
from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.judged_pair import p_text
from oodometer.analysis.named import hint_for, with_labels
from oodometer.analysis.text import columns, plural
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.model import n_cores
from oodometer.metrics.agreement import hardest_images
from oodometer.stats.missed_together import MissedTogether, missed_together
from oodometer.store.cells import Cell
from oodometer.store.index import Index, Source, index_at


@dataclass(frozen=True)
class HardImage:
    """One image.

    Args:
        label: Its class, as people call it.
        missed_by: How many models miss it.
        models: How many were asked.
        instead: The wrong class that most models name, and how many do; its number where nobody knows its name.
        tied: Other wrong classes that as many models name.
    """

    image: str
    label: str
    missed_by: int
    models: int
    instead: str
    instead_by: int
    tied: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hardest:
    """The hardest images of a condition, hardest first; prints as a table.

    Args:
        n: How many images all models saw.
        by_chance: For every k from the number of models down to 1, the images that at least k models miss, and how many
            there would be, were errors independent given the models' accuracies; none of one model.
        more_as_hard: Images that are missed by as many models as the last one shown, and are not shown.
    """

    condition: str
    data: str
    models: tuple[str, ...]
    images: tuple[HardImage, ...]
    n: int
    more_as_hard: int = 0
    by_chance: tuple[MissedTogether, ...] = ()

    def __str__(self) -> str:
        lines = [["image", "class", "missed by", "most often called"]]
        for hard in self.images:
            called = ", ".join((hard.instead, *hard.tied))
            called += f" ({hard.instead_by}{' each' if hard.tied else ''})"
            lines.append([hard.image, hard.label, f"{hard.missed_by} of {hard.models}", called])
        who = f"all {len(self.models)} models" if len(self.models) > 1 else self.models[0]
        head = f"{self.condition} on {self.data}: {self.n} images that {who} saw"
        if not self.images:
            return f"{head}\nevery model is right on every image"
        are = "is" if self.more_as_hard == 1 else "are"
        as_hard = f"{self.more_as_hard} more {are} missed by {self.images[-1].missed_by}, as the last one shown"
        return "\n".join([head, columns(lines), *([as_hard] if self.more_as_hard else []), *self.beside_chance()])

    def beside_chance(self) -> list[str]:
        """A line about the images that all models miss, and one about those as hard as the last one shown."""
        asked = dict.fromkeys([len(self.models), self.images[-1].missed_by]) if self.images else {}
        return [_beside_chance(one, len(self.models)) for one in self.by_chance if one.by in asked]

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
    cells = with_labels(index, [cell for cell in every if cell.condition_name == on and index.row_files(cell)])
    if not cells:
        raise UsageError(f"{index}: nothing was run on {on!r}{hint_for(on, (cell.condition_name for cell in every))}")
    return hardest_of(index, cells, top=top)


def hardest_of(index: Index, cells: Sequence[Cell], *, top: int) -> Hardest:
    """The images that most models miss, from the cells of one condition that have rows."""
    cells = _of_one_kind(index, cells)
    common = right_on_common(index, cells)
    right = np.stack(common.values)
    found = hardest_images(right, top)
    places = found.position[found.n_missing > 0]
    answers = _answers(index, cells, [rows[places] for rows in common.rows])
    names = answer_names(index, cells[0])
    images = tuple(
        _described(str(common.ids[at]), int(common.labels[at]), said[~right[:, at]], len(cells), names)
        for at, said in zip(places, answers.T, strict=True)
    )
    models = tuple(cell.model_name for cell in cells)
    more = _more_as_hard(right, images[-1].missed_by, len(images)) if images else 0
    by_chance = missed_together(right) if len(models) > 1 else ()
    return Hardest(cells[0].condition_name, cells[0].data.title, models, images, len(common), more, by_chance)


def _beside_chance(one: MissedTogether, n_models: int) -> str:
    """How many images so many models miss, and how many would be by chance.

    >>> _beside_chance(MissedTogether(5, 41, 0.312, 1e-70), 5)
    'missed by all 5: 41 images; 0.31 expected if the models erred independently, as many or more with p = 1e-70'
    """
    who = f"all {one.by}" if one.by == n_models else f"{one.by} or more"
    return (
        f"missed by {who}: {plural(one.found, 'image')}; {_round(one.expected)} expected if the models erred "
        f"independently, as many or more with p {p_text(one.p_value)}"
    )


def _more_as_hard(right: np.ndarray, missed_by: int, shown: int) -> int:
    """How many images beyond those shown as many models miss as the last of them, (M, N) bool."""
    return int(((~right).sum(axis=0) >= missed_by).sum()) - shown


def _of_one_kind(index: Index, cells: Sequence[Cell]) -> list[Cell]:
    """The cells, if their classes are numbered alike: else equal numbers would be other classes."""
    for cell in cells[1:]:
        if cell.classes != cells[0].classes:
            raise StoreError(
                f"{index}: {cells[0].model_name} and {cell.model_name} answer other classes on {cell.condition_name}"
            )
    return list(cells)


def _answers(index: Index, cells: Sequence[Cell], rows: Sequence[np.ndarray]) -> np.ndarray:
    """What each cell answers to these rows of it, (M, N)."""
    with ThreadPoolExecutor(n_cores()) as threads:
        read = threads.map(lambda cell: index.columns(cell, "prediction")["prediction"], cells)
        return np.stack([answers[some] for answers, some in zip(read, rows, strict=True)])


def _described(image: str, label: int, wrong: np.ndarray, n_models: int, names: dict[int, str]) -> HardImage:
    """An image, the wrong answers to it, and of how many models."""
    others, times = np.unique(wrong, return_counts=True)
    called = [name_in(names, other) for other in others[times == times.max()].tolist()]
    return HardImage(image, name_in(names, label), len(wrong), n_models, called[0], int(times.max()), tuple(called[1:]))


def _round(number: float) -> str:
    """To two digits, or whole.

    >>> _round(0.0312), _round(1234.6)
    ('0.031', '1,235')
    """
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"
