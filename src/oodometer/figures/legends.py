"""Legends outside the axes, in as many columns as there is width for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from oodometer.figures.style import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_COLUMNS = 6
LONGEST = 40
"""Letters of an entry."""


def legend_above(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """One legend for the whole figure, over its axes, in as many columns as fit."""
    if not labels:
        return
    named = [short(label, LONGEST) for label in labels]
    for columns in range(min(len(named), MOST_COLUMNS), 0, -1):
        legend = figure.legend(handles, named, loc="outside upper center", ncols=columns)
        if legend.get_window_extent().width <= figure.bbox.width or columns == 1:
            return
        legend.remove()


def said(category: str, n: int, unknown: str) -> str:
    """A category as a legend says it, with the number of its models.

    >>> said("more_data", 30, "models"), said("", 2, "models")
    ('more data (30)', 'models (2)')
    """
    return f"{short(category.replace('_', ' '), LONGEST - 7) or unknown} ({n})"
