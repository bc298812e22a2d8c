"""Accuracy on the images of a study that nobody labelled."""

from __future__ import annotations

from dataclasses import dataclass

from oodometer.analysis.unlabelled import estimates_of
from oodometer.analysis.unlabelled_methods import METHODS
from oodometer.analysis.unlabelled_sides import sides_without_labels
from oodometer.analysis.unlabelled_table import UnlabelledAccuracies
from oodometer.core.errors import OodometerError
from oodometer.study.study import Study

MOST_SETS = 3
"""More sets of images are not estimated for a report; ``oodometer estimate`` does it."""


@dataclass(frozen=True)
class UnlabelledSets:
    """What is estimated, and in sentences what is not."""

    found: tuple[UnlabelledAccuracies, ...]
    notes: tuple[str, ...]


def unlabelled_sets(study: Study) -> UnlabelledSets:
    """The estimates on every set without labels that was seen as it is."""
    index = study.index
    sides = sides_without_labels(index)
    found, notes = [], []
    for one in sides[:MOST_SETS]:
        name = index.condition_name_of[one.shifted.key]
        try:
            estimated = estimates_of(index, one, tuple(METHODS), level=study.options.resampling.level)
        except OodometerError as why:
            notes.append(f"{name}: {why}")
            continue
        found += [estimated] if estimated.rows else []
        notes += [f"{name}: {line}" for line in (*estimated.notes, *estimated.left_out)]
    if more := [index.condition_name_of[one.shifted.key] for one in sides[MOST_SETS:]]:
        notes.append(f"Not estimated here: {', '.join(more)}; 'oodometer estimate STORE --shifted NAME' does.")
    return UnlabelledSets(tuple(found), tuple(notes))
