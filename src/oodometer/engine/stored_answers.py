"""Answers computed elsewhere, written as if they had been computed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from oodometer.core.condition import Condition
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import align, numbered
from oodometer.core.model import batches
from oodometer.core.predictions import Predictions, concatenate, from_logits, from_top_classes, with_logits
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.plan import cell_for
from oodometer.store.look_at_cell import look_at
from oodometer.store.store import Store

BATCH = 4096


def write_stored(model: StoredAnswers, conditions: Sequence[Condition], store: Store, *, keep_logits: bool) -> int:
    """Write the rows of each condition, and tell how many; all are checked before the first is written."""
    made = [(condition, rows_of(model, condition, keep_logits=keep_logits)) for condition in conditions]
    return sum(write_rows(model, condition, rows, store) for condition, rows in made)


def write_rows(model: StoredAnswers, condition: Condition, rows: Predictions, store: Store) -> int:
    """Write the rows of a condition where they are not there yet, and tell how many."""
    cell, keep, n_written = cell_for(model, condition, precision="float32"), rows.logits is not None, 0
    store.add_cell(cell, condition.dataset)
    known = look_at(store, cell.key)
    if known is None or known.covered(keep_logits=keep) != [(0, cell.n_images)]:
        store.write_part(cell.key, 0, cell.n_images, rows)
        n_written = len(rows)
    # Also where all rows were there: whoever wrote them may have been killed before.
    store.seal(cell, keep_logits=keep)
    return n_written


def rows_of(model: StoredAnswers, condition: Condition, *, keep_logits: bool) -> Predictions:
    """The answers about the condition's images, a row for each; with all logits where there are any to keep."""
    data = condition.dataset
    changed = (condition.transform, condition.attack, condition.label_map, condition.unit)
    if any(one is not None for one in changed):
        raise UsageError(
            f"predictions {model.name}: stored answers stand for the images as they were; they can't be used for "
            f"{condition.name}"
        )
    values = model.values[model.rows_for(data.ids)]
    images = np.arange(len(data))
    if model.kind == "classes":
        highest = int(values.max())
        if highest >= len(data.space) and data.space.name != "numbers":
            raise DataError(f"predictions {model.name}: class {highest} is outside the {len(data.space)} classes")
        return from_top_classes(values, _best_labels(data, partial(_place_from_the_end, values)), images)
    for labels in (data.labels, _all_others(data)):
        align(labels, data.space, numbered(values.shape[1]), what=f"predictions {model.name}")
    if not np.isfinite(values).all():
        raise DataError(f"predictions {model.name}: NaN or infinite logits")
    labels = _best_labels(data, lambda row, one: values[row, one])
    # In batches, because on the way every logit is needed several times in double precision.
    parts = [from_logits(values[some], labels[some], images[some]) for some in batches(len(values), BATCH)]
    rows = concatenate(parts)
    return with_logits(rows, values) if keep_logits else rows


def _all_others(data: Dataset) -> np.ndarray:
    return np.array([one for some in data.other_labels or () for one in some], dtype=np.int64)


def _best_labels(data: Dataset, liking: Callable[[int, int], float]) -> np.ndarray:
    """Of each image's labels the one that is answered best, (N,): where an image has several, any counts.

    Args:
        liking: How much the answers like a class of an image, by position.
    """
    best = data.labels.copy()
    for row, more in enumerate(data.other_labels or ()):
        if more:
            allowed = sorted({*more, int(best[row])} - {-1})
            best[row] = max(allowed, key=partial(liking, row))
    return best


def _place_from_the_end(classes: np.ndarray, row: int, one: int) -> int:
    """How good the place of a class is among the best ones of an image; 0 where it is not among them."""
    places = np.flatnonzero(classes[row] == one)
    return len(classes[row]) - int(places[0]) if len(places) else 0
