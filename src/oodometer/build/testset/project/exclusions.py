"""Images that a person takes out of a test set in the making, with a reason, and takes back in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from oodometer.build.testset.project.database import insert_or_leave, is_storable, now
from oodometer.build.testset.project.pool import CANDIDATE, images_by_key
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import EXCLUSION, IMAGE, sa
from oodometer.core.errors import UsageError

REVIEW_REASONS = {
    "not representative": "not representative of the class",
    "drawing": "a cartoon, painting, drawing or rendering",
    "other distribution": "significantly different in distribution from the original images",
    "unclear": "unclear",
    "blurry": "blurry",
    "occluded": "severely occluded",
    "edited": "overly edited",
    "small object": "only a small target object",
    "wrong class": "does not show the class",
}
"""What images are blacklisted for: the list of Recht et al. (2019, appendix C.3.2), and a plain error."""


@dataclass(frozen=True)
class Excluded:
    """An image that is out.

    Args:
        key: Its id.
        reason: Why.
        at: Since when.
        by: Who took it out.
    """

    key: str
    reason: str
    at: str
    by: str


def exclude(project: Project, keys: Iterable[str], reason: str, *, by: str) -> int:
    """Take candidates out of all samples from now on; gives how many were not out for this reason already."""
    reason = reason.strip()
    if not reason:
        raise UsageError(f"an exclusion needs its reason, for example {', '.join(list(REVIEW_REASONS)[:3])}")
    if not is_storable(reason):
        raise UsageError(f"{reason!r}: a reason has no such characters")
    images = images_by_key(project, keys)
    for one in images.values():
        if one.role != CANDIDATE:
            raise UsageError(f"{one.key}: an original image is never chosen, so it can't be taken out")
    n = 0
    with project.database.writing() as connection:
        for one in images.values():
            row = {"image_id": one.id, "reason": reason, "at": now(), "by": by, "revoked": ""}
            n += connection.execute(insert_or_leave(project.database, EXCLUSION, row)).rowcount
    return n


def revoke(project: Project, keys: Iterable[str], *, reason: str | None = None) -> int:
    """Take back that images are out, for one reason or for all; gives how many exclusions that ends."""
    images = images_by_key(project, keys)
    n = 0
    with project.database.writing() as connection:
        for one in images.values():
            there = (EXCLUSION.c.image_id == one.id) & (EXCLUSION.c.revoked == "")
            there = there if reason is None else there & (EXCLUSION.c.reason == reason)
            n += connection.execute(sa.update(EXCLUSION).where(there).values(revoked=now())).rowcount
    return n


def exclusions(project: Project) -> list[Excluded]:
    """What is out now, by key, the first reason first."""
    query = (
        sa.select(IMAGE.c.key, EXCLUSION.c.reason, EXCLUSION.c.at, EXCLUSION.c.by)
        .join(IMAGE, IMAGE.c.id == EXCLUSION.c.image_id)
        .where(EXCLUSION.c.revoked == "")
        .order_by(IMAGE.c.key, EXCLUSION.c.id)
    )
    return [Excluded(*row) for row in project.database.rows(query)]
