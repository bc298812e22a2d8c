"""Model files: their bytes and their digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

from oodometer.core.errors import ModelError
from oodometer.core.reading import check_regular, why


def read_file(path: Path) -> bytes:
    """The bytes of a model file that is there and not empty."""
    try:
        check_regular(path, ModelError)
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelError(f"{path}: no such model file") from error
    except (OSError, ValueError, MemoryError) as error:
        raise ModelError(f"{path}: can't read this model file ({why(error)})") from error
    if not content:
        raise ModelError(f"{path}: the model file is empty")
    return content


def file_digest(content: bytes) -> str:
    """The digest of a file's bytes."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
