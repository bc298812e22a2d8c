"""Which images a model is trained on, and which it never sees: an IID tenth, and what is held out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.data import icon_protocols
from oodometer.data.layouts.cifar_100 import held_out_subtypes, subtypes

OF_CIFAR_100 = re.compile(r"subtypes/(\d+)")
"""``subtypes/2``: what the shift cifar-100-subtypes/2 tests, two of the five subtypes of each broad class."""

OF_ICONS = ("subtypes", "versions", icon_protocols.RELEASED_VERSIONS)
"""What icons can hold out besides the values of a column."""


@dataclass(frozen=True)
class Parts:
    """The parts of a data set: no image is in two of them.

    Args:
        training: What the model is trained on.
        iid: A tenth like the training images.
        held_out: What the shift tests, where something is held out.
    """

    training: Dataset
    iid: Dataset
    held_out: Dataset | None


def split_for_training(dataset: Dataset, hold_outs: Sequence[str] = ()) -> Parts:
    """The parts of a data set from which all these are held out.

    Args:
        dataset: With the columns that the hold-outs name.
        hold_outs: ``COLUMN=VALUE``, or ``COLUMN=A|B`` for either value; of icons also ``subtypes`` and ``versions``, of
            CIFAR-100 ``subtypes/1`` to ``subtypes/4``.
    """
    is_held_out = np.zeros(len(dataset), dtype=bool)
    for one in hold_outs:
        is_held_out |= held_out_rows(dataset, one)
    # By the ids alone: the same tenth for every model, whatever is held out.
    is_tenth = icon_protocols.iid_rows(dataset)
    rows = {"training": ~is_held_out & ~is_tenth, "iid": ~is_held_out & is_tenth}
    for what, some in rows.items():
        if not some.any():
            raise DataError(f"{dataset.name}: no images are left for the {what} part ({_counted(dataset, hold_outs)})")
    held_out = dataset.take(np.flatnonzero(is_held_out), name=f"{dataset.name}-held-out") if hold_outs else None
    return Parts(
        training=dataset.take(np.flatnonzero(rows["training"]), name=f"{dataset.name}-training"),
        iid=dataset.take(np.flatnonzero(rows["iid"]), name=f"{dataset.name}-iid"),
        held_out=held_out,
    )


def held_out_rows(dataset: Dataset, hold_out: str) -> np.ndarray:
    """Which images a hold-out stands for, (N,) bool; at least one."""
    if hold_out in OF_ICONS:
        return icon_protocols.held_out_rows(dataset, hold_out)
    if match := OF_CIFAR_100.fullmatch(hold_out):
        return _of_cifar_100(dataset, int(match[1]))
    column, equals, value = (one.strip() for one in hold_out.partition("="))
    if not equals or not value:
        raise UsageError(
            f"--hold-out {hold_out}: expected COLUMN=VALUE, of icons subtypes or versions, of CIFAR-100 subtypes/1"
        )
    if column not in dataset.columns:
        raise UsageError(f"--hold-out {hold_out}: {dataset.name} has no column {column!r}{_hint(column, dataset)}")
    values = np.array([str(one) for one in dataset.columns[column].tolist()])
    for one in value.split("|"):
        if one not in values:
            known = did_you_mean(one, set(values.tolist()))
            raise UsageError(f"--hold-out {hold_out}: no image of {dataset.name} has {column} {one!r}{known}")
    return np.isin(values, value.split("|"))


def _of_cifar_100(dataset: Dataset, n: int) -> np.ndarray:
    held_out, column = held_out_subtypes(n), dataset.columns.get("subtype")
    if column is None or not held_out <= set(column.tolist()):
        raise UsageError(f"--hold-out subtypes/{n}: {dataset.name} does not have the subtypes of CIFAR-100")
    if dataset.space == subtypes():
        raise UsageError(f"--hold-out subtypes/{n}: whole classes would be left out; add --label superclass")
    return np.isin(column, sorted(held_out))


def _hint(column: str, dataset: Dataset) -> str:
    return did_you_mean(column, dataset.columns) or "; its images have labels only"


def _counted(dataset: Dataset, hold_outs: Sequence[str]) -> str:
    return f"{len(dataset)} images, held out: {', '.join(hold_outs) or 'nothing'}"
