"""Files of predictions of several models: what is said of each, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.stored_answers import StoredAnswers
from oodometer.core.true_labels import TrueLabels
from oodometer.models.card import Declared, card_beside, label_space
from oodometer.models.prediction_files import check_names, read_categories
from oodometer.models.predictions import read_predictions


@dataclass(frozen=True)
class PredictionReader:
    """Reads each file as it is declared; what is the same for all is read once.

    Args:
        declared: What is said of the model of each file.
        labels: The true classes.
        ids: Of the images, where the files do not have them.
        values: What the numbers are: logits, probabilities or classes; None: whole numbers are classes.
    """

    declared: Mapping[str, Declared]
    labels: TrueLabels
    ids: tuple[str, ...] | None = None
    values: Any = None

    def __call__(self, file: str) -> StoredAnswers:
        """The answers in a file."""
        ids, order = self.ids, self.labels.ids
        return read_predictions(file, ids=ids, in_order_of=order, values=self.values, declared=self.declared[file])


def classes_said(names: str | None, n_classes: int | None) -> LabelSpace | None:
    """The classes by a file of names or a published set, or by their number; None where nobody says."""
    if names is None:
        return None if n_classes is None else numbered(n_classes)
    space = label_space(names, folder=Path())
    if n_classes not in (None, len(space)):
        raise UsageError(f"--n-classes {n_classes}, but {names} names {len(space)}; leave one of them out")
    return space


def declared_of(files: Sequence[str], said: Declared, categories: str | None) -> dict[str, Declared]:
    """What is said of each file's model: in the table of categories, of all of them, in the card beside it."""
    if said.name and len(files) > 1:
        raise UsageError(f"--model {said.name}: one name for {len(files)} files; leave it out, or give one file")
    check_names(files)
    table = read_categories(categories) if categories else {}
    said.card()  # an error where there is no such category
    declared = {file: said.over(card_beside(Path(file))) for file in files}
    for file in files:
        if not Path(file).is_file():
            raise DataError(f"{file}: no such file of predictions")
    return {file: table.get(known.name or Path(file).stem, Declared()).over(known) for file, known in declared.items()}


def of_unknown_category(declared: Mapping[str, Declared]) -> str:
    """A line about the models whose category nobody says; empty where there are none."""
    names = [said.name or Path(file).stem for file, said in declared.items() if said.category is None]
    return unknown_category(names, several="--category standard (or another) or --categories CSV")


def unknown_category(names: Sequence[str], *, several: str) -> str:
    """A line about models of unknown category; empty where there are none.

    Args:
        several: What says the categories of more than one.

    >>> unknown_category(["a"], several="a card")
    'a: its category is unknown, so that no line will go through it; --category standard (or another) says it'
    """
    if len(names) < 2:
        told = "its category is unknown, so that no line will go through it; --category standard (or another) says it"
        return f"{names[0]}: {told}" if names else ""
    some = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    unknown = "their category is unknown, so that no line will go through them"
    return f"{len(names)} models ({some}): {unknown}; {several} says it"
