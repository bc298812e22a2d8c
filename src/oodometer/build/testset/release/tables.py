"""The tables of a release: where each image lies, what it shows, whose it is. Nothing in them is about annotators."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from oodometer.build.testset.release.chosen import ChosenImage

Format = Literal["folder", "webdataset"]
PER_SHARD = 1000
"""Images of a shard, at most."""

PLAIN = ("path", "label", "id", "frequency", "n_answers", "keyword", "licence", "author", "url")
LONGEST = 80


def folder_name(class_name: str) -> str:
    """A name for the folder of a class that every file system takes, and no other class has.

    >>> folder_name("n01440764"), folder_name("../up"), folder_name("CON")
    ('n01440764', '.._up-8c722b8a', 'CON-a3dbc4b6')
    """
    plain = re.sub(r"[^A-Za-z0-9._ -]+", "_", class_name).strip(" ")[:LONGEST] or "_"
    reserved = plain.upper() in {"CON", "PRN", "AUX", "NUL"} or plain.startswith(".") or plain.endswith(".")
    if plain == class_name and not reserved:
        return plain
    return f"{plain}-{hashlib.sha256(class_name.encode()).hexdigest()[:8]}"


def paths_of(images: Sequence[ChosenImage], format_: Format) -> list[str]:
    """Where each image lies in a release: in the folder of its class, or the shard and the member in it."""
    if format_ == "folder":
        return [f"{folder_name(one.image.class_name)}/{member_of(one)}" for one in images]
    return [f"{shard_name(at // PER_SHARD)}/{member_of(one)}" for at, one in enumerate(images)]


def member_of(one: ChosenImage) -> str:
    """The name of the file of an image."""
    return f"{one.image.key}.{one.image.file.rpartition('.')[2]}"


def shard_name(number: int) -> str:
    """The name of a shard."""
    return f"shard-{number:05d}.tar"


def row_of(one: ChosenImage, path: str = "") -> dict[str, Any]:
    """What the manifest says of an image; columns of its source follow under their own names."""
    said = {
        "path": path,
        "label": one.image.class_name,
        "id": one.image.key,
        "frequency": "" if one.frequency is None else f"{one.frequency:.6g}",
        "n_answers": one.n_answers,
        "keyword": one.image.keyword,
        "licence": one.image.licence,
        "author": one.image.author,
        "url": one.image.url,
    }
    more = {(f"source_{name}" if name in said else name): value for name, value in one.image.columns.items()}
    return {**said, **{("source_name" if name == "name" else name): value for name, value in more.items()}}


def manifest(images: Sequence[ChosenImage], paths: Sequence[str]) -> str:
    """The table of all images, which `load_data` reads."""
    rows = [row_of(one, path) for one, path in zip(images, paths, strict=True)]
    more = sorted({name for row in rows for name in row} - set(PLAIN))
    return as_csv([*PLAIN, *more], rows)


def licences(images: Sequence[ChosenImage], paths: Sequence[str]) -> str:
    """Whose each image is, and what may be done with it."""
    columns = ("path", "licence", "author", "url")
    rows = [row_of(one, path) for one, path in zip(images, paths, strict=True)]
    return as_csv(columns, [{name: row[name] for name in columns} for row in rows])


def as_csv(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A table as text; what is missing is empty."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
