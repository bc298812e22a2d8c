"""Files that are written whole or not at all, without a trace of those that a kill left unfinished."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import get_ident
from typing import BinaryIO

from oodometer.core.errors import StoreError

FOLDER = ".oodometer-unfinished"
"""Where files lie until they are whole; hidden, so that nobody takes them for data."""

_PROCESS = uuid.uuid4().hex
_ATTEMPTS = 10


@contextlib.contextmanager
def nothing_unfinished(root: Path) -> Iterator[None]:
    """Remove what killed calls left in a folder, and at the end, whatever happens, what this one did."""
    _remove(root, own=False)
    try:
        yield
    finally:
        _remove(root, own=True)


def is_clear(root: Path) -> bool:
    """Whether a folder holds nothing, but perhaps what a killed call left."""
    return not root.exists() or all(path.name == FOLDER for path in root.iterdir())


def aside_of(root: str | Path, name: str) -> str:
    """Where a file of that name lies until it is whole."""
    return f"{root}/{FOLDER}/{_PROCESS}-{name}"


def write_whole(root: str | Path, path: str | Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file somewhere below ``root``, whole or not at all; folders are made where they are missing."""
    aside = aside_of(root, str(get_ident()))
    try:
        if not any(_written(aside, path, write) for _ in range(_ATTEMPTS)):
            raise StoreError(f"{path}: can't be written: other calls clear its folder all the time; run them in turn")
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        if isinstance(error, OSError):
            raise StoreError(f"{path}: can't be written ({error.strerror}); what is written already is kept") from error
        raise


def _written(aside: str, path: str | Path, write: Callable[[BinaryIO], object]) -> bool:
    # Plain text, and folders only where one is missing: for small files, paths as objects and questions to the file
    # system would cost as much as the writing.
    try:
        with open(aside, "wb") as file:
            write(file)
        os.replace(aside, path)
    except FileNotFoundError:
        # A folder is missing; or another call that began just now took the file for what a killed one left.
        os.makedirs(os.path.dirname(aside), exist_ok=True)
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        return False
    return True


def _remove(root: Path, *, own: bool) -> None:
    folder = root / FOLDER
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(_PROCESS) == own:
                with contextlib.suppress(OSError):
                    os.unlink(folder / name)
    with contextlib.suppress(OSError):
        os.rmdir(folder)
