"""Imports of optional packages: their absence names the extra to install."""

from __future__ import annotations

import importlib
from typing import Any

from oodometer.core.errors import MissingExtraError


def import_extra(module: str, *, extra: str, what: str) -> Any:
    """The module, or an error that says which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(extra, what) from error
