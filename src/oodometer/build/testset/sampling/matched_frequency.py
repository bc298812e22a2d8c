"""MatchedFrequency (Recht et al. 2019, section 3): chosen images are as easy to recognise as the original ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from oodometer.build.testset.candidates import Candidates
from oodometer.build.testset.sampling.apportion import largest_remainder
from oodometer.build.testset.sampling.draw import drawn, places_in_line
from oodometer.build.testset.sampling.sample import Sample, in_order, rows_with, short_of
from oodometer.core.errors import DataError

EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Of the bins of selection frequency: [0, .2), [.2, .4), [.4, .6), [.6, .8), [.8, 1]."""
MOVED = "from a higher bin, since their own had no more"


def matched_frequency(
    candidates: Candidates,
    original: Mapping[int, np.ndarray],
    *,
    per_class: int = 10,
    seed: int = 0,
    keep: Collection[str] = (),
) -> Sample:
    """``per_class`` images of each class whose selection frequencies are distributed as the original images'.

    Of each class the original frequencies are counted in five bins, and the images are parted over the bins in that
    proportion by largest remainders. They are drawn uniformly inside a bin; where a bin has too few, from the next
    higher one that has images left after its own are taken. Where no higher one has, the class stays short.

    Args:
        original: By class, the selection frequencies of its annotated original images.
        keep: Ids that were chosen before: of a bin, these come first.
    """
    line = places_in_line(candidates.ids, seed)
    kept = rows_with(candidates, keep)
    chosen: list[np.ndarray] = []
    n_moved = 0
    for label in candidates.classes:
        rows = candidates.rows_of(label)
        if not len(rows):
            continue  # it is counted as short
        if len(original.get(label, ())) == 0:
            raise DataError(f"class {label}: no original image of it was annotated, so there is nothing to match")
        wanted = largest_remainder(histogram(np.asarray(original[label])), per_class)
        rows = rows[~np.isnan(candidates.frequency[rows])]
        found, moved = _of_class(rows, bins_of(candidates.frequency[rows]), wanted, line, kept)
        chosen.append(found)
        n_moved += moved
    rows, counts = in_order(candidates, np.concatenate([np.empty(0, dtype=np.int64), *chosen])), {MOVED: n_moved}
    short = short_of(candidates, rows, per_class)
    return Sample("matched-frequency", {"per_class": per_class}, seed, candidates, rows, counts, short)


def bins_of(frequency: np.ndarray) -> np.ndarray:
    """The bin of each selection frequency, (N,) -> (N,) from 0 to 4.

    >>> bins_of(np.array([0.0, 0.19, 0.2, 0.8, 1.0])).tolist()
    [0, 0, 1, 4, 4]
    """
    # A share such as 6 of 10 is the same number as the edge 0.6: both are the nearest one that there is.
    return np.minimum(np.searchsorted(EDGES, frequency, side="right") - 1, len(EDGES) - 2)


def histogram(frequency: np.ndarray) -> np.ndarray:
    """How many selection frequencies lie in each bin, (5,)."""
    return np.bincount(bins_of(frequency), minlength=len(EDGES) - 1)


def _of_class(
    rows: np.ndarray, bins: np.ndarray, wanted: np.ndarray, line: np.ndarray, kept: Collection[int]
) -> tuple[np.ndarray, int]:
    """The chosen rows of one class, and how many of them are from a higher bin than was wanted."""
    own = [drawn(rows[bins == at], int(n), line, kept) for at, n in enumerate(wanted)]
    left = [np.setdiff1d(rows[bins == at], own[at]) for at in range(len(wanted))]
    moved: list[np.ndarray] = []
    for at, n in enumerate(wanted.tolist()):
        missing = n - len(own[at])
        for higher in range(at + 1, len(wanted)):
            taken = drawn(left[higher], missing, line, kept)
            left[higher] = np.setdiff1d(left[higher], taken)
            moved.append(taken)
            missing -= len(taken)
    n_moved = sum(map(len, moved))
    return np.concatenate([*own, *moved]).astype(np.int64), n_moved
