"""The bundled tables as plain values."""

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
