"""A release is written: aside, whole, the same bytes for the same revision, and renamed into place."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oodometer.build.testset.project.image_files import read_kept
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import reasons_now
from oodometer.build.testset.project.sample_request import request_from
from oodometer.build.testset.project.simulate import n_simulated
from oodometer.build.testset.release.card import card
from oodometer.build.testset.release.chosen import ChosenImage, Revision, revision_of
from oodometer.build.testset.release.corrected import corrected_frequency
from oodometer.build.testset.release.croissant import croissant
from oodometer.build.testset.release.tables import (
    PER_SHARD,
    Format,
    licences,
    manifest,
    member_of,
    paths_of,
    row_of,
    shard_name,
)
from oodometer.build.testset.release.verify import SUMS, sums_text
from oodometer.core.errors import DataError, UsageError
from oodometer.data import addresses
from oodometer.data.released import FILE, is_published

WEB = ("http://", "https://")


@dataclass(frozen=True)
class Release:
    """What was written."""

    folder: Path
    name: str
    revision: Revision
    n_files: int

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "folder": str(self.folder),
            "name": self.name,
            "revision": self.revision.number,
            "images": len(self.revision.images),
            "classes": len({one.image.class_id for one in self.revision.images}),
            "files": self.n_files,
        }

    def __str__(self) -> str:
        said = self.as_json()
        return f"{self.name}, revision {said['revision']}: {said['images']} images of {said['classes']} classes"


@dataclass(frozen=True)
class ReleaseOptions:
    """How a release is written.

    Args:
        revision: By number; by default the latest.
        format: Class folders, or WebDataset shards.
        original: What the set is compared with: an address, also relative to the release, or the name of a published
            set; by default the project's.
        allow_simulated: Whether answers of simulated annotators may be behind it.
        licence_required: Whether an image without a licence is an error.
        as_sampled: Whether images that were taken out after the revision was sampled are released all the same.
        name: Of the set, as it follows ``--on``; by default the project's. Releases of several revisions need several.
    """

    revision: int | None = None
    format: Format = "folder"
    original: str | None = None
    allow_simulated: bool = False
    licence_required: bool = False
    as_sampled: bool = False
    name: str | None = None

    def __post_init__(self) -> None:
        if self.name is not None and (not self.name.strip() or "/" in self.name):
            raise UsageError(f"--name {self.name!r}: a name is not empty and without a /, since it follows --on")


def write_release(project: Project, folder: str | Path, options: ReleaseOptions | None = None) -> Release:
    """Write a revision as files: aside, and renamed when it is whole."""
    options = options or ReleaseOptions()
    place = Path(os.path.abspath(folder))  # the folder that one is in has no name of its own
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{folder}: is there already and not empty; a release goes into a new folder")
    found = revision_of(project, options.revision)
    _check(project, found, options)
    original = _told(project, place) if options.original is None else options.original
    name = options.name or project.name
    aside = place.with_name(f".{place.name}.partial")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        n_files = _write(aside, project, found, (name, options.format, original))
        _put_into_place(aside, place)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return Release(Path(folder), name, found, n_files)


def _put_into_place(aside: Path, place: Path) -> None:
    if not place.exists():
        aside.rename(place)
        return
    # The empty folder stays: somebody may be in it. Its checksums come last: without them it is no release.
    for part in sorted(aside.iterdir(), key=lambda part: (part.name == SUMS, part.name)):
        part.rename(place / part.name)
    aside.rmdir()


def _told(project: Project, place: Path) -> str:
    """How a release tells where the project's original is, without telling where somebody's files are.

    The name of a published set and an address on the web are the same for everybody. What is below the folder that the
    release is in is told relative to it; of anything else the last part.
    """
    original = project.original
    if not original or original.startswith(WEB) or (is_published(original) and not addresses.exists(original)):
        return original
    here = None if addresses.is_remote(original) else _local(original, project.folder)
    if here is not None and here.is_relative_to(place.parent):
        return Path(os.path.relpath(here, place)).as_posix()
    return addresses.base_name(original)


def _local(original: str, project: Path) -> Path | None:
    """Where a local original is: a relative path was meant from where the project was begun, mostly beside it."""
    if os.path.isabs(original):
        return Path(os.path.abspath(original))
    begun = (Path.cwd(), Path(os.path.abspath(project)).parent)
    return next((Path(os.path.abspath(one / original)) for one in begun if (one / original).exists()), None)


def _check(project: Project, found: Revision, options: ReleaseOptions) -> None:
    if (n := n_simulated(project)) and not options.allow_simulated:
        raise DataError(f"{n} answers are simulated, not people's; say --simulated to release the set all the same")
    if not options.as_sampled:
        _check_none_is_out(project, found)
    without = [chosen.image.key for chosen in found.images if not chosen.image.licence]
    if options.licence_required and without:
        raise DataError(f"{len(without)} images, such as {without[0]}, say no licence; exclude them, or add one")


def _check_none_is_out(project: Project, found: Revision) -> None:
    """What was excluded, or found to be a near-duplicate, after the sample was taken must not go out unnoticed."""
    last = found.steps[-1]
    now = reasons_now(project, request_from(last.sampler, last.seed, last.arguments))
    out = [(chosen.image.key, now[chosen.image.key]) for chosen in found.images if now[chosen.image.key]]
    if out:
        key, why = out[0]
        raise DataError(
            f"{len(out)} of the images of revision {found.number} are out since it was sampled, such as {key}: {why}; "
            "sample again, or say --as-sampled to release it all the same"
        )


def _write(place: Path, project: Project, found: Revision, said: tuple[str, Format, str]) -> int:
    name, format_, original = said
    place.mkdir(parents=True)
    sums: dict[str, str] = {}

    def put(path: str, content: bytes) -> None:
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        sums[path] = hashlib.sha256(content).hexdigest()

    paths = paths_of(found.images, format_)
    files = _folders(project, found.images, paths) if format_ == "folder" else _shards(project, found.images)
    for path, content in files:
        put(path, content)
    # Shards carry what is known of each image; a manifest beside them would make the folder one of loose images.
    put("manifest.csv" if format_ == "folder" else "images.csv", manifest(found.images, paths).encode())
    put("classes.txt", "".join(f"{name}\n" for name in found.classes.values()).encode())
    put("LICENCES.csv", licences(found.images, paths).encode())
    put("CARD.md", card(name, found, _shown(original), corrected_frequency(project, found)).encode())
    put("recipe.json", _json(_recipe(found)))
    put(FILE, _registration(name, original).encode())
    put("croissant.json", _json(croissant(name, found, sums)))
    (place / SUMS).write_text(sums_text(sums), "utf-8")
    return len(sums) + 1


def _folders(project: Project, images: tuple[ChosenImage, ...], paths: list[str]) -> Iterator[tuple[str, bytes]]:
    for one, path in zip(images, paths, strict=True):
        yield path, read_kept(project.folder, one.image.file)


def _shards(project: Project, images: tuple[ChosenImage, ...]) -> Iterator[tuple[str, bytes]]:
    for start in range(0, len(images), PER_SHARD):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for one in images[start : start + PER_SHARD]:
                said = {key: value for key, value in row_of(one).items() if key != "path"}
                for name, content in (
                    (member_of(one), read_kept(project.folder, one.image.file)),
                    (f"{one.image.key}.json", json.dumps(said, sort_keys=True).encode()),
                ):
                    info = tarfile.TarInfo(name)  # its times and owners are 0: the same bytes every time
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
        yield shard_name(start // PER_SHARD), out.getvalue()


def _recipe(found: Revision) -> dict[str, Any]:
    return {
        "revision": found.number,
        "steps": [
            {
                "revision": step.revision,
                "parent": step.parent,
                "sampler": step.sampler,
                "arguments": dict(step.arguments),
                "seed": step.seed,
                "counts": dict(step.counts),
                "at": step.at,
                "note": step.note,
            }
            for step in found.steps
        ],
        "filters": [dict(one) for one in found.filters],
        "funnel": dict(found.funnel),
        "excluded": dict(found.excluded),
    }


def _registration(name: str, original: str) -> str:
    return (
        "# Makes the name known after --on, where the folder is given with --data.\n"
        f"name = {json.dumps(name, ensure_ascii=False)}\n"
        "# What it is compared with: an address, also relative to this folder, or the name of a published set.\n"
        f"{_to_fill_in(original)}"
        f"original = {json.dumps(original, ensure_ascii=False)}\n"
    )


def _to_fill_in(original: str) -> str:
    if not original or "/" in original or is_published(original):
        return ""
    return "# Only its name is told here, since it is nowhere near this folder: write its address before you compare.\n"


def _shown(original: str) -> str:
    """The last part of an address: where somebody's files lie is nobody else's business."""
    return original.rstrip("/").rpartition("/")[2]


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False) + "\n").encode()
