"""Results from elsewhere, brought into a store: tables of accuracies and files of predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from oodometer.catalogue.names import find_shift
from oodometer.core.condition import Condition
from oodometer.core.dataset import Dataset
from oodometer.core.model import Card
from oodometer.core.stored_answers import StoredAnswers
from oodometer.core.true_labels import TrueLabels
from oodometer.engine.answer_checks import doubts
from oodometer.engine.imported_data import IMPORTED, ImportedData, stored_data
from oodometer.engine.plan import cell_for
from oodometer.engine.stored_answers import rows_of, write_rows
from oodometer.store.cells import Cell
from oodometer.store.index import look
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, read_table_file, write_table

PUBLISHED: Final = "published"
"""In the place of sizes: those of the published sets."""


def import_table(
    path: str,
    *,
    store: str | Store,
    n: int | None = None,
    sizes: Mapping[str, int] | Literal["published"] | None = None,
) -> list[Accuracy]:
    """Bring a CSV table of accuracies into a store, long or wide; see `oodometer.store.tables.parse_table`.

    Args:
        n: The number of images behind each accuracy, where the table does not say; without it, no interval.
        sizes: The same per condition; ``published``: as many as the published sets of these names have.
    """
    if sizes == PUBLISHED:
        rows = [_of_published_size(row) for row in read_table_file(path, n=n)]
    else:
        rows = read_table_file(path, n=n, sizes=sizes)
    write_table(_opened(store), rows)
    return rows


def _of_published_size(row: Accuracy) -> Accuracy:
    """The accuracy with the number of images of the published set, where nobody says another."""
    entry = find_shift(row.condition) if row.n is None else None
    return replace(row, n=entry.n) if entry is not None else row


def import_predictions(
    answers: StoredAnswers | Iterable[StoredAnswers],
    labels: np.ndarray | TrueLabels,
    *,
    store: str | Store,
    condition: str = "clean",
    data: str = IMPORTED,
    keep_logits: bool = False,
) -> Store:
    """Bring answers about images that are not here into a store.

    All files about data of one name agree on the classes, on the images and on their labels, or are refused; a file
    about some of the images is about a subset. The classes are those of ``labels``, as many as logits have columns,
    those that the store knows of the data, or those of the published set of that name.

    Args:
        answers: Those of a model, or of many.
        labels: The true class of each answer, (N,), -1 where there is none; or with ids and classes (`read_labels`).
        condition: What the images were.
        data: The name of the data set; its ids are those of the answers. Without a name each condition is a data set
            of its own.
    """
    begun = begin_import(labels, store=store, condition=condition, data=data, keep_logits=keep_logits)
    for model in [answers] if isinstance(answers, StoredAnswers) else answers:
        begun.add(model)
    return begun.store


@dataclass(frozen=True)
class Imported:
    """A model whose answers are in the store now.

    Args:
        doubts: What looks wrong about the answers; kept in the store too.
    """

    model: str
    dataset: Dataset
    doubts: tuple[str, ...]

    @property
    def n_labelled(self) -> int:
        """How many of the images have a label."""
        return int((self.dataset.labels >= 0).sum())


@dataclass(frozen=True)
class Import:
    """An import of many models on one condition, of which each is added on its own; see `begin_import`.

    Args:
        data: What the answers are about.
        cards: The card of each cell that was there before.
    """

    store: Store
    condition: str
    data: ImportedData
    cards: Mapping[str, Card]
    keep_logits: bool

    def add(self, model: StoredAnswers) -> Imported:
        """Bring the answers of a model into the store."""
        dataset = self.data.of(model)
        condition = Condition(self.condition, dataset)
        rows = rows_of(model, condition, keep_logits=self.keep_logits)
        write_rows(model, condition, rows, self.store)
        cell = cell_for(model, condition, precision="float32")
        lines = doubts(rows, n_classes=len(dataset.space), n_known=cell.known_classes or len(dataset.space))
        if lines:
            self.store.write_warnings(cell, lines)
        return Imported(model.name, dataset, (*lines, *self._other_card(cell)))

    def _other_card(self, cell: Cell) -> Iterator[str]:
        kept = self.cards.get(cell.key, cell.model.card)
        if kept != cell.model.card:
            yield (
                f"it was there already, {kept.category or 'of no category'}, and its card stays; to change it, remove "
                f"it first ('oodometer rm {self.store} {cell.model_name}')"
            )


def begin_import(
    labels: np.ndarray | TrueLabels, *, store: str | Store, condition: str, data: str, keep_logits: bool
) -> Import:
    """The import of models of which each will be added on its own; what the store knows is read once."""
    opened = _opened(store)
    truth = labels if isinstance(labels, TrueLabels) else TrueLabels(labels)
    index = look(opened)
    known = stored_data(index, name=data, condition=condition)
    cards = {cell.key: cell.model.card for cell in index.cells}
    return Import(opened, condition, ImportedData(data, condition, truth, known), cards, keep_logits)


def _opened(store: str | Store) -> Store:
    opened = store if isinstance(store, Store) else open_store(str(store), create=True)
    opened.files.sweep()
    return opened
