"""The bundled tables as plain values, and how the names in them are compared."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """A table of the catalogue, read once; nobody changes it.

    >>> table("sets")["set"][0]["name"]
    'imagenet'
    """
    return tomllib.loads((files("oodometer.catalogue") / f"{name}.toml").read_text(encoding="utf-8"))


def key_of(name: str) -> str:
    """A name as it is compared: small letters, without ``-``, ``_`` and blanks.

    >>> key_of("Imagenet_A") == key_of("imagenet-a")
    True
    """
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
