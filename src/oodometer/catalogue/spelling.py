"""How names are compared."""

from __future__ import annotations


def key_of(name: str) -> str:
    """A name as it is compared: small letters, without ``-``, ``_`` and blanks.

    >>> key_of("Imagenet_A") == key_of("imagenet-a")
    True
    """
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
