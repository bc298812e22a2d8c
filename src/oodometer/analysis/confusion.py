"""Whose classes lead where: the confusion matrix of a model on a condition or under a shift.

Of a thousand classes only what occurs is kept. Under a family of corruptions the images are the units: an image that is
taken for something else in three of five conditions counts as three fifths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from oodometer.analysis.class_names import answer_names, name_in
from oodometer.analysis.model_cells import cells_of_model_on
from oodometer.analysis.text import columns, plural
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import check_level, clopper_pearson_bounds
from oodometer.store.cells import Cell
from oodometer.store.index import Index, Source, index_at

CONVENTION = "share of the images of the true class; each interval for itself, not corrected for their number"


@dataclass(frozen=True)
class Confused:
    """A true class and what its images are called: a cell of the matrix in which there is something.

    Args:
        count: How often: of images, or of answers where there are several conditions.
        share: Of the images of the true class, with its interval; n is how many these are.
        images: The ids of the images behind it, in the order of the data.
        seen_in: For each of them the first of the conditions in which it is called so.
    """

    truth: str
    answer: str
    count: int
    share: Estimate
    images: tuple[str, ...]
    seen_in: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether it is on the diagonal."""
        return self.truth == self.answer


@dataclass(frozen=True)
class Confusion:
    """The confusion matrix of a model; prints as the list of what it confuses, the most frequent first.

    Args:
        on: What was asked for, a condition or a shift; ``conditions`` what it is made of, and ``data`` the images.
        n: Images; each counts once for every condition.
        n_right, n_answers: How many answers are right, and of how many.
        n_confused: How many pairs of a class and another answer there are.
        classes: Those that occur, as truth or as an answer, in their order.
        cells: All in which there is something, row by row; or what is right, and the most frequent confusions alone.
    """

    model: str
    on: str
    conditions: tuple[str, ...]
    data: str
    n: int
    n_right: int
    n_answers: int
    n_confused: int
    classes: tuple[str, ...]
    cells: tuple[Confused, ...]

    @property
    def convention(self) -> str:
        """What the numbers are."""
        return CONVENTION

    @cached_property
    def confusions(self) -> tuple[Confused, ...]:
        """What is off the diagonal, the most frequent first; of equals the larger share of its class."""
        wrong = [cell for cell in self.cells if not cell.is_right]
        return tuple(sorted(wrong, key=lambda cell: (-cell.count, -cell.share.value)))

    def counts(self) -> np.ndarray:
        """The whole matrix over the classes that occur, (C, C): true classes are rows, answers columns."""
        places = {name: place for place, name in enumerate(self.classes)}
        whole = np.zeros((len(places), len(places)), dtype=np.int64)
        for cell in self.cells:
            whole[places[cell.truth], places[cell.answer]] = cell.count
        return whole

    def __str__(self) -> str:
        return self.table()

    def table(self, top: int | None = None) -> str:
        """The confusions as text.

        Args:
            top: How many, at most; None: all.
        """
        of = f", {plural(len(self.conditions), 'condition')}" if len(self.conditions) > 1 else ""
        head = (
            f"{self.model} on {self.on} ({self.data}): {self.n_right} of {self.n_answers} answers right{of}, "
            f"{plural(self.n, 'image')}"
        )
        wrong = self.confusions
        if not wrong:
            return f"{head}\nnothing is confused"
        shown = wrong[:top]
        lines = [["class", "called", "count", "share of the class"]]
        lines += [[cell.truth, cell.answer, str(cell.count), str(cell.share)] for cell in shown]
        left = self.n_confused - len(shown)
        more = [f"{left} more {'is' if left == 1 else 'are'} confused"] if left else []
        return "\n".join([head, columns(lines), *more])

    def as_json(self, top: int | None = None) -> dict[str, Any]:
        """The same as plain values: what is right, and the confusions in their order."""
        about = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "cells"}
        right = [asdict(cell) for cell in self.cells if cell.is_right]
        wrong = [asdict(cell) for cell in self.confusions[:top]]
        return {**about, "convention": self.convention, "right": right, "confusions": wrong}


def confusion(store: Source, model: str, on: str = "clean", *, level: float = 0.95) -> Confusion:
    """What a model takes the images of each class for.

    Args:
        model: Its name in the store.
        on: A condition, or a shift, of which all conditions count together.
        level: Of the intervals: exact ones (Clopper-Pearson), over several conditions Student's over the images.
    """
    index = index_at(store)
    return confusion_of(index, cells_of_model_on(index, model, on), on, level=level)


def confusion_of(
    index: Index, cells: Sequence[Cell], on: str, *, level: float = 0.95, most: int | None = None
) -> Confusion:
    """The confusion matrix of the cells of one model, of one condition or of several.

    Args:
        most: How many confusions are wanted, the most frequent ones; None: all.
    """
    check_level(level)
    if len({cell.classes for cell in cells}) > 1:
        raise StoreError(f"{index}: the conditions of {on} are not over the same classes; name one of them")
    answers = _Answers.of(index, cells)
    pairs = _Pairs.of(answers)
    names = answer_names(index, cells[0])
    conditions = tuple(index.condition_name_of[cell.condition.key] for cell in cells)
    images = answers.ids[answers.image[pairs.first]]
    images_on = np.array(conditions, dtype=object)[answers.cell[pairs.first]]
    return Confusion(
        index.model_name_of[cells[0].key],
        on,
        conditions,
        cells[0].data.title,
        len(answers.ids),
        int(pairs.count[pairs.is_right].sum()),
        len(answers.label),
        int((~pairs.is_right).sum()),
        tuple(name_in(names, number) for number in np.union1d(answers.label, answers.answer).tolist()),
        tuple(
            Confused(
                name_in(names, int(pairs.truth[at])),
                name_in(names, int(pairs.answer[at])),
                int(pairs.count[at]),
                share,
                tuple(images[of_pair].tolist()),
                tuple(images_on[of_pair].tolist()),
            )
            for at, share, of_pair in _estimated(pairs, level, most)
        ),
    )


@dataclass(frozen=True)
class _Answers:
    """The answers to labelled images: the true class, the answer, which image and which condition it is, (N,) each."""

    label: np.ndarray
    answer: np.ndarray
    image: np.ndarray
    cell: np.ndarray
    ids: np.ndarray

    @classmethod
    def of(cls, index: Index, cells: Sequence[Cell]) -> _Answers:
        labels, answers, names = [], [], []
        for cell in cells:
            rows = index.read_some(cell, ("label", "prediction"))
            labelled = rows.rank >= 0
            label = rows.label[labelled]
            labels.append(label)
            # Where an image has several labels, any of them is right.
            answers.append(np.where(rows.rank[labelled] == 0, label, rows.prediction[labelled]))
            names.append(index.images(cell).ids[rows.image[labelled]])
        if not sum(map(len, labels)):
            raise OodometerError(f"{cells[0].model_name}: no labelled images, so nothing can be confused")
        each = np.concatenate(names)
        ids, image = (each, np.arange(len(each))) if len(cells) == 1 else _numbered(each)
        of_cell = np.repeat(np.arange(len(cells)), [len(some) for some in labels])
        return cls(np.concatenate(labels), np.concatenate(answers), image, of_cell, ids)


def _numbered(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each id once, in the order in which they come, and the place of each among them."""
    places: dict[str, int] = {}
    image = np.array([places.setdefault(one, len(places)) for one in ids.tolist()])
    return np.array(list(places), dtype=object), image


@dataclass(frozen=True)
class _Pairs:
    """True classes and answers that occur together, in order, (P,) each.

    Args:
        count: How often.
        share: Of the images of the true class, of which there are ``n``.
        deviation: Of the images' own shares, where there are several conditions; None: each is 0 or 1.
        first: The place of the first answer to each image, pair by pair, (F,); each pair begins at ``start``.
    """

    truth: np.ndarray
    answer: np.ndarray
    count: np.ndarray
    share: np.ndarray
    n: np.ndarray
    deviation: np.ndarray | None
    first: np.ndarray
    start: np.ndarray

    @property
    def is_right(self) -> np.ndarray:
        return np.asarray(self.truth == self.answer)

    @classmethod
    def of(cls, answers: _Answers) -> _Pairs:
        several = int(answers.answer.max()) + 1
        codes = answers.label.astype(np.int64) * several + answers.answer
        pairs, count = np.unique(codes, return_counts=True)
        first = np.lexsort((answers.image, codes))  # stable: of one image the first condition comes first
        again = (np.diff(codes[first], prepend=-1) == 0) & (np.diff(answers.image[first], prepend=-1) == 0)
        first = first[~again]
        start = np.searchsorted(codes[first], pairs)
        truth, answer = pairs // several, pairs % several
        if len(answers.ids) == len(codes):
            n = np.bincount(answers.label)[truth]
            return cls(truth, answer, count, count / n, n, None, first, start)
        share, deviation, n = _over_images(answers, codes, pairs, truth)
        return cls(truth, answer, count, share, n, deviation, first, start)


def _over_images(
    answers: _Answers, codes: np.ndarray, pairs: np.ndarray, truth: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and standard deviation over the images of a class of the share of conditions in which each is called so."""
    n_conditions = np.bincount(answers.image)
    labels = np.zeros(len(answers.ids), dtype=np.int64)
    labels[answers.image] = answers.label
    n = np.bincount(labels)[truth]
    # Each pair by each of its images; all other images of the class have a share of 0.
    by_image, times = np.unique(np.stack([codes, answers.image]), axis=1, return_counts=True)
    share, place = times / n_conditions[by_image[1]], np.searchsorted(pairs, by_image[0])
    mean = np.bincount(place, share) / n
    squares = np.maximum(np.bincount(place, share**2) - n * mean**2, 0)
    return mean, np.sqrt(squares / np.maximum(n - 1, 1)), n


def _estimated(pairs: _Pairs, level: float, most: int | None) -> Iterator[tuple[int, Estimate, slice]]:
    """The pairs that are wanted: the place of each, its share, and where the first answers to its images are."""
    wanted = np.arange(len(pairs.count))
    if most is not None:
        by_count = np.lexsort((-pairs.share, -pairs.count))
        wanted = np.union1d(np.flatnonzero(pairs.is_right), by_count[~pairs.is_right[by_count]][:most])
    starts, ends = pairs.start.tolist(), [*pairs.start[1:].tolist(), len(pairs.first)]
    for at, share in zip(wanted.tolist(), _shares(pairs, wanted, level), strict=True):
        yield at, share, slice(starts[at], ends[at])


def _shares(pairs: _Pairs, wanted: np.ndarray, level: float) -> list[Estimate]:
    """Exact intervals; over several conditions Student's over the images."""
    share, n = pairs.share[wanted].tolist(), pairs.n[wanted].tolist()
    if pairs.deviation is not None:
        deviations = pairs.deviation[wanted].tolist()
        return [_student(*each, level=level) for each in zip(share, deviations, n, strict=True)]
    low, high = clopper_pearson_bounds(pairs.count[wanted], pairs.n[wanted], level)
    told = f"clopper-pearson {100 * level:g}%"
    return [Estimate(*each, told) for each in zip(share, low.tolist(), high.tolist(), n, strict=True)]


def _student(mean: float, deviation: float, n: int, *, level: float) -> Estimate:
    from scipy.special import stdtrit

    if n == 1 or deviation < 1e-9:
        return Estimate(mean, None, None, n, "none: one image" if n == 1 else "none: all images are alike")
    half = float(stdtrit(n - 1, (1 + level) / 2)) * deviation / n**0.5
    return Estimate(mean, max(mean - half, 0.0), min(mean + half, 1.0), n, f"student-t {100 * level:g}%")
