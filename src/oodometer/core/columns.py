"""Aligned tables of plain text."""

from __future__ import annotations

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]]) -> str:
    """The rows with their columns aligned, two spaces between them.

    >>> print(columns([["a", "bb"], ["ccc", "d"]]))
    a    bb
    ccc  d
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "  ".join(f"{{:<{width}}}" for width in widths)
    return "\n".join(line.format(*row).rstrip() for row in rows)
