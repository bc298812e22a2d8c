"""What models answered on labelled images, and on others whose labels are not looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.common_images import Joined, joined
from oodometer.analysis.points import named
from oodometer.analysis.unlabelled_sides import TwoSides
from oodometer.core.errors import StoreError
from oodometer.core.predictions import Predictions
from oodometer.stats.confidence_estimates import Shared
from oodometer.stats.grouped_jackknife import N_GROUPS, groups_of_images
from oodometer.store.cells import Cell
from oodometer.store.index import Index

ANSWER = np.dtype([("label", "i4"), ("prediction", "i4"), ("verdict", "i1"), ("confidence", "f4"), ("entropy", "f4")])
"""What is asked of a row; the verdict is 0 where the model is right, 1 where it is wrong, -1 where nobody knows."""

OF_NO_OTHER = -2
"""Below this are classes whose names in another model's numbers nobody knows: such answers agree with nobody."""


@dataclass(frozen=True)
class SideAnswers:
    """The answers of M models to the N images that all of them saw.

    Args:
        prediction: In numbers that mean the same for all models, (M, N).
        verdict: 0 where a model is right, 1 where it is wrong, -1 where the image has no label, (M, N).
        confidence, entropy: (M, N); NaN where only the best classes are known.
        group: Images of one number are left out together, where it is asked how far off an estimate may be, (N,).
    """

    prediction: np.ndarray
    verdict: np.ndarray
    confidence: np.ndarray
    entropy: np.ndarray
    group: np.ndarray

    @property
    def n_images(self) -> int:
        """How many there are."""
        return int(self.prediction.shape[1])

    @property
    def right(self) -> np.ndarray:
        """Whether each model is right on each image, (M, N); of images without a label it is not."""
        return np.asarray(self.verdict == 0)


@dataclass(frozen=True)
class Answers:
    """Both sides.

    Args:
        models: The names of the M models.
        cells: Of each model the clean and the shifted one.
        shared: Images that are on both sides.
        notes: What a reader should know: models, images and classes that were left out.
    """

    models: tuple[str, ...]
    cells: tuple[tuple[Cell, Cell], ...]
    clean: SideAnswers
    shifted: SideAnswers
    shared: Shared
    notes: tuple[str, ...]

    @property
    def is_attacked(self) -> bool:
        """Whether each model was shown changes of its own, so that two models did not see the same images."""
        return any(cell.condition.attack is not None for cells in self.cells for cell in cells)


def answers_on(index: Index, sides: TwoSides) -> Answers:
    """The answers of all models that were run on both sides; people are none of them."""
    run = _on_both(index, sides)
    done = {name: cells for name, cells in run.items() if all(index.is_complete(cell) for cell in cells)}
    kept = _of_most_classes(done or run)
    clean = _read(index, [cells[0] for cells in kept.values()], labelled=True)
    shifted = _read(index, [cells[1] for cells in kept.values()], labelled=False)
    shared = _shared(clean.ids, shifted.ids)
    groups = _groups(len(clean), len(shifted), shared)
    some = next(iter(kept.values()))[0]
    # Of several labels a row has the one that its model ranks highest; whoever is kept numbers their classes alike.
    numbers = _ALIKE if some.answers is not None else _same_numbers(list(kept), clean, some.n_classes)
    tables = numbers.tables or (None,) * len(kept)
    return Answers(
        tuple(kept),
        tuple(kept.values()),
        _side(clean, tables, groups[0]),
        _side(shifted, tables, groups[1]),
        shared,
        (
            *_left_out(index, sides, run, kept),
            *_lost(index.condition_name_of[sides.clean.key], clean),
            *_lost(index.condition_name_of[sides.shifted.key], shifted),
            *numbers.notes,
        ),
    )


def _on_both(index: Index, sides: TwoSides) -> dict[str, tuple[Cell, Cell]]:
    found = {}
    for name, model in index.models.items():
        by_key = {entry.cell.condition.key: entry for entry in model.entries if entry.n_rows}
        clean, shifted = by_key.get(sides.clean.key), by_key.get(sides.shifted.key)
        if clean is not None and shifted is not None and clean.n and clean.cell.classes == shifted.cell.classes:
            found[name] = clean.cell, shifted.cell
    names = [index.condition_name_of[side.key] for side in sides]
    if not found:
        raise StoreError(f"{index}: no model was run on {' and '.join(names)} over the same classes; run both")
    if any(cell.n_units is not None for cells in found.values() for cell in cells):
        raise StoreError(
            f"{index}: the frames of {' or '.join(names)} are judged by their worst one, and only labels tell which "
            "that is"
        )
    return found


def _of_most_classes(run: Mapping[str, tuple[Cell, Cell]]) -> dict[str, tuple[Cell, Cell]]:
    """The models that answer over the same classes, as most of them do."""
    classes = [(cells[0].classes, cells[0].answers, cells[1].answers) for cells in run.values()]
    most = max(classes, key=classes.count)
    return {name: cells for (name, cells), own in zip(run.items(), classes, strict=True) if own == most}


def _left_out(
    index: Index, sides: TwoSides, run: Mapping[str, tuple[Cell, Cell]], kept: Mapping[str, tuple[Cell, Cell]]
) -> list[str]:
    names = " and ".join(index.condition_name_of[side.key] for side in sides)
    one_side = [
        name
        for name, model in index.models.items()
        if name not in run and {entry.cell.condition.key for entry in model.entries} & {side.key for side in sides}
    ]
    unfinished = [name for name, cells in run.items() if not all(index.is_complete(cell) for cell in cells)]
    others = [name for name in run if name not in kept and name not in unfinished]
    lines = [f"left out, not run on {names} over the same classes: {named(one_side)}"] if one_side else []
    lines += [f"left out, over other classes than most: {named(others)}"] if others else []
    left_out = "left out, " if not set(unfinished) & set(kept) else ""
    return [*lines, f"{left_out}unfinished: {named(unfinished)}"] if unfinished else lines


def _read(index: Index, cells: Sequence[Cell], *, labelled: bool) -> Joined:
    return joined(index, cells, _answers, labelled=labelled, columns={"prediction", "confidence", "entropy"})


def _answers(rows: Predictions) -> np.ndarray:
    table = np.empty(len(rows), ANSWER)
    table["verdict"] = np.where(rows.rank < 0, -1, rows.rank > 0)
    for name in ("label", "prediction", "confidence", "entropy"):
        table[name] = getattr(rows, name)
    return table


def _lost(where: str, common: Joined) -> list[str]:
    n = common.left_out
    return [f"{where}: {n} images left out that not all models have, or that have no label"] if n else []


def _side(common: Joined, tables: Sequence[np.ndarray | None], group: np.ndarray) -> SideAnswers:
    predictions = [
        values["prediction"] if table is None else table[values["prediction"]]
        for values, table in zip(common.values, tables, strict=True)
    ]
    verdict, confidence, entropy = (
        np.stack([values[name] for values in common.values]) for name in ("verdict", "confidence", "entropy")
    )
    return SideAnswers(np.stack(predictions), verdict, confidence, entropy, group)


def _shared(ids_clean: np.ndarray, ids_shifted: np.ndarray) -> Shared:
    places = {image: place for place, image in enumerate(ids_clean.tolist())}
    there = np.array([places.get(image, -1) for image in ids_shifted.tolist()], dtype=np.int64)
    on_both = np.flatnonzero(there >= 0)
    return Shared(there[on_both], on_both)


def _groups(n_clean: int, n_shifted: int, shared: Shared) -> tuple[np.ndarray, np.ndarray]:
    """The group of each image of both sides; one that is on both is in the same, so that it leaves both at once."""
    n_groups = min(N_GROUPS, n_clean, n_shifted)
    of_clean = groups_of_images(n_clean, n_groups=n_groups)
    of_shifted = np.empty(n_shifted, dtype=np.int64)
    of_shifted[shared.shifted] = of_clean[shared.clean]
    alone = np.setdiff1d(np.arange(n_shifted), shared.shifted)
    if len(alone):
        of_shifted[alone] = groups_of_images(len(alone), n_groups=n_groups, seed=1)
    return of_clean, of_shifted


# Models that number the same classes in another order


@dataclass(frozen=True)
class _Numbers:
    """From the numbers of each model's classes to those of the first; none where all number them alike."""

    tables: tuple[np.ndarray, ...]
    notes: tuple[str, ...]


_ALIKE = _Numbers((), ())


def _same_numbers(models: Sequence[str], clean: Joined, n_classes: int) -> _Numbers:
    """By the labels of the clean images, which each model has in its own numbers."""
    first = clean.values[0]["label"]
    others = [model for model, values in zip(models, clean.values, strict=True) if (values["label"] != first).any()]
    if not others:
        return _ALIKE
    tables = tuple(_table(values["label"], first, place, n_classes) for place, values in enumerate(clean.values))
    note = (
        f"{named(others)}: classes numbered in another order than by {models[0]}, matched by the labels of clean images"
    )
    return _Numbers(tables, (note,))


def _table(own: np.ndarray, first: np.ndarray, place: int, n_classes: int) -> np.ndarray:
    # The last entry, which -1 points at, is the answer that is not known.
    table = np.full(n_classes + 1, OF_NO_OTHER - place, dtype=np.int64)
    table[own] = first
    return table
