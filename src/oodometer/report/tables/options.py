"""What is put into a table of models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableOptions:
    """What is put into a table.

    Args:
        shifts: By name; none: those that the table has room for.
        columns: What is told of each shift; none: what is usual.
        models: Patterns (``resnet*``) of the models that are wanted; none: all.
        sort: The id of the column whose best comes first, or ``model``; empty: the first column, where it has a best,
            or the best on the clean set.
        grouped: Whether models of one category stand together, where there are several.
        most: How many shifts at most where none are named; None: all.
    """

    shifts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    sort: str = ""
    grouped: bool = True
    most: int | None = 4
