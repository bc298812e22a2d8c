"""A look into a file of torch before torch reads it: an archive that swells, or a name without end, is refused."""

from __future__ import annotations

import io
import pickletools
import zipfile
from collections.abc import Iterator
from pathlib import Path

from oodometer.core.errors import ModelError
from oodometer.core.reading import reading

MAX_WORD = 10_000
"""Letters without a space. Torch searches what it can't load for the reason, in a time that grows with their square."""
N_PICKLES = 5
"""One after the other at the beginning of a file in torch's old format, before the numbers."""


def check_pickles(content: bytes, path: Path) -> None:
    """Refuse a file whose archive or whose texts would take for ever."""
    for pickled in _pickles(content, path):
        for text in _texts(pickled):
            if len(text) > MAX_WORD and max(map(len, text.split()), default=0) > MAX_WORD:
                raise ModelError(f"{path}: not a file of torch, or a damaged one (a name of {len(text):,} letters)")


def _pickles(content: bytes, path: Path) -> Iterator[bytes]:
    if not content.startswith(b"PK"):
        yield content
        return
    with reading(str(path), "file of torch", ModelError), zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > len(content):
            raise ModelError(f"{path}: not a file of torch, which are never compressed; save it with torch.save")
        for member in archive.infolist():
            if member.filename.endswith("/data.pkl"):
                yield archive.read(member)


def _texts(pickled: bytes) -> Iterator[str]:
    """The names and texts in pickles, up to where they are damaged; nothing is loaded."""
    stream = io.BytesIO(pickled)
    try:
        for _ in range(N_PICKLES):
            yield from (given for _, given, _ in pickletools.genops(stream) if isinstance(given, str))
    except Exception:  # torch will say what is wrong
        return
