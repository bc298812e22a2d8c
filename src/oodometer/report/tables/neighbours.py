"""Each model beside the next best one, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.document.table import Column, Table
from oodometer.study.neighbours import MATTERS, Neighbours


def neighbours_table(rows: Sequence[Neighbours], level: float) -> Table:
    """A row for each pair of neighbours; opened by who wants it."""
    columns = (
        Column("On"),
        Column("Model"),
        Column("Next best"),
        Column("Difference", "points", "The first minus the next, on the images that both saw.", bar=True),
        Column(
            "They are",
            about=f"Separated or tied at {100 * level:g} %, all pairs on the set corrected together (Holm); or they "
            "can't be tested, as nobody says of how many images.",
        ),
        Column("Images", "count", "Behind the difference."),
        Column(
            "Needed",
            "count",
            f"Images in all that would show {100 * MATTERS:g} points between the two with a probability of 80 %, in a "
            "comparison of them alone, if they disagree as often as they do: for McNemar's "
            "exact test, for means by the normal law; none for samples that were stopped when sure.",
        ),
    )
    values = tuple(
        (one.on, one.first, one.next, one.difference, one.state.replace("'", "’"), one.difference.n, one.images)
        for one in rows
    )
    caption = "Each model beside the next best one: told apart or not, and how many images would show half a point."
    return Table("neighbours", caption, columns, values, filters="On", folded=True)
