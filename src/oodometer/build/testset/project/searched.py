"""Whether somebody has looked for near-duplicates: a search that finds none leaves no pairs behind, but was one."""

from __future__ import annotations

from oodometer.build.testset.project.database import insert_or_leave, now
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import PAIR, SETTING, sa

SEARCHED = "searched for near-duplicates"
"""A setting of the project: when the first search was over."""


def note_search(project: Project) -> None:
    """Keep that somebody has looked for near-duplicates."""
    row = {"key": SEARCHED, "value": now()}
    with project.database.writing() as connection:
        connection.execute(insert_or_leave(project.database, SETTING, row))


def was_searched(project: Project) -> bool:
    """Whether somebody has; pairs are a sign of it, too."""
    return SEARCHED in project.database.settings() or bool(project.database.rows(sa.select(PAIR.c.id).limit(1)))
