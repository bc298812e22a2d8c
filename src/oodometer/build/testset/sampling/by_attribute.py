"""One attribute at a time, as StreetView StoreFronts and DeepFashion Remixed: an IID test, and shifts in one value."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from oodometer.build.testset.candidates import Candidates
from oodometer.build.testset.sampling.draw import drawn, places_in_line
from oodometer.build.testset.sampling.sample import Sample, in_order, rows_with
from oodometer.core.errors import DataError, UsageError

IID = "iid"


def by_attribute(
    candidates: Candidates, base: Mapping[str, str], *, per_set: int, seed: int = 0, keep: Collection[str] = ()
) -> dict[str, Sample]:
    """The IID test, whose images have all values of ``base``, and by ``COLUMN=VALUE`` those that differ in it alone.

    Each set is a uniform draw over all classes. A set for which there is no image at all is left out.
    """
    if not base:
        raise UsageError("no attribute is named: say the value of each in the training images, such as year=2017")
    if per_set < 1:
        raise UsageError(f"{per_set} images of a set: at least 1")
    columns = {name: candidates.column(name).astype(str) for name in base}
    same = {name: columns[name] == value for name, value in base.items()}
    line, free = places_in_line(candidates.ids, seed), candidates.may_be_chosen
    inside = {IID: free & np.logical_and.reduce(list(same.values()))}
    if not inside[IID].any():
        told = ", ".join(f"{name}={value}" for name, value in base.items())
        raise DataError(f"no candidate has {told}: there is no IID test to compare with")
    for name, values in columns.items():
        others = free & np.logical_and.reduce([same[one] for one in base if one != name] or [free])
        for value in sorted(set(values[others]) - {base[name]}):
            inside[f"{name}={value}"] = others & (values == value)
    return {name: _of_set(name, candidates, rows, line, (base, per_set, seed, keep)) for name, rows in inside.items()}


def _of_set(
    name: str,
    candidates: Candidates,
    inside: np.ndarray,
    line: np.ndarray,
    asked: tuple[Mapping[str, str], int, int, Collection[str]],
) -> Sample:
    base, per_set, seed, keep = asked
    rows = drawn(np.flatnonzero(inside), per_set, line, rows_with(candidates, keep))
    arguments = {"base": dict(base), "set": name, "per_set": per_set}
    counts = {"fewer than wanted": per_set - len(rows)} if len(rows) < per_set else {}
    return Sample("by-attribute", arguments, seed, candidates, in_order(candidates, rows), counts, {})
