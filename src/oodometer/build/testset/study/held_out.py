"""What models that were trained on splits get right of the images that were held out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oodometer.build.testset.stored_answers import StoredRows, rows_about
from oodometer.build.testset.study.discriminator import accuracy_over_folds
from oodometer.build.testset.study.splits import FOLD, Split, read_splits
from oodometer.core.estimate import Estimate
from oodometer.data.load import load_data
from oodometer.stats.intervals import share_of
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.store.index import Index, Source, index_at


@dataclass(frozen=True)
class HeldOut:
    """A model on the images that a split holds out.

    Args:
        split: Its name.
        model: Whose answers.
        trained_on_it: Whether the card says that it was trained on the rest of this split; else it is there to be
            compared with.
        accuracy: On the held-out images.
        change: From the model that was given as a baseline to this one, on the same images; None without one.
    """

    split: str
    model: str
    trained_on_it: bool
    accuracy: Estimate
    change: Estimate | None = None


@dataclass(frozen=True)
class HeldOutAccuracies:
    """Of all splits in a folder.

    Args:
        rows: By split and model.
        over_folds: The accuracy over all folds, each by the model that was not trained on it; None unless every fold
            has one such model.
        left_out: Models that were trained on images which a split holds out, as ``MODEL on SPLIT``.
        missing: Splits about whose held-out images no model was asked.
    """

    rows: tuple[HeldOut, ...]
    over_folds: Estimate | None
    left_out: tuple[str, ...]
    missing: tuple[str, ...]


def held_out_accuracies(
    source: Source, folder: str | Path, *, baseline: str | None = None, level: float = 0.95
) -> HeldOutAccuracies:
    """The accuracies on what the splits in a folder hold out, from what models of a store answered about it.

    Whether a model was trained on a split its card says, as ``oodometer train`` writes it: its training data are called
    like the table of the split.
    """
    index, splits = index_at(source), read_splits(folder)
    rows: list[HeldOut] = []
    left_out: list[str] = []
    missing: list[str] = []
    told: list[np.ndarray] = []
    for split in splits:
        data = load_data(Path(folder) / split.test)
        found = {one.model: one for one in rows_about(index, data.ids, data=data) if len(one.at) == len(data)}
        seen = {name for name in found if _may_have_seen(_trained_on(index, name), split, splits)}
        left_out += [f"{name} on {split.name}" for name in sorted(seen)]
        known = {name: one for name, one in found.items() if name not in seen}
        if not known:
            missing.append(split.name)
        rows += [_row(index, split, one, known.get(baseline or ""), level) for one in known.values()]
        told += [one.right for one in known.values() if split.kind == FOLD and _is_of(index, one.model, split)]
    n_folds = sum(split.kind == FOLD for split in splits)
    over = accuracy_over_folds(np.concatenate(told), n_folds, level=level) if 1 < n_folds == len(told) else None
    return HeldOutAccuracies(tuple(rows), over, tuple(left_out), tuple(missing))


def _row(index: Index, split: Split, one: StoredRows, baseline: StoredRows | None, level: float) -> HeldOut:
    right = one.right
    change = None
    if baseline is not None and baseline.model != one.model:
        change = paired_difference(PairedCounts.of(baseline.right, right), level=level)
    accuracy = share_of(int(right.sum()), len(right), level=level)
    return HeldOut(split.name, one.model, _is_of(index, one.model, split), accuracy, change)


def _is_of(index: Index, model: str, split: Split) -> bool:
    return _trained_on(index, model) == Path(split.train).stem


def _trained_on(index: Index, model: str) -> str:
    """The name of the training data, as the card says it, without what it adds about parts of it."""
    return _first_word(index.models[model].model.card.training_data or "")


def _first_word(text: str) -> str:
    """Up to a blank or a comma."""
    return re.split(r"[\s,]", text)[0]


def _may_have_seen(trained_on: str, split: Split, splits: Sequence[Split]) -> bool:
    """Whether it was trained on another split, on what is held out here, or on all of the set that was cut."""
    others = {Path(one.train).stem for one in splits if one.name != split.name}
    whole = {_first_word(split.cut)} - {""}
    return trained_on in others | {Path(split.test).stem} | whole
