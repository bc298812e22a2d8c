"""Which models of a study fail on the same images, on each condition that is worth a look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.analysis.sampled import first_stopped, if_fixed, notes_of_stopped
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.error_consistency import consistency_of_pairs, kappa_matrix, mean_consistency
from oodometer.stats.missed_together import MissedTogether, missed_together
from oodometer.study.evidence import right_on
from oodometer.study.hard_conditions import cells_of_most, hard_conditions
from oodometer.study.study import Study, StudyCondition

MOST_CONDITIONS = 8

MOST_PAIRED = 100
"""Of more models so many are compared two by two: all pairs of 400 take a quarter of a minute of a page."""


@dataclass(frozen=True)
class KappaPair:
    """Two models, and their error consistency."""

    a: str
    b: str
    kappa: Estimate


@dataclass(frozen=True)
class ErrorsInCommon:
    """The models on one condition.

    Args:
        n: Images that all of them saw.
        n_paired: How many of the models are compared two by two, evenly from the first to the last.
        mean: Of the error consistency over all pairs.
        most, least: The pairs that are most and least alike.
        missed_by_all: The images that all miss, and how many there would be by chance.
        matrix: Error consistency of every two of these, (P, P); NaN where it is undefined.
    """

    condition: str
    models: tuple[str, ...]
    n: int
    n_paired: int
    mean: Estimate
    most: KappaPair
    least: KappaPair
    missed_by_all: MissedTogether
    matrix: np.ndarray


def errors_in_common(study: Study) -> tuple[list[ErrorsInCommon], list[str]]:
    """The clean sets and the hardest condition of each natural shift, where two models err; and what is left out."""
    asked = hard_conditions(study)
    found: list[ErrorsInCommon] = []
    notes = [f"Not shown: {', '.join(one.name for one in asked[MOST_CONDITIONS:])}."] if asked[MOST_CONDITIONS:] else []
    for condition in asked[:MOST_CONDITIONS]:
        try:
            one = _on(study, condition)
        except OodometerError as error:
            notes.append(f"{condition.name}: {error}")
            continue
        if one is not None:
            found.append(one)
            stopped = first_stopped(cells_of_most(study, condition))
            notes += [f"{condition.name}: {note}" for note in notes_of_stopped("the intervals of κ and p", stopped)]
    return found, notes


def _on(study: Study, condition: StudyCondition) -> ErrorsInCommon | None:
    cells = cells_of_most(study, condition)
    if len(cells) < 2:
        return None
    called = {cell.key: model.name for model in study.models for cell in model.cells}
    names = [called[cell.key] for cell in cells]
    every = right_on(study, cells)
    chosen = np.unique(np.linspace(0, len(cells) - 1, min(len(cells), MOST_PAIRED)).round().astype(int))
    names_paired, right = [names[at] for at in chosen], every[chosen]
    mean = mean_consistency(right, level=study.options.resampling.level)
    if mean is None:
        return None
    matrix = kappa_matrix(right)
    upper = np.where(np.triu(np.ones(matrix.shape, dtype=bool), 1), matrix, np.nan)
    ends = [np.unravel_index(end, matrix.shape) for end in (np.nanargmax(upper), np.nanargmin(upper))]
    was_stopped = first_stopped(cells) is not None
    most, least = (_pair(study, names_paired, right, int(a), int(b), was_stopped=was_stopped) for a, b in ends)
    mean = if_fixed(mean, was_stopped=was_stopped)
    return ErrorsInCommon(
        condition.name,
        tuple(names),
        right.shape[1],
        len(chosen),
        mean,
        most,
        least,
        missed_together(every)[0],
        matrix,
    )


def _pair(study: Study, names: list[str], right: np.ndarray, a: int, b: int, *, was_stopped: bool) -> KappaPair:
    (pair,) = consistency_of_pairs(right[[a, b]], resampling=study.options.resampling)
    assert pair.kappa is not None
    return KappaPair(names[a], names[b], if_fixed(pair.kappa, was_stopped=was_stopped))
