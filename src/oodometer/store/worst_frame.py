"""Images that are judged as one: the worst of them decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oodometer.core.predictions import Predictions, taken


def judged_as_one(rows: Predictions, units: np.ndarray, offsets: np.ndarray | None) -> Predictions:
    """One row per unit: that of its image on which the true class ranks worst, the first of equals.

    So the unit is right only if all its images are. A unit with an image that has no row is left out: judged by the
    others alone it would be easier. For the same reason one with an image without a label has no rank.

    Args:
        units: The unit of each image of the data set, (N,).
        offsets: Frames from the anchor of each image, (N,); None where there are none.
    """
    _, codes = np.unique(units, return_inverse=True)
    stands = standing(units, offsets)
    answered = np.zeros(len(units), dtype=bool)
    answered[rows.image] = True
    whole = np.bincount(codes[~answered], minlength=len(stands)) == 0
    of_rows = codes[rows.image]
    worse = np.where(rows.rank < 0, np.iinfo(np.int64).max, rows.rank.astype(np.int64))
    order = np.lexsort((rows.image, -worse, of_rows))
    worst = order[np.flatnonzero(np.diff(of_rows[order], prepend=-1))]
    worst = worst[whole[of_rows[worst]]]
    chosen = replace(taken(rows, worst), image=stands[of_rows[worst]].astype(np.int32))
    return taken(chosen, np.argsort(chosen.image, kind="stable"))


def standing(units: np.ndarray, offsets: np.ndarray | None) -> np.ndarray:
    """The position of the image under which each unit stands, in ascending order of the units, (U,).

    It is the first one at offset 0 (the anchor frame), or the first of all where there is none.

    >>> standing(np.array(["b", "b", "a"]), np.array([-1, 0, 0])).tolist()
    [2, 1]
    """
    _, first, codes = np.unique(units, return_index=True, return_inverse=True)
    if offsets is not None:
        own = np.flatnonzero(offsets == 0)[::-1]  # backwards, so that the first of several stays
        first[codes[own]] = own
    return np.asarray(first)
