"""Model files: their bytes and their digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

from oodometer.core.errors import ModelError


def read_file(path: Path) -> bytes:
    """The bytes of a model file that is there and not empty."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelError(f"{path}: no such model file") from error
    except OSError as error:
        raise ModelError(f"{path}: can't read this model file ({error.strerror})") from error
    if not content:
        raise ModelError(f"{path}: the model file is empty")
    return content


def file_digest(content: bytes) -> str:
    """The digest of a file's bytes."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
