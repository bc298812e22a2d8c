"""WebDataset tar shards: the members of a sample share a name up to its first dot."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.reading import reading
from oodometer.data import addresses
from oodometer.data.columns import column_of
from oodometer.data.labels import parse_labels
from oodometer.data.source import EncodedSource

_IMAGE_ENDINGS = ("jpg", "jpeg", "png", "webp")
_LABEL_KEYS = ("label", "cls")
_BLOCK = 512


def open_webdataset(address: str, *, name: str) -> Dataset:
    """The images of a tar file, a folder of them or a pattern such as ``val-{000..003}.tar``.

    The label is a ``.cls`` member (a number or a class name) or ``label`` or ``cls`` in a ``.json`` member, whose other
    plain values become columns. Only the headers of the tar files are read; members of other kinds are left alone,
    pickles above all.
    """
    shards = tuple(_open_shard(file) for file in _tar_files(address))
    places = [(number, sample) for number, shard in enumerate(shards) for sample in shard.samples]
    if not places:
        raise DataError(f"{address}: no images in it; expected members ending in {', '.join(_IMAGE_ENDINGS)}")
    samples = [sample for _, sample in places]
    labels, space = parse_labels([sample.label for sample in samples], name=name, rows="image")
    return Dataset(
        name=name,
        ids=_ids(shards),
        labels=labels,
        space=space,
        source=EncodedSource(TarImages(shards, tuple((shard, sample.image) for shard, sample in places))),
        rows=np.arange(len(samples)),
        columns=_columns([sample.values for sample in samples]),
    )


@dataclass(frozen=True)
class Member:
    """Where the bytes of a member lie in its tar file."""

    path: str
    offset: int
    size: int


@dataclass(frozen=True)
class Sample:
    """An image, its label as it was written, and what else its JSON says."""

    key: str
    image: Member
    label: Any
    values: dict[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Shard:
    """A tar file and the samples in it."""

    address: str
    version: str | None
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class TarImages:
    """Images as members of tar files, each read by its offset."""

    shards: tuple[Shard, ...]
    places: tuple[tuple[int, Member], ...]

    def read(self, index: int) -> bytes:
        """The bytes of the member."""
        shard, member = self.places[index]
        return addresses.read_range(self.shards[shard].address, member.offset, member.size)

    def name(self, index: int) -> str:
        """The tar file and the member."""
        shard, member = self.places[index]
        return f"{self.shards[shard].address}/{member.path}"

    def version(self, index: int) -> str | None:
        """The version of the tar file and the place in it."""
        shard, member = self.places[index]
        version = self.shards[shard].version
        return None if version is None else f"{version} {member.offset} {member.size}"


def split_key(path: str) -> tuple[str, str]:
    """The sample's key and the member's ending, cut at the first dot of the last part.

    >>> split_key("val.d/0001.seg.png")
    ('val.d/0001', 'seg.png')
    """
    folder, slash, last = path.rpartition("/")
    stem, _, ending = last.partition(".")
    return f"{folder}{slash}{stem}", ending.lower()


def _tar_files(address: str) -> list[str]:
    if not addresses.is_folder(address):
        files = addresses.expand(address)
    else:
        inside = [file.path for file in addresses.list_files(address) if file.path.lower().endswith(".tar")]
        files = [addresses.join(address, path) for path in inside]
    if not files:
        raise DataError(f"{address}: no tar files there; check the path")
    return files


def _open_shard(address: str) -> Shard:
    version = addresses.version_of(address)
    with addresses.open_binary(address) as file:
        members = _index(file, address)
        groups: dict[str, dict[str, Member]] = {}
        for member in members:
            key, ending = split_key(member.path)
            groups.setdefault(key, {})[ending] = member
        samples = [_sample(file, address, key, group) for key, group in groups.items()]
    return Shard(address, version, tuple(sample for sample in samples if sample is not None))


def _index(file: IO[bytes], address: str) -> list[Member]:
    """The plain files in a tar file, from its headers."""
    with (
        reading(address, "tar file", todo="compressed ones must be unpacked"),
        tarfile.open(fileobj=file, mode="r:") as tar,
    ):
        members = [Member(one.name.removeprefix("./"), one.offset_data, one.size) for one in tar if one.isreg()]
        end = tar.offset
    # tarfile takes a damaged header for the end of the archive, and would lose the rest without a word.
    file.seek(end)
    if any(file.read(_BLOCK)):
        raise DataError(f"{address}: damaged at byte {end}; copy it again")
    return members


def _sample(file: IO[bytes], address: str, key: str, group: dict[str, Member]) -> Sample | None:
    images = [group[ending] for ending in _IMAGE_ENDINGS if ending in group]
    if not images:
        return None
    if len(images) > 1:
        raise DataError(f"{address}: sample {key!r} has two images, {images[0].path} and {images[1].path}; keep one")
    values = _json(file, address, group["json"]) if "json" in group else {}
    written = next((values.pop(one) for one in _LABEL_KEYS if one in values), None)
    if "cls" in group:
        written = _read(file, group["cls"]).decode("utf-8", errors="replace").strip()
    plain = {one: value for one, value in values.items() if isinstance(value, (str, int, float, bool))}
    return Sample(key, images[0], written, plain)


def _json(file: IO[bytes], address: str, member: Member) -> dict[str, Any]:
    with reading(f"{address}: member {member.path}", "JSON file"):
        values = json.loads(_read(file, member))
    return values if isinstance(values, dict) else {}


def _read(file: IO[bytes], member: Member) -> bytes:
    file.seek(member.offset)
    return file.read(member.size)


def _ids(shards: Iterable[Shard]) -> tuple[str, ...]:
    """The keys; where two shards use the same one, with the shard's name before all of them."""
    keys = [sample.key for shard in shards for sample in shard.samples]
    if len(set(keys)) == len(keys):
        return tuple(keys)
    return tuple(
        f"{addresses.base_name(shard.address).removesuffix('.tar')}/{sample.key}"
        for shard in shards
        for sample in shard.samples
    )


def _columns(values: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    names = dict.fromkeys(name for one in values for name in one)
    return {name: column_of([one.get(name) for one in values]) for name in names}
