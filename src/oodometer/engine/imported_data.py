"""Which data set answers from elsewhere are about: its classes, its images, and whether files agree on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from oodometer.catalogue.classes import known_classes
from oodometer.core.dataset import Dataset, Progress, Scan
from oodometer.core.errors import DataError, StoreError, UsageError
from oodometer.core.labels import NUMBERS, LabelSpace, numbered
from oodometer.core.preprocessing import Geometry
from oodometer.core.stored_answers import StoredAnswers
from oodometer.core.true_labels import TrueLabels
from oodometer.store.cells import Cell
from oodometer.store.index import Index

IMPORTED = "imported"
"""The name of data that nobody named; each condition of it is a set of its own."""


@dataclass(frozen=True)
class Unseen:
    """Images of which only the ids are known."""

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:  # noqa: ARG002
        """Always an error: there are no pixels."""
        raise DataError("the images of imported predictions are not here")

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:  # noqa: ARG002
        """Nothing is known of the content: empty digests."""
        return Scan(tuple(b"" for _ in indices), {})


@dataclass(eq=False)
class ImportedData:
    """The data that the files of one import are about, and what is known of them; more with each file.

    Args:
        name: Of the data.
        condition: What the images were.
        labels: Their true classes, by id or in the order of the answers.
        known: The data of that name so far; those of each new file are added.
    """

    name: str
    condition: str
    labels: TrueLabels
    known: list[Dataset]
    _answered: dict[tuple[str, ...], Dataset] = field(default_factory=dict)

    def of(self, answers: StoredAnswers) -> Dataset:
        """The data set of these answers: the same for all files about the same images, in whatever order.

        Raises:
            DataError: The file and what is known of the data do not agree.
        """
        space = self._space(answers)
        if answers.ids not in self._answered:
            self._answered[answers.ids] = self._new(answers, space)
        return self._answered[answers.ids]

    def _new(self, answers: StoredAnswers, space: LabelSpace) -> Dataset:
        whole = self._agreed(self._labelled(answers, space), answers.name)
        wanted = set(answers.ids)
        if len(wanted) == len(whole):
            return whole
        subset = f"{len(wanted)} of {len(whole)}"
        for other in self.known:
            if len(other) == len(wanted) and wanted == set(other.ids):  # in its order, so that it is the same data
                return replace(other, subset=subset)
        places = np.array([place for place, name in enumerate(whole.ids) if name in wanted])
        return whole.take(places, subset=subset)

    def _labelled(self, answers: StoredAnswers, space: LabelSpace) -> Dataset:
        """All images with a label, answered or not."""
        ids, values = self.labels.ids, self.labels.values
        if ids is None and len(values) != len(answers.ids):
            raise DataError(f"predictions {answers.name}: {len(answers.ids)} images but {len(values)} labels")
        if ids is not None and (missing := sorted(set(answers.ids) - set(ids))):
            raise DataError(
                f"predictions {answers.name}: no label for {len(missing)} of {len(answers.ids)} images, for example "
                f"{missing[0]!r} (the first label is that of {ids[0]!r}); write -1 where there is none"
            )
        return _unseen(self.name, answers.ids if ids is None else ids, values, space)

    def _space(self, answers: StoredAnswers) -> LabelSpace:
        """The classes: as given or known of the data, as the file has columns, as the published set of that name."""
        what, space = f"predictions {answers.name}", self._named_classes(answers.name)
        columns = answers.values.shape[1] if answers.kind == "logits" else None
        size = columns or known_classes(self.name, self.condition)
        if space is None and size is None:
            raise UsageError(
                f"{what}: how many classes are there? A file of the best ones does not tell: give --n-classes N, or "
                "--classes FILE with their names"
            )
        space = space or numbered(size or 0)
        if columns not in (None, len(space)):
            raise DataError(f"{what}: {columns} columns, but {self.name} has {len(space)} classes; {OTHERWISE}")
        highest = int(answers.values.max()) if columns is None else 0
        if highest >= len(space):
            raise DataError(f"{what}: the class {highest} is outside those of {self.name}, 0 to {len(space) - 1}")
        return space

    def _named_classes(self, model: str) -> LabelSpace | None:
        """Those that the data had so far, or those that are given: where both are there, they agree."""
        earlier, given = self.known[0].space if self.known else None, self.labels.classes
        if earlier is not None and given is not None:
            _check_spaces(earlier, given, f"predictions {model}", self.name)
        return given if earlier is None else earlier

    def _agreed(self, data: Dataset, model: str) -> Dataset:
        """The data set as it is known, with all images that are known; it may also be the first of its name."""
        labels = dict(zip(data.ids, data.labels.tolist(), strict=True))
        for other in self.known:
            _check_labels(labels, other, f"predictions {model}", self.name)
        around = [other for other in self.known if labels.keys() <= set(other.ids)]
        if around:
            return max(around, key=len)
        for other in self.known:
            images = set(other.ids)
            if not labels.keys() >= images:
                strange = [name for name in data.ids if name not in images]
                raise DataError(
                    f"predictions {model}: {len(strange)} of {len(data)} images are not among the {len(other)} of "
                    f"{self.name}, for example {strange[0]!r} (its first is {other.ids[0]!r}); {OTHERWISE}"
                )
        self.known.append(data)
        return data


OTHERWISE = "if these are other data, name them otherwise (--data NAME)"


def stored_data(index: Index, *, name: str, condition: str) -> list[Dataset]:
    """What the store knows of the data of that name: as many data sets as there were choices of images."""
    digests: dict[str, Cell] = {}
    for cell in index.cells:
        if cell.data.name == name and (name != IMPORTED or cell.condition_name == condition):
            digests.setdefault(cell.data.digest, cell)
    known = (_from_store(index, cell) for cell in digests.values())
    return [dataset for dataset in known if dataset is not None]


def _from_store(index: Index, cell: Cell) -> Dataset | None:
    """The images of a cell; None where their table is damaged: this import writes it anew."""
    try:
        images = index.images(cell)
    except StoreError:
        return None
    return _unseen(cell.data.name, tuple(images.ids.tolist()), images.labels, images.space)


def _unseen(name: str, ids: tuple[str, ...], labels: np.ndarray, space: LabelSpace) -> Dataset:
    return Dataset(
        name=name,
        ids=ids,
        labels=labels.astype(np.int64),
        space=space,
        source=Unseen(),
        rows=np.arange(len(ids)),
    )


def _check_spaces(known: LabelSpace, given: LabelSpace, what: str, data: str) -> None:
    if len(known) != len(given):
        raise DataError(f"{what}: {len(given)} classes, but {data} has {len(known)}; {OTHERWISE}")
    if NUMBERS in (known.name, given.name) or known.classes == given.classes:
        return
    place = next(at for at, names in enumerate(zip(known.classes, given.classes, strict=True)) if len(set(names)) == 2)
    raise DataError(
        f"{what}: other classes than {data} has: class {place} is {given.classes[place]!r} here and "
        f"{known.classes[place]!r} there; {OTHERWISE}"
    )


def _check_labels(labels: dict[str, int], other: Dataset, what: str, data: str) -> None:
    pairs = zip(other.ids, other.labels.tolist(), strict=True)
    differ = [(name, label) for name, label in pairs if labels.get(name, label) != label]
    if differ:
        name, label = differ[0]
        raise DataError(
            f"{what}: {len(differ)} images have another label than in {data}, for example {name!r} ({labels[name]} "
            f"here, {label} there); {OTHERWISE}"
        )
