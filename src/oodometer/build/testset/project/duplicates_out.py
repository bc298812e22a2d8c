"""Which candidates are out since they are near-duplicates of others that stay, or of images of another set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.build.testset.candidates import Candidates
from oodometer.build.testset.duplicate_groups import groups_of, one_of_each
from oodometer.build.testset.project.close_pairs import DUPLICATE, POOL, counting_within, thresholds_of
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import IMAGE, PAIR, sa

NEAR_DUPLICATE, UNREVIEWED = "near-duplicate", "unreviewed"


@dataclass(frozen=True)
class KnownPairs:
    """Pairs of one picture.

    Args:
        inside: Two candidates, by their keys.
        outside: Candidates with a duplicate among the originals or in another set.
    """

    inside: tuple[tuple[str, str], ...]
    outside: frozenset[str]


def without_duplicates(project: Project, candidates: Candidates, *, trust_thresholds: bool = True) -> Candidates:
    """The candidates of which one image of each picture may be chosen, and none that is in another set.

    Of a picture the image stays that may be chosen and has the highest selection frequency.

    Args:
        trust_thresholds: Whether a pair below the threshold of its metric counts as one picture until somebody has
            looked at it. What is out by that is counted as "unreviewed".
    """
    judged = _pairs(project, looked_at=True)
    candidates = _one_of_each(candidates, judged, NEAR_DUPLICATE)
    if not trust_thresholds:
        return candidates
    unseen = _pairs(project, looked_at=False)
    both = KnownPairs(judged.inside + unseen.inside, judged.outside | unseen.outside)
    return _one_of_each(candidates, both, UNREVIEWED)


def _one_of_each(candidates: Candidates, known: KnownPairs, reason: str) -> Candidates:
    free = {one: bool(may) for one, may in zip(candidates.ids, candidates.may_be_chosen, strict=True)}
    outside = set(known.outside) & set(free)
    groups = []
    for group in groups_of(known.inside):
        if outside & set(group):
            outside |= set(group) & set(free)  # what is a duplicate of theirs is one of the other set's as well
        elif left := [one for one in group if free.get(one)]:
            groups.append(left)
    frequency = np.nan_to_num(candidates.frequency, nan=-1.0)
    scores = dict(zip(candidates.ids, frequency.tolist(), strict=True))
    chosen = one_of_each(groups, scores=scores, outside=outside)
    return candidates.without_ids(chosen.dropped, reason)


def _pairs(project: Project, *, looked_at: bool) -> KnownPairs:
    rows = _judged(project) if looked_at else _below_thresholds(project)
    inside, outside = set(), set()
    for row in rows:
        if row.against == POOL:
            inside.add((row.key, row.other))
        else:
            outside.add(row.key)
    return KnownPairs(tuple(sorted(inside)), frozenset(outside))


def _judged(project: Project) -> list[Any]:
    return project.database.rows(_query().where(PAIR.c.verdict == DUPLICATE))


def _below_thresholds(project: Project) -> Iterable[Any]:
    radii = thresholds_of(project)
    rows = project.database.rows(_query().where(PAIR.c.verdict == ""))
    return (row for row in rows if row.distance <= counting_within(radii, row.metric))


def _query() -> Any:
    return sa.select(IMAGE.c.key, PAIR.c.against, PAIR.c.other, PAIR.c.metric, PAIR.c.distance).join(
        IMAGE, IMAGE.c.id == PAIR.c.image_id
    )
