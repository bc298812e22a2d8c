"""Digests of values: the same value has the same digest on any machine, in any process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

CONTENT_BYTES = 16


def digest_of(value: Mapping[str, Any]) -> str:
    """The digest of a JSON-able mapping, whatever the order of its keys.

    >>> digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=CONTENT_BYTES).hexdigest()


def content_digest(content: bytes | memoryview) -> bytes:
    """The 16-byte digest of an image file's content."""
    return hashlib.blake2b(content, digest_size=CONTENT_BYTES).digest()
