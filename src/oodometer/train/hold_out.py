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
from oodometer.train.portion import Portion, in_fold, share_of_images

ALL = Portion()

OF_CIFAR_100 = re.compile(r"subtypes/(\d+)")
"""``subtypes/2``: what the shift cifar-100-subtypes/2 tests, two of the five subtypes of each broad class."""

OF_ICONS = ("subtypes", "versions", icon_protocols.RELEASED_VERSIONS)
"""What icons can hold out besides the values of a column."""


@dataclass(frozen=True)
class Parts:
    """The parts of a data set: no image is in two of them.

    Args:
        training: What the model is trained on.
        iid: A tenth like the training images, the test images that are published with them, or a fold.
        held_out: What the shift tests, where something is held out.
    """

    training: Dataset
    iid: Dataset
    held_out: Dataset | None


def split_for_training(
    dataset: Dataset,
    hold_outs: Sequence[str] = (),
    *,
    test: Dataset | None = None,
    portion: Portion = ALL,
    seed: int = 0,
) -> Parts:
    """The parts of a data set from which all these are held out.

    Args:
        dataset: With the columns that the hold-outs name.
        hold_outs: ``COLUMN=VALUE``, or ``COLUMN=A|B`` for either value; of icons also ``subtypes`` and ``versions``, of
            CIFAR-100 ``subtypes/1`` to ``subtypes/4``.
        test: The test images that are published with them, which are the IID test where no fold is asked for.
        portion: What of the images is trained on.
        seed: Of the share.
    """
    if test is not None and portion.fold is None:
        return _with_test(dataset, test, hold_outs, portion, seed)
    is_held_out = _any_held_out(dataset, hold_outs)
    # By the ids alone: the same tenth for every model, whatever is held out.
    is_test = icon_protocols.iid_rows(dataset) if portion.fold is None else in_fold(dataset, portion.fold)
    rows = {"training": ~is_held_out & ~is_test, "iid": ~is_held_out & is_test}
    for what, some in rows.items():
        if not some.any():
            raise DataError(f"{dataset.name}: no images are left for the {what} part ({_counted(dataset, hold_outs)})")
    held_out = dataset.take(np.flatnonzero(is_held_out), name=f"{dataset.name}-held-out") if hold_outs else None
    training = dataset.take(np.flatnonzero(rows["training"]), name=f"{dataset.name}-training")
    return Parts(
        training=_shared(training, portion, seed),
        iid=dataset.take(np.flatnonzero(rows["iid"]), name=f"{dataset.name}-iid"),
        held_out=held_out,
    )


def _with_test(dataset: Dataset, test: Dataset, hold_outs: Sequence[str], portion: Portion, seed: int) -> Parts:
    """The parts where the test images are published apart: what is held out is so on both sides."""
    is_held_out = _any_held_out(dataset, hold_outs)
    is_kept = ~_any_held_out(test, hold_outs)
    for what, some in (("training", ~is_held_out), ("iid", is_kept)):
        if not some.any():
            raise DataError(f"{dataset.name}: no images are left for the {what} part ({_counted(dataset, hold_outs)})")
    training = dataset.take(np.flatnonzero(~is_held_out), name=f"{dataset.name}-training")
    held_out = dataset.take(np.flatnonzero(is_held_out), name=f"{dataset.name}-held-out") if hold_outs else None
    return Parts(
        training=_shared(training, portion, seed),
        iid=test.take(np.flatnonzero(is_kept), name=f"{dataset.name}-test"),
        held_out=held_out,
    )


def _shared(training: Dataset, portion: Portion, seed: int) -> Dataset:
    return training if portion.share is None else share_of_images(training, portion.share, seed=seed)


def _any_held_out(dataset: Dataset, hold_outs: Sequence[str]) -> np.ndarray:
    is_held_out = np.zeros(len(dataset), dtype=bool)
    for one in hold_outs:
        is_held_out |= held_out_rows(dataset, one)
    return is_held_out


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
