"""Files that a training writes, on a disk that may be full or may not be written to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
