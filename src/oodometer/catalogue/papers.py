"""The papers whose shifts and numbers are here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from oodometer.catalogue.tables import table


@dataclass(frozen=True)
class Paper:
    """A paper.

    Args:
        key: By which it is asked for.
        authors: As printed.
        tables: The bundled files of its numbers, or where they are to be had.
        shifts: The names of the shifts that it introduces.
    """

    key: str
    title: str
    authors: str
    year: int
    venue: str
    tables: tuple[str, ...] = ()
    shifts: tuple[str, ...] = ()


@cache
def papers() -> dict[str, Paper]:
    """All papers by key.

    >>> papers()["taori2020"].year
    2020
    """
    return {
        values["key"]: Paper(
            values["key"],
            values["title"],
            values["authors"],
            values["year"],
            values["venue"],
            tuple(values.get("tables", ())),
            tuple(values["shifts"]),
        )
        for values in table("papers")["paper"]
    }


def paper_of(shift: str) -> Paper | None:
    """The paper that introduced a shift, by the name of the shift or family; None where none is known.

    >>> paper_of("imagenet-a").key
    'natural_adversarial2021'
    """
    return next((paper for paper in papers().values() if shift in paper.shifts), None)
