"""Threshold and TopImages (Recht et al. 2019, section 3), and a plain uniform draw."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from oodometer.build.testset.candidates import Candidates
from oodometer.build.testset.sampling.draw import drawn, places_in_line
from oodometer.build.testset.sampling.sample import Sample, in_order, rows_with, short_of
from oodometer.core.errors import UsageError

BELOW = "below the threshold, in classes that had too few above it"

Chosen = Callable[[np.ndarray], np.ndarray]
"""From the rows of a class that may be chosen to those that are."""


def threshold(
    candidates: Candidates, *, at_least: float = 0.7, per_class: int = 10, seed: int = 0, keep: Collection[str] = ()
) -> Sample:
    """Uniformly among the images of each class that this share of the annotators or more selected.

    Where a class has too few of them, its threshold is lowered as far as need be: the highest of the others follow.
    """
    if not 0 <= at_least <= 1:
        raise UsageError(f"--at-least {at_least:g}: a selection frequency lies in [0, 1]")
    line, kept = places_in_line(candidates.ids, seed), rows_with(candidates, keep)
    frequency = candidates.frequency

    def of_class(rows: np.ndarray) -> np.ndarray:
        above = frequency[rows] >= at_least
        first = drawn(rows[above], per_class, line, kept)
        others = rows[~above]
        by_frequency = others[np.lexsort((line[others], -frequency[others]))]
        return np.concatenate([first, by_frequency[: per_class - len(first)]])

    found = _by_class(candidates, of_class, annotated=True)
    counts = {BELOW: int((frequency[found] < at_least).sum())}
    arguments = {"at_least": at_least, "per_class": per_class}
    short = short_of(candidates, found, per_class)
    return Sample("threshold", arguments, seed, candidates, in_order(candidates, found), counts, short)


def top_images(candidates: Candidates, *, per_class: int = 10, seed: int = 0) -> Sample:
    """Those of each class with the highest selection frequencies; among equals by the draw."""
    line = places_in_line(candidates.ids, seed)

    def of_class(rows: np.ndarray) -> np.ndarray:
        return rows[np.lexsort((line[rows], -candidates.frequency[rows]))][:per_class]

    found = _by_class(candidates, of_class, annotated=True)
    short = short_of(candidates, found, per_class)
    return Sample("top-images", {"per_class": per_class}, seed, candidates, in_order(candidates, found), {}, short)


def uniform(candidates: Candidates, *, per_class: int = 10, seed: int = 0, keep: Collection[str] = ()) -> Sample:
    """Any of each class, annotated or not."""
    line, kept = places_in_line(candidates.ids, seed), rows_with(candidates, keep)
    found = _by_class(candidates, lambda rows: drawn(rows, per_class, line, kept), annotated=False)
    short = short_of(candidates, found, per_class)
    return Sample("uniform", {"per_class": per_class}, seed, candidates, in_order(candidates, found), {}, short)


def _by_class(candidates: Candidates, of_class: Chosen, *, annotated: bool) -> np.ndarray:
    chosen = [np.empty(0, dtype=np.int64)]
    for label in candidates.classes:
        rows = candidates.rows_of(label)
        chosen.append(of_class(rows[~np.isnan(candidates.frequency[rows])] if annotated else rows))
    return np.concatenate(chosen).astype(np.int64)
