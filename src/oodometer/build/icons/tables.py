"""The tables beside this code, read."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def read_toml(table: Traversable) -> dict[str, Any]:
    """What a TOML file says."""
    return tomllib.loads(table.read_text(encoding="utf-8"))
