"""Exact class balance: every class as many images as the one that has fewest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from oodometer.build.testset.sampling.draw import drawn, places_in_line
from oodometer.build.testset.sampling.sample import Sample, rows_with
from oodometer.core.errors import DataError

CUT = "taken out again, so that all classes have as many"


def balanced(sample: Sample, keep: Collection[str] = ()) -> Sample:
    """The sample with as many images of each class; what is too many goes by the draw, last in line first.

    Args:
        keep: Ids that were chosen before: these go last.
    """
    least = min(sample.per_class.values(), default=0)
    if least == 0:
        none = [label for label, n in sample.per_class.items() if n == 0]
        raise DataError(f"class {none[0] if none else '?'}: no image was chosen of it, so nothing can be balanced")
    line, labels = places_in_line(sample.candidates.ids, sample.seed), sample.candidates.labels
    before = rows_with(sample.candidates, keep)
    kept = [drawn(sample.rows[labels[sample.rows] == label], least, line, before) for label in sample.per_class]
    stays = set(np.concatenate(kept).tolist())
    rows = np.array([row for row in sample.rows.tolist() if row in stays], dtype=np.int64)
    counts = {**sample.counts, CUT: len(sample) - len(rows)}
    return replace(sample, rows=rows, counts=counts, arguments={**sample.arguments, "balanced": True})
