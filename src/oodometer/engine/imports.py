"""Results from elsewhere, brought into a store: tables of accuracies and files of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.condition import Condition
from oodometer.core.dataset import Dataset, Progress, Scan
from oodometer.core.errors import DataError
from oodometer.core.labels import numbered
from oodometer.core.preprocessing import Geometry
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.stored_answers import write_stored
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, read_table_file, write_table


def import_table(
    path: str, *, store: str | Store, n: int | None = None, sizes: Mapping[str, int] | None = None
) -> list[Accuracy]:
    """Bring a CSV table of accuracies into a store, long or wide; see `oodometer.store.tables.parse_table`.

    Args:
        n: The number of images behind each accuracy, where the table does not say; without it, no interval.
        sizes: The same per condition.
    """
    rows = read_table_file(path, n=n, sizes=sizes)
    write_table(_opened(store), rows)
    return rows


def import_predictions(
    answers: StoredAnswers,
    labels: np.ndarray,
    *,
    store: str | Store,
    condition: str = "clean",
    data: str = "imported",
    keep_logits: bool = False,
) -> Store:
    """Bring answers about images that are not here into a store.

    Args:
        labels: The true class of each answer, (N,); -1 where there is none.
        condition: What the images were.
        data: The name of the data set; its ids are those of the answers.
    """
    if len(labels) != len(answers.ids):
        raise DataError(f"predictions {answers.name}: {len(answers.ids)} images but {len(labels)} labels")
    largest = max(int(labels.max()), int(answers.values.max()) if answers.kind == "classes" else 0)
    size = answers.values.shape[1] if answers.kind == "logits" else largest + 1
    dataset = Dataset(
        name=data,
        ids=answers.ids,
        labels=labels.astype(np.int64),
        space=numbered(size),
        source=Unseen(),
        rows=np.arange(len(labels)),
    )
    opened = _opened(store)
    write_stored(answers, [Condition(condition, dataset)], opened, keep_logits=keep_logits)
    return opened


@dataclass(frozen=True)
class Unseen:
    """Images of which only the ids are known."""

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:  # noqa: ARG002
        """Always an error: there are no pixels."""
        raise DataError("the images of imported predictions are not here")

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:  # noqa: ARG002
        """Nothing is known of the content: empty digests."""
        return Scan(tuple(b"" for _ in indices), {})


def _opened(store: str | Store) -> Store:
    return store if isinstance(store, Store) else open_store(str(store), create=True)
