"""Data sets out of rows of pixels whose classes are known beforehand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.data.kinds.arrays import CountedRows
from oodometer.data.labels import ids_of_positions
from oodometer.data.source import ArraySource


def dataset_of_rows(
    rows: CountedRows,
    labels: np.ndarray | list[str],
    *,
    space: LabelSpace,
    name: str,
    where: str,
    columns: Mapping[str, np.ndarray] | None = None,
) -> Dataset:
    """The images under the ids of their positions, so that they have the same ones in whatever file they come.

    Args:
        labels: Class numbers (N,) or (N, 1), or class names.
        where: The file that an error message is about.
    """
    indices = class_numbers(labels, space, where=where)
    if len(indices) != rows.n:
        raise DataError(f"{where}: {rows.n:,} images but {len(indices):,} labels")
    return Dataset(
        name=name,
        ids=ids_of_positions(rows.n),
        labels=indices,
        space=space,
        source=ArraySource(rows),
        rows=np.arange(rows.n),
        columns=columns or {},
    )


def class_numbers(labels: np.ndarray | list[str], space: LabelSpace, *, where: str) -> np.ndarray:
    """Labels as indices of the space, (N,) int64.

    >>> class_numbers(["dog", "cat"], LabelSpace("pets", ("cat", "dog")), where="pets.txt").tolist()
    [1, 0]
    """
    if isinstance(labels, list):
        places = {one: index for index, one in enumerate(space.classes)}
        unknown = next((one for one in labels if one not in places), None)
        if unknown is not None:
            raise DataError(f"{where}: no class {unknown!r} in {space.name}; its classes are {_few(space)}")
        return np.array([places[one] for one in labels], dtype=np.int64)
    if labels.dtype.kind not in "iu" or labels.ndim not in (1, 2) or labels.size != len(labels):
        raise DataError(f"{where}: its labels are {labels.shape} {labels.dtype}; expected one whole number per image")
    numbers = labels.reshape(-1).astype(np.int64)
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(space):
        bad = numbers.max() if numbers.max() >= len(space) else numbers.min()
        raise DataError(f"{where}: a label {bad}; {space.name} has the classes 0 to {len(space) - 1}")
    return numbers


def _few(space: LabelSpace) -> str:
    return ", ".join(space.classes) if len(space) <= 20 else f"{', '.join(space.classes[:3])}, ..."
