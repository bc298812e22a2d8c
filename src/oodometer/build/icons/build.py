"""The icon data set: fetched, drawn, and put in its place when it is whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.build.icons.art import Art, find_art
from oodometer.build.icons.card import Made, card_text, counts, made_of
from oodometer.build.icons.classes import Rules, class_rules
from oodometer.build.icons.manifest import FILE as MANIFEST
from oodometer.build.icons.manifest import Row, manifest_text, read_manifest
from oodometer.build.icons.outside import too_small
from oodometer.build.icons.packages import Package, pinned_packages
from oodometer.build.icons.pictures import check_renderer, png_of
from oodometer.build.npm import fetch
from oodometer.core.columns import columns
from oodometer.core.dataset import Progress, silent
from oodometer.core.digests import content_digest
from oodometer.core.errors import DataError, UsageError
from oodometer.data.icon_protocols import common_iid_rows
from oodometer.data.load import load_data

CARD = "CARD.md"
IID = "iid.csv"
"""The manifest of the test icons that are like the training icons, whatever protocol a model was trained for."""

SIZES = (32, 64, 224)


@dataclass(frozen=True)
class IconOptions:
    """How icons are built.

    Args:
        size: Height and width in pixels.
        full: Add the packages of pictures: Apple, Facebook, and further drawings of Google and Twitter.
        skin_tones: Draw the emoji with skin tones too.
        outside: Draw what is in none of the classes instead, in Unicode's subgroups.
        offline: Use packages from the cache alone.
        packages: Other packages than the pinned ones.
        rules: Another table of classes.
    """

    size: int = 32
    full: bool = False
    skin_tones: bool = False
    outside: bool = False
    offline: bool = False
    packages: tuple[Package, ...] = ()
    rules: Rules = field(default_factory=class_rules)

    def chosen(self) -> tuple[Package, ...]:
        """The packages of this build."""
        return self.packages or pinned_packages(full=self.full)


@dataclass(frozen=True)
class Built:
    """A data set of icons, and whether this call made it; prints as the number of icons of each class and vendor.

    Args:
        rows: Its manifest.
        same: How many drawings were left out because their pixels are those of another, or all of one colour.
        digest: Of the manifest, in which the digest of every file is.
    """

    folder: str
    rows: tuple[Row, ...]
    same: int
    digest: str
    is_new: bool

    def __str__(self) -> str:
        header, lines = counts(self.rows, drawings=False)
        return columns([header, *lines])

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        header, lines = counts(self.rows, drawings=False)
        classes = [dict(zip(header, [line[0], *map(int, line[1:])], strict=True)) for line in lines[:-1]]
        return {"folder": self.folder, "icons": len(self.rows), "digest": self.digest, "classes": classes}


def build_icons(
    out: str | os.PathLike[str],
    options: IconOptions | None = None,
    *,
    fetching: Progress = silent,
    drawing: Progress = silent,
) -> Built:
    """The icons in a folder; where they are there already, nothing is done.

    Args:
        out: The folder; it is made, and appears when everything is in it.
        fetching: Told how many packages are there.
        drawing: Told how many icons are drawn.
    """
    options = options or IconOptions()
    folder = Path(out)
    if options.size not in SIZES:
        raise UsageError(f"size {options.size}: icons are drawn at {', '.join(map(str, SIZES))} pixels")
    packages = options.chosen()
    made = Made(options.size, options.skin_tones, tuple(one.spec for one in packages), options.outside)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        return _what_is_there(folder, made)
    renderer = check_renderer()
    files: dict[Package, Path] = {}
    fetching(0, len(packages))
    for package in packages:
        files[package] = fetch(package, offline=options.offline)
        fetching(len(files), len(packages))
    art = _find(files, options)
    if not art.wanted:
        raise DataError("no icon of any class in the packages; mend the table of classes")
    aside = _folder_aside(folder)
    try:
        rows, same = _draw_all(art, aside, options.size, drawing)
        if options.outside:
            rows = _without_small(rows, aside)
        text = manifest_text(rows)
        digest = content_digest(text.encode()).hex()
        (aside / MANIFEST).write_text(text, encoding="utf-8", newline="\n")
        (aside / IID).write_text(_iid_text(aside, rows), encoding="utf-8", newline="\n")
        card = card_text(rows, packages, made.finished(renderer, same, digest))
        (aside / CARD).write_text(card, encoding="utf-8", newline="\n")
        aside.chmod(0o755)  # a temporary folder is its maker's alone
        if folder.exists():
            folder.rmdir()
        os.replace(aside, folder)
    except OSError as error:
        raise DataError(f"{folder}: can't be written ({error.strerror})") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return Built(str(folder), tuple(rows), same, digest, is_new=True)


@dataclass(frozen=True)
class _Art:
    """What is drawn, and what must not be among it; a file is written of the first alone."""

    wanted: Sequence[Art]
    apart: Sequence[Art] = ()


def _find(files: Mapping[Package, Path], options: IconOptions) -> _Art:
    inside = find_art(files, options.rules, skin_tones=options.skin_tones)
    if not options.outside:
        return _Art(inside)
    return _Art(find_art(files, options.rules, skin_tones=options.skin_tones, outside=True), apart=inside)


def _without_small(rows: Sequence[Row], folder: Path) -> list[Row]:
    """The rows of classes with enough icons; the files of the others are removed."""
    small = too_small(row.class_name for row in rows)
    if len(small) == len({row.class_name for row in rows}):
        raise DataError("no subgroup outside the classes has enough icons in the packages")
    for name in small:
        shutil.rmtree(folder / name)
    return [row for row in rows if row.class_name not in small]


def _iid_text(folder: Path, rows: Sequence[Row]) -> str:
    data = load_data(folder / MANIFEST)
    kept = {data.ids[place] for place in np.flatnonzero(common_iid_rows(data))}
    return manifest_text(row for row in rows if row.id in kept)


def _folder_aside(folder: Path) -> Path:
    """A new folder beside the one that is wanted, so that it can be renamed into place."""
    place = folder.absolute()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}-"))
    except OSError as error:
        raise DataError(f"{folder}: can't be made ({error.strerror})") from error


def _draw_all(art: _Art, folder: Path, size: int, progress: Progress) -> tuple[list[Row], int]:
    """Draw everything into a folder: the rows of the manifest in its order, and how many were the same as another.

    Some vendors draw two emoji alike (the flags of Norway and of Bouvet Island), and old and new versions often don't
    differ: an icon whose pixels were there before is left out, or it would be in training and test.
    """
    seen: set[bytes] = set()
    rows: dict[str, Row] = {}
    every = [*art.apart, *art.wanted]
    progress(0, len(every))
    for done, (one, pixels) in enumerate(_drawn(every, size), start=1):
        content = png_of(pixels)
        digest = content_digest(content)
        is_blank = bool((pixels == pixels[0, 0]).all())
        is_new = not is_blank and digest not in seen
        seen.add(digest)
        if is_new and done > len(art.apart):
            row = Row.of(one, digest.hex())
            if row.path in rows:
                raise DataError(f"{row.path}: two icons of {one.package.spec} have this name")
            rows[row.path] = row
            place = folder / row.path
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)
        progress(done, len(every))
    return [rows[path] for path in sorted(rows)], len(art.wanted) - len(rows)


def _drawn(art: Sequence[Art], size: int) -> Iterator[tuple[Art, np.ndarray]]:
    def drawn(one: Art) -> np.ndarray:
        try:
            return one.draw(size)
        except DataError as error:
            raise DataError(f"{one.package.spec}: {one.emoji.name}: {error}") from error

    with ThreadPoolExecutor() as pool:
        try:
            yield from zip(art, pool.map(drawn, art), strict=True)
        finally:
            pool.shutdown(cancel_futures=True)


def _what_is_there(folder: Path, wanted: Made) -> Built:
    """The icons that are in a folder already, checked; an error where they are not those that are wanted."""
    other = f"{folder}: is there already, and "
    if not folder.is_dir() or not (folder / CARD).is_file() or not (folder / MANIFEST).is_file():
        raise DataError(f"{other}no icons that were built; choose another folder")
    made = made_of((folder / CARD).read_text(encoding="utf-8", errors="replace"), str(folder / CARD))
    if made.settings() != wanted.settings():
        raise DataError(f"{other}was built with other settings ({made.in_words()}); choose another folder")
    text = (folder / MANIFEST).read_bytes()
    digest = content_digest(text).hex()
    rows = read_manifest(text.decode("utf-8", errors="replace")) if digest == made.digest else []
    parts_are_there = bool(rows) and _is_text(folder / IID, _iid_text(folder, rows))
    if not parts_are_there or any(not _is_whole(folder / row.path, row.digest) for row in rows):
        raise DataError(f"{other}something in it was changed or lost; remove the folder and build it anew")
    return Built(str(folder), tuple(rows), made.same, digest, is_new=False)


def _is_text(file: Path, text: str) -> bool:
    return file.is_file() and file.read_bytes() == text.encode()


def _is_whole(file: Path, digest: str) -> bool:
    try:
        return content_digest(file.read_bytes()).hex() == digest
    except OSError:
        return False
