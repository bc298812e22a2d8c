"""Attribute shifts as manifests: one table per set, which training and ``--data`` can read."""

from __future__ import annotations

import csv
import filecmp
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.data import addresses
from oodometer.data.kinds.manifest import read_table
from oodometer.data.labels import BETWEEN
from oodometer.data.source import EncodedSource
from oodometer.shifts.attribute import AttributeSplit, also_in_iid, classes_of
from oodometer.shifts.unfinished_files import aside_of, nothing_unfinished


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


Table = Mapping[str, Sequence[Any]]
"""The columns of a manifest, ``path`` among them."""


def table_of(dataset: Dataset, folder: str) -> Table:
    """What a manifest in the folder would say about images with several labels each that lie below it."""
    source, others = dataset.source, dataset.other_labels or ((),) * len(dataset)
    assert isinstance(source, EncodedSource)
    paths = [source.images.name(int(row)).removeprefix(folder).lstrip("/") for row in dataset.rows]
    labels = [
        BETWEEN.join(dataset.space.classes[label] for label in (first, *more))
        for first, more in zip(dataset.labels.tolist(), others, strict=True)
    ]
    return {"path": paths, "labels": labels, **{name: column.tolist() for name, column in dataset.columns.items()}}


def write_split(
    split: AttributeSplit, manifest: str, folder: str, *, table: Table | None = None, force: bool = False
) -> list[SplitFile]:
    """Write the sets of a manifest's split as manifests, with all columns; paths stay valid where these lie.

    All are written aside before the first is put in its place. One that is there already with the same content is left
    alone, so that a call that was killed can be made again.

    Args:
        manifest: The one that was split.
        folder: Where to write; made if it is not there.
        table: What it says, where there is none yet and it only says where it would lie.
        force: Write over files that are there; otherwise one with another content is an error, before any is written.
    """
    files, root = files_of(split), Path(folder)
    for one in files:
        if os.path.exists(manifest) and (root / one.file).exists() and (root / one.file).samefile(manifest):
            raise DataError(f"{root / one.file}: is the manifest that is split; choose another folder")
    table = read_table(manifest) if table is None else table
    paths = _paths(table["path"], manifest, folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with nothing_unfinished(root):
            _write_aside(root, {one.file: _text(table, paths, split.sets[one.set]) for one in files})
            todo = [one.file for one in files if not _is_there(root, one.file, force=force)]
            for file in todo:
                os.replace(aside_of(root, file), root / file)
    except OSError as error:
        raise DataError(f"{folder}: can't be written ({error.strerror})") from error
    return files


def _write_aside(root: Path, texts: dict[str, str]) -> None:
    for file, text in texts.items():
        aside = Path(aside_of(root, file))
        aside.parent.mkdir(exist_ok=True)
        aside.write_text(text, encoding="utf-8", newline="")


def _is_there(root: Path, file: str, *, force: bool) -> bool:
    """Whether the file is there as it was written aside; an error if it is another, which is not to be lost."""
    target = root / file
    if not target.exists():
        return False
    same = filecmp.cmp(aside_of(root, file), target, shallow=False)
    if not same and not force:
        raise DataError(f"{target}: is there already; choose another folder, or --force")
    return same


def _text(table: Table, paths: Sequence[str], data: Dataset) -> str:
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
