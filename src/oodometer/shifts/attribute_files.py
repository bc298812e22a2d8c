"""Attribute shifts as manifests: one table per set, which training and ``--data`` can read."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.data import addresses
from oodometer.data.kinds.manifest import read_table
from oodometer.data.labels import BETWEEN
from oodometer.shifts.attribute import AttributeSplit, also_in_iid, classes_of


@dataclass(frozen=True)
class SplitFile:
    """A set of a split and the file that lists it.

    Args:
        also_in_iid: Images whose file is in the IID test too.
    """

    set: str
    file: str
    images: int
    classes: int
    also_in_iid: int


def files_of(split: AttributeSplit) -> list[SplitFile]:
    """What is written about a split, a file for each set."""
    found = []
    for name, data in split.sets.items():
        shared = 0 if data is split.iid else also_in_iid(split, name)
        found.append(SplitFile(name, f"{file_name(name)}.csv", len(data), len(classes_of(data)), shared))
    files = [one.file for one in found]
    for one in found:
        if files.count(one.file) > 1:
            raise UsageError(f"two sets would be written to {one.file}; leave one of them out")
    return found


def file_name(name: str) -> str:
    """A name that every file system takes.

    >>> file_name("country=fr"), file_name("year=2017|2018"), file_name("shop=fish, chips")
    ('country=fr', 'year=2017+2018', 'shop=fish_chips')
    """
    return re.sub(r"[^\w=.+-]+", "_", name.replace("|", "+"))


def write_split(split: AttributeSplit, manifest: str, folder: str, *, force: bool = False) -> list[SplitFile]:
    """Write the sets of a manifest's split as manifests, with all columns; paths stay valid where these lie.

    Args:
        manifest: The one that was split.
        folder: Where to write; made if it is not there.
        force: Write over files that are there; otherwise that is an error, before any is written.
    """
    found = files_of(split)
    for one in found:
        target = Path(folder) / one.file
        if target.exists() and os.path.exists(manifest) and target.samefile(manifest):
            raise DataError(f"{target}: is the manifest that is split; choose another folder")
        if not force and target.exists():
            raise DataError(f"{target}: is there already; choose another folder, or --force")
    table = read_table(manifest)
    paths = _paths(table["path"], manifest, folder)
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for one in found:
            text = _text(table, paths, split.sets[one.set])
            (Path(folder) / one.file).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise DataError(f"{folder}: can't be written ({error.strerror})") from error
    return found


def _text(table: dict[str, Sequence[Any]], paths: Sequence[str], data: Dataset) -> str:
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    others = [name for name in table if name not in ("path", "id")]
    # The ids too: those that are made of paths would change with the paths.
    writer.writerow(["path", "id", *others])
    for row, one in zip(data.rows.tolist(), data.ids, strict=True):
        writer.writerow([paths[row], one, *(_field(table[name][row]) for name in others)])
    return target.getvalue()


def _field(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return BETWEEN.join(str(one) for one in value)
    return "" if value is None else str(value)


def _paths(paths: Sequence[Any], manifest: str, folder: str) -> list[str]:
    """Each path as seen from the folder; absolute ones and addresses stay."""
    above = addresses.parent(addresses.absolute(manifest))
    texts = [str(path).strip().replace(os.sep, "/") for path in paths]
    if addresses.is_remote(above):
        return [addresses.join(above, path) for path in texts]
    here = os.path.abspath(folder)

    def seen(path: str) -> str:
        if addresses.is_remote(path) or os.path.isabs(path):
            return path
        return os.path.relpath(addresses.join(above, path), here).replace(os.sep, "/")

    return [seen(path) for path in texts]
