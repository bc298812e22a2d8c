"""The tables beside this code, read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def read_toml(table: Traversable) -> dict[str, Any]:
    """What a TOML file says."""
    return tomllib.loads(table.read_text(encoding="utf-8"))
