"""Two models on everything that both were measured on, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.analysis.text import plural
from oodometer.document.table import Column, Table
from oodometer.study.pair_verdict import Contest


def contests_table(id_: str, contests: Sequence[Contest], first: str, second: str, level: float) -> Table:
    """A row for each contest.

    Args:
        first, second: What the two are called.
        level: With which all intervals hold together.
    """
    columns = (
        Column("On"),
        Column(first, "percent", "Accuracy."),
        Column(second, "percent", "Accuracy."),
        Column(
            "Difference",
            "points",
            "The first minus the second, on the images that both saw where these are known.",
            bar=True,
        ),
        Column(f"{first} is"),
        Column("Images", "count", "Behind the difference."),
        Column(
            "To tell",
            "count",
            "Images in all with which it would be told with a probability of 80 %.",
            hidden=not any(contest.images for contest in contests),
        ),
    )
    rows = tuple(
        (
            contest.name,
            contest.first,
            contest.second,
            contest.difference,
            contest.answer.replace("'", "’"),
            contest.difference.n,
            contest.images,
        )
        for contest in contests
    )
    caption = (
        f"{first} against {second}. The intervals of the {plural(len(contests), 'difference')} hold together at "
        f"{100 * level:g} % (Bonferroni)."
    )
    return Table(id_, caption, columns, rows)
