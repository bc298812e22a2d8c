"""The order in which people looked at pairs, so that the last verdict can be taken back."""

from __future__ import annotations

from dataclasses import dataclass

from oodometer.build.testset.project.close_pairs import OPEN
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import IMAGE, PAIR, sa


@dataclass(frozen=True)
class JudgedPair:
    """A pair that somebody looked at.

    Args:
        id: Of one of its rows in the table: there is one for each metric that found it.
        key: Of the candidate; ``against`` and ``other`` say which image the other one is.
    """

    id: int
    key: str
    against: str
    other: str


def last_judged(project: Project) -> JudgedPair | None:
    """The pair that somebody looked at last; None where nobody has looked at any."""
    query = (
        sa.select(PAIR.c.id, IMAGE.c.key, PAIR.c.against, PAIR.c.other)
        .join(IMAGE, IMAGE.c.id == PAIR.c.image_id)
        .where(PAIR.c.verdict != OPEN)
        .order_by(PAIR.c.at.desc(), PAIR.c.id.desc())
        .limit(1)
    )
    for row in project.database.rows(query):
        return JudgedPair(*row)
    return None
