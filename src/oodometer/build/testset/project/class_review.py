"""The images of a class as a person reviews them: those of a revision, originals beside them, and what is out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from oodometer.build.testset.project.close_pairs import DUPLICATE, OPEN, ORIGINALS, POOL, judge_pair
from oodometer.build.testset.project.database import is_storable
from oodometer.build.testset.project.exclusions import revoke
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import CHOSEN, CLASS, EXCLUSION, IMAGE, PAIR, REVIEW, sa
from oodometer.core.random import rng_for


@dataclass(frozen=True)
class ReviewedImage:
    """An image as a person reviews it.

    Args:
        key: Its id; ``file`` where it lies, ``url``, ``author`` and ``licence`` as its source says.
        reasons: Why it is out now; none: it is in.
        duplicate_of: The keys of images that a person said are the same picture.
    """

    key: str
    role: str
    file: str
    url: str
    author: str
    licence: str
    reasons: tuple[str, ...] = ()
    duplicate_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassState:
    """How far the review of a class is.

    Args:
        number: In the database.
        n_chosen: Its images in the revision.
        n_out: Those of them that somebody took out since: the next sample fills the gap.
        n_duplicates: Those that somebody said are the same picture as another.
        is_reviewed: Whether somebody has gone through it.
    """

    number: int
    name: str
    title: str
    n_chosen: int
    n_out: int
    n_duplicates: int
    is_reviewed: bool


def review_states(project: Project, revision: int) -> list[ClassState]:
    """Every class with chosen images, in the order of the classes."""
    chosen = _counts(project, sa.select(IMAGE.c.class_id, sa.func.count()), revision)
    distinct = sa.func.count(sa.distinct(IMAGE.c.id))
    out = _counts(
        project,
        sa.select(IMAGE.c.class_id, distinct).join(EXCLUSION, EXCLUSION.c.image_id == IMAGE.c.id),
        revision,
        EXCLUSION.c.revoked == "",
    )
    duplicates = _counts(project, sa.select(IMAGE.c.class_id, sa.func.count()), revision, _is_duplicate())
    reviewed = sa.select(REVIEW.c.class_id).where(REVIEW.c.revision_id == revision)
    done = {row.class_id for row in project.database.rows(reviewed)}
    rows = project.database.rows(sa.select(CLASS.c.id, CLASS.c.name, CLASS.c.title).order_by(CLASS.c.id))
    return [
        ClassState(
            row.id,
            row.name,
            row.title,
            chosen[row.id],
            out.get(row.id, 0),
            duplicates.get(row.id, 0),
            row.id in done,
        )
        for row in rows
        if row.id in chosen
    ]


def next_unreviewed(states: Sequence[ClassState], after: str = "") -> ClassState | None:
    """The next class that nobody has gone through, after this one and then from the beginning."""
    at = next((at for at, one in enumerate(states) if one.name == after), -1)
    return next((one for one in [*states[at + 1 :], *states[:at]] if not one.is_reviewed and one.name != after), None)


def chosen_in_class(project: Project, revision: int, class_id: int) -> list[ReviewedImage]:
    """The images of a class in a revision, by key."""
    query = _images().join(CHOSEN, CHOSEN.c.image_id == IMAGE.c.id)
    rows = project.database.rows(query.where(CHOSEN.c.revision_id == revision, IMAGE.c.class_id == class_id))
    return _reviewed(project, rows)


def originals_beside(project: Project, class_id: int, n: int, *, turn: int = 0) -> list[ReviewedImage]:
    """So many originals of a class, drawn; each turn shows others until all were seen."""
    query = _images().where(IMAGE.c.role == ORIGINAL, IMAGE.c.class_id == class_id)
    rows = project.database.rows(query)
    if not rows:
        return []
    order = rng_for("originals beside", class_id).permutation(len(rows))
    n_turns = -(-len(rows) // n)
    start = (turn % n_turns) * n
    return _reviewed(project, [rows[at] for at in order[start : start + n]])


def take_in_again(project: Project, keys: Iterable[str], *, by: str) -> int:
    """Take back that these candidates are out, and that they are the same picture as others; how much that ends."""
    wanted = list(keys)
    n = revoke(project, wanted)
    mine = sa.select(IMAGE.c.id).where(IMAGE.c.key.in_(wanted))
    query = sa.select(PAIR.c.id).where(
        PAIR.c.verdict == DUPLICATE,
        sa.or_(PAIR.c.image_id.in_(mine), sa.and_(PAIR.c.against.in_((POOL, ORIGINALS)), PAIR.c.other.in_(wanted))),
    )
    pairs = [row.id for row in project.database.rows(query)]
    for pair in pairs:
        judge_pair(project, pair, OPEN, by=by)
    return n + len(pairs)


def file_of_key(project: Project, key: str) -> str | None:
    """The file of an image; None where there is no image of this key."""
    rows = project.database.rows(sa.select(IMAGE.c.file).where(IMAGE.c.key == key)) if is_storable(key) else []
    return str(rows[0].file) if rows else None


def _counts(project: Project, query: Any, revision: int, *conditions: Any) -> dict[int, int]:
    query = query.join(CHOSEN, CHOSEN.c.image_id == IMAGE.c.id).where(CHOSEN.c.revision_id == revision, *conditions)
    return {int(number): int(n) for number, n in project.database.rows(query.group_by(IMAGE.c.class_id))}


def _is_duplicate() -> Any:
    """Whether a person said of an image that it is the same picture as another, whichever a pair names first."""
    first = sa.select(PAIR.c.image_id).where(PAIR.c.verdict == DUPLICATE)
    second = sa.select(PAIR.c.other).where(PAIR.c.verdict == DUPLICATE, PAIR.c.against.in_((POOL, ORIGINALS)))
    return IMAGE.c.id.in_(first) | IMAGE.c.key.in_(second)


def _images() -> Any:
    return sa.select(
        IMAGE.c.id, IMAGE.c.key, IMAGE.c.role, IMAGE.c.file, IMAGE.c.url, IMAGE.c.author, IMAGE.c.licence
    ).order_by(IMAGE.c.key)


def _reviewed(project: Project, rows: Sequence[Any]) -> list[ReviewedImage]:
    ids, keys = [row.id for row in rows], [row.key for row in rows]
    reasons: dict[int, list[str]] = defaultdict(list)
    query = sa.select(EXCLUSION.c.image_id, EXCLUSION.c.reason).where(EXCLUSION.c.revoked == "")
    for image_id, reason in project.database.rows(query.where(EXCLUSION.c.image_id.in_(ids)).order_by(EXCLUSION.c.id)):
        reasons[image_id].append(reason)
    same = _same_pictures(project, ids, keys)
    return [
        ReviewedImage(
            row.key, row.role, row.file, row.url, row.author, row.licence,
            tuple(reasons[row.id]), tuple(sorted(same.get(row.key, ()))),
        )
        for row in rows
    ]  # fmt: skip


def _same_pictures(project: Project, ids: Sequence[int], keys: Sequence[str]) -> dict[str, set[str]]:
    """By key of these images, what a person said is the same picture; ids where it is in a set of its own."""
    query = (
        sa.select(IMAGE.c.key, PAIR.c.against, PAIR.c.other)
        .join(IMAGE, IMAGE.c.id == PAIR.c.image_id)
        .where(
            PAIR.c.verdict == DUPLICATE,
            sa.or_(PAIR.c.image_id.in_(ids), sa.and_(PAIR.c.against.in_((POOL, ORIGINALS)), PAIR.c.other.in_(keys))),
        )
    )
    found: dict[str, set[str]] = defaultdict(set)
    for key, against, other in project.database.rows(query):
        found[key].add(other)
        if against in (POOL, ORIGINALS):
            found[other].add(key)
    return found


def candidates_among(keys: Iterable[str], images: Iterable[ReviewedImage]) -> list[str]:
    """Which of these keys are candidates: originals are never chosen, so they can't be taken out."""
    known = {image.key for image in images if image.role == CANDIDATE}
    return [key for key in keys if key in known]
