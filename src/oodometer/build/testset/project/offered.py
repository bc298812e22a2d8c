"""Images that somebody offers for a pool: where each is read from, for which class, and what its table says of it."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PIL import Image

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.kinds.manifest import read_table
from oodometer.data.load import load_data
from oodometer.data.source import EncodedSource

PROVENANCE = ("licence", "author", "url", "keyword")
"""Columns of a table that have a place of their own in the pool."""

SPELLED_OTHERWISE = {"license": "licence"}


@dataclass(frozen=True)
class Offered:
    """An image.

    Args:
        name: Where it lies, for messages; also its id unless the table has one.
        read: Gives the bytes of its file.
        class_name: What it is a candidate for, or shows.
        facts: Provenance and what else is said of it, by column.
    """

    name: str
    read: Callable[[], bytes]
    class_name: str
    facts: Mapping[str, str]


def offered_by(address: str, *, manifest: str | None = None) -> tuple[str, list[Offered]]:
    """What kind of place it is, and the images in it.

    Args:
        address: Class folders, WebDataset shards, a manifest, or the folder that the paths of ``manifest`` are in.
        manifest: A table with the columns path and label, and maybe licence, author, url, keyword, id and others.
    """
    if manifest is not None:
        return "manifest", list(_listed(address, manifest))
    data = load_data(address)
    return "data", [_kept_inside(address, data, at, one) for at, one in enumerate(images_of(data))]


def images_of(data: Dataset) -> Iterator[Offered]:
    """The images of a data set."""
    for at, (name, label) in enumerate(zip(data.ids, data.labels.tolist(), strict=True)):
        if label < 0:
            raise DataError(f"{data.name}: {name} has no label, so nobody knows what it is a candidate for")
        facts = {key: str(values[at]) for key, values in data.columns.items()}
        yield Offered(name, partial(content_of, data, at), data.space.classes[label], _renamed(facts))


def _listed(folder: str, manifest: str) -> Iterator[Offered]:
    """The rows of a table; a path that leads out of the folder is refused when it is to be read."""
    table: dict[str, Any] = dict(read_table(manifest))
    if "label" not in table:
        raise DataError(f"{manifest}: no column 'label', which says what each image is a candidate for")
    paths, labels, ids = table.pop("path"), table.pop("label"), table.pop("id", None)
    for at, path in enumerate(paths):
        name = str(path).strip()
        facts = {key: str(values[at]) for key, values in table.items()}
        known = name if ids is None else str(ids[at])
        read = partial(addresses.read_bytes, addresses.join(folder, name)) if _is_inside(folder, name) else _refuse
        yield Offered(known, read, str(labels[at]).strip(), _renamed(facts))


def _kept_inside(address: str, data: Dataset, at: int, one: Offered) -> Offered:
    """The same image, but refused where it lies outside: who made the folder or the table may be anybody."""
    if addresses.is_remote(address) or not os.path.exists(address) or not isinstance(data.source, EncodedSource):
        return one
    folder = address if os.path.isdir(address) else os.path.dirname(os.path.abspath(address))
    return one if _is_below(folder, data.source.images.name(int(data.rows[at]))) else replace(one, read=_refuse)


def _refuse() -> bytes:
    raise DataError("it is not in the folder, or a link that leads out of it; only images below the folder are taken")


def _is_below(folder: str, place: str) -> bool:
    root = os.path.realpath(folder)
    return os.path.commonpath([root, os.path.realpath(place)]) == root


def check_inside(folder: str, path: str, what: str) -> None:
    """Refuse a path that leads out of the folder, also by a link."""
    if not _is_inside(folder, path):
        raise DataError(f"{what}: {path} is not in {folder}; only images below that folder are taken")


def _is_inside(folder: str, path: str) -> bool:
    if os.path.isabs(path) or ".." in path.replace("\\", "/").split("/") or "://" in path:
        return False
    return addresses.is_remote(folder) or _is_below(folder, os.path.join(folder, path))


def content_of(data: Dataset, at: int) -> bytes:
    """The file of an image of a data set; as PNG where it is kept as pixels."""
    row = int(data.rows[at])
    if isinstance(data.source, EncodedSource):
        return data.source.images.read(row)
    out = io.BytesIO()
    Image.fromarray(data.image(at)).save(out, "PNG")
    return out.getvalue()


def _renamed(facts: Mapping[str, str]) -> dict[str, str]:
    return {SPELLED_OTHERWISE.get(key.lower(), key): value for key, value in facts.items()}
