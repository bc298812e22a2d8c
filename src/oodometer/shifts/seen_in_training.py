"""Whether a model was trained on the icons that a shift tests, as far as its card tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.shifts.icons import protocol_of

HOLD_OUT, MADE_WITH = "hold_out", "made_with"
"""Notes on the card of a model that ``oodometer train`` made; the first is left out where nothing was held out."""


def hold_outs_of(notes: Mapping[str, str]) -> tuple[str, ...] | None:
    """What a model was trained without, from the notes on its card; None where they don't tell.

    >>> hold_outs_of({"hold_out": "style=microsoft, subtypes"}), hold_outs_of({"made_with": "oodometer 1"})
    (('style=microsoft', 'subtypes'), ())
    >>> hold_outs_of({})
    """
    if HOLD_OUT not in notes and not notes.get(MADE_WITH, "").startswith("oodometer "):
        return None
    return tuple(one.strip() for one in notes.get(HOLD_OUT, "").split(",") if one.strip())


def protocols_seen(hold_outs: Iterable[str], asked: Iterable[Condition | Shift]) -> dict[str, str]:
    """The shifts of icons that test what was not held out, each with what should have been."""
    held_out = list(hold_outs)
    found: dict[str, str] = {}
    for one in asked:
        if not isinstance(one, Shift):
            continue
        protocol = protocol_of(one.name)
        if protocol and protocol not in held_out and not _without(one.shifted.dataset, held_out).all():
            found[one.name] = protocol
    return found


def _without(dataset: Dataset, hold_outs: Iterable[str]) -> np.ndarray:
    """Which images ``COLUMN=A|B`` held out, (N,) bool: what one protocol means may be said by values as well."""
    rows = np.zeros(len(dataset), bool)
    for one in hold_outs:
        column, _, values = one.partition("=")
        if column in dataset.columns:
            rows |= np.isin([str(value) for value in dataset.columns[column].tolist()], values.split("|"))
    return rows
