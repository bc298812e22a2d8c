"""Images that are judged as one: the worst of them decides."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from oodometer.core.predictions import Predictions


def judged_as_one(rows: Predictions, units: np.ndarray, offsets: np.ndarray | None) -> Predictions:
    """One row per unit: that of its image on which the true class ranks worst, the first of equals.

    So the unit is right only if all its images are. It stands under the image at offset 0 (the anchor frame), or under
    its first one where there are no offsets. A unit with an image that has no row is left out: judged by the others
    alone it would be easier.

    Args:
        units: The unit of each image of the data set, (N,).
        offsets: Frames from the anchor of each image, (N,).
    """
    names, codes = np.unique(units, return_inverse=True)
    answered = np.zeros(len(units), dtype=bool)
    answered[rows.image] = True
    whole = np.bincount(codes[~answered], minlength=len(names)) == 0
    of_rows = codes[rows.image]
    order = np.lexsort((rows.image, -rows.rank.astype(np.int64), of_rows))
    first = np.flatnonzero(np.diff(of_rows[order], prepend=-1))
    worst = order[first]
    worst = worst[whole[of_rows[worst]]]
    stands = np.flatnonzero(offsets == 0) if offsets is not None else np.unique(codes, return_index=True)[1]
    under = np.full(len(names), -1, dtype=np.int64)
    under[codes[stands]] = stands
    chosen = _rows(rows, worst)
    chosen = replace(chosen, image=under[of_rows[worst]].astype(np.int32))
    return _rows(chosen, np.argsort(chosen.image, kind="stable"))


def _rows(rows: Predictions, places: np.ndarray) -> Predictions:
    values: dict[str, Any] = {one.name: getattr(rows, one.name) for one in fields(Predictions)}
    for name, value in values.items():
        values[name] = None if value is None else value[places]
    return Predictions(**values)
