"""A manifest: a CSV or Parquet table that says where each image is and what is known about it."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.columns import column_of, column_of_texts
from oodometer.data.labels import ids_of_paths, parse_label_sets, parse_labels
from oodometer.data.source import EncodedSource, ImageFiles


def open_manifest(address: str, *, name: str) -> Dataset:
    """The images that a table lists: ``path`` (relative to the table), maybe ``label`` and ``id``, and what else.

    Where images have several labels, they are in ``labels`` instead, as ``3|7|9``.
    """
    table = read_table(address)
    paths = [_plain(path, address, row) for row, path in enumerate(table.pop("path"), start=1)]
    labels, others, space = _labels(table, len(paths), address, name)
    ids = table.pop("id", None)
    make_column = column_of if _is_parquet(address) else column_of_texts
    folder = addresses.parent(address)
    return Dataset(
        name=name,
        ids=ids_of_paths(paths) if ids is None else tuple(str(one) for one in ids),
        labels=labels,
        space=space,
        source=EncodedSource(ImageFiles(tuple(addresses.join(folder, path) for path in paths))),
        rows=np.arange(len(paths)),
        columns={key: make_column(values) for key, values in table.items()},
        other_labels=others,
    )


def read_table(address: str) -> dict[str, Sequence[Any]]:
    """The columns of a manifest as they are written, by name; one of them is ``path``."""
    table = _read_parquet(address) if _is_parquet(address) else _read_csv(address)
    if "path" not in table:
        raise DataError(f"{address}: no column 'path'; its columns are {', '.join(table)}")
    return table


def _is_parquet(address: str) -> bool:
    return address.lower().endswith(".parquet")


def _labels(
    table: dict[str, Sequence[Any]], n: int, address: str, name: str
) -> tuple[np.ndarray, tuple[tuple[int, ...], ...] | None, LabelSpace]:
    """The label of each image, its further ones where a column has several, and the classes."""
    if "labels" not in table or not n:
        labels, space = parse_labels(table.pop("label", [None] * n), name=name)
        return labels, None, space
    if "label" in table:
        raise DataError(f"{address}: a column 'label' and a column 'labels'; keep one of them")
    return parse_label_sets(table.pop("labels"), name=name)


def _read_csv(address: str) -> dict[str, Sequence[Any]]:
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig")
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row] or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{address}: not a readable CSV file in UTF-8 ({error}); save it as UTF-8") from error
    if not header:
        raise DataError(f"{address}: an empty file; expected a header with a column 'path', and a row for each image")
    for mark, called in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and mark in header[0]:
            raise DataError(f"{address}: its columns are separated by {called}; save it with commas between them")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise DataError(f"{address}: row {number} has {len(row)} fields, the header has {len(header)}")
    names = [one.strip() for one in header]
    twice = [one for one, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(f"{address}: two columns are named {twice[0]!r}; rename one")
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return dict(zip(names, columns, strict=True))


def _read_parquet(address: str) -> dict[str, Sequence[Any]]:
    from oodometer.data.kinds.parquet import parquet_files, read_columns

    return dict(read_columns(parquet_files(address), nested="labels"))


def _plain(path: Any, address: str, row: int) -> str:
    if not isinstance(path, str) or not path.strip():
        raise DataError(f"{address}: row {row} has no path")
    return path.strip().replace(os.sep, "/")
