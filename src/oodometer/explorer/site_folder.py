"""The folder of a made site: written aside and put in its place whole, and replaced only where it is ours."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from oodometer.core.errors import UsageError

MARKER = "oodometer-site.json"
"""What a made site has, and no other folder: the names of its files."""


def check_place(place: Path) -> None:
    """An error where something is that no site may replace: other files, or files beside those of a site."""
    if not place.exists():
        return
    if not place.is_dir():
        raise UsageError(f"{place}: is a file; give a folder with -o")
    there = _files(place)
    known = _known(place)
    strange = sorted(there - known - {MARKER})
    if strange:
        what = "is no site that oodometer made" if not known else "has a file that oodometer did not make"
        raise UsageError(f"{place}: {what} ({strange[0]}), so it is left as it is; give another folder with -o")


@contextlib.contextmanager
def made_aside(place: Path) -> Iterator[Path]:
    """A folder beside the place to write to; it takes its place when all is done, and is gone where that fails."""
    _forget_killed(place)
    aside = place.with_name(f".{place.name}.{os.getpid()}.making")
    try:
        aside.mkdir(parents=True)
        (aside / MARKER).write_text("{}", encoding="utf-8")
        yield aside
        _seal(aside)
        check_place(place)  # once more: making it took a while
        _put(aside, place)
    except OSError as error:
        raise UsageError(f"{place}: can't be written ({error.strerror}); give a place that can with -o") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _seal(aside: Path) -> None:
    names = sorted(_files(aside) - {MARKER})
    (aside / MARKER).write_text(json.dumps({"made by": "oodometer site", "files": names}, indent=1), encoding="utf-8")


def _put(aside: Path, place: Path) -> None:
    """The new in the place of the old: two renames, so that nobody ever sees half of it."""
    old = place.with_name(f".{place.name}.{os.getpid()}.old")
    if place.exists():
        place.rename(old)
    aside.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def _forget_killed(place: Path) -> None:
    """Take away what runs that were killed left beside the place."""
    for left in place.parent.glob(f".{_escaped(place.name)}.*.making"):
        number = left.name.removesuffix(".making").rpartition(".")[2]
        if number.isdigit() and not _lives(int(number)) and (left / MARKER).exists():
            shutil.rmtree(left, ignore_errors=True)


def _escaped(name: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _known(place: Path) -> set[str]:
    """The files that the marker of a site names; none where there is no marker."""
    try:
        found = json.loads((place / MARKER).read_text(encoding="utf-8"))
        return set(found["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}
