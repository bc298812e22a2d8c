"""A released test set as a shift: the set that it was made after against it, over the classes that both have.

A release says in its ``testset.toml`` how it is called and what it is compared with. Where its folder is given as the
data of a run, its name may follow ``--on``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from oodometer.core.condition import Condition, Shift, clean
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import align
from oodometer.data.released import Registration, original_of, registration_in
from oodometer.shifts.sources import Sources


def release_asked_for(address: str | None, names: Iterable[str]) -> Registration | None:
    """The release at this address, if there is one and one of these names is its own."""
    if address is None or all(name == "clean" for name in names):
        return None
    found = registration_in(address)
    return found if found is not None and found.name in names else None


def shift_of(found: Registration, sources: Sources) -> Shift:
    """The pair: original images of the classes that the release has, and the release."""
    if sources.dataset is None:
        raise UsageError(f"{found.name}: give its folder with --data")
    original = original_of(found, sources.root)
    shifted = replace(sources.dataset, name=found.name)
    labels = align(
        shifted.labels, shifted.space, original.space, what=f"{found.original}, the original of {found.name},"
    )
    shifted = replace(shifted, labels=labels, space=original.space)
    rows = np.flatnonzero(np.isin(original.labels, np.unique(labels)))
    if not len(rows):
        raise DataError(f"{found.name}: its original, {found.original}, has no image of its classes")
    if len(rows) == len(original):
        standard = clean(sources.fewer(original))
    else:
        part = original.take(rows, part=f"{found.name}-classes")
        standard = Condition(f"{original.name}-on-{found.name}-classes", sources.fewer(part))
    return Shift(found.name, "dataset", standard, Condition(found.name, sources.fewer(shifted)))
