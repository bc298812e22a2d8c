"""Files that a training writes, on a disk that may be full or may not be written to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident

from oodometer.core.errors import ModelError
from oodometer.core.reading import why


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """An error of the disk, as one line."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"{path}: can't be written ({why(error)}); make room or give another --out, and run the same command again"
        ) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file aside and rename it into place: a kill leaves all of it or nothing; folders are made."""
    aside = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.partial")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            aside.write_bytes(content)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
