"""How the library tells something in words: to whoever asked, and to nobody by default."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str], None]
"""Called with a line."""


def unheard(line: str) -> None:
    """The listener who is not there."""
