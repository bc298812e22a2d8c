"""What each of the two people who choose by keyword sees next, and how many images of each keyword there are to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from oodometer.build.testset.project.annotators import workers_in
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.original_keywords import original_keywords
from oodometer.build.testset.project.pool import ORIGINAL, PoolImage, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.two_people import (
    KeywordWork,
    leave_out_others,
    let_choose,
    still_missing,
    waiting_images,
    work,
)
from oodometer.build.testset.sampling.apportion import largest_remainder
from oodometer.build.testset.sampling.keyword_quotas import common_keywords
from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for

MOST_SHOWN = 48
"""Images on a page, as for annotators."""

MOST_BESIDE = 12
"""Originals on a page."""


@dataclass(frozen=True)
class Turn:
    """What a person is to decide now: images of one keyword, all to be selected from or all to be verified.

    Args:
        about: The class.
        keyword: What they are filed under.
        is_selecting: Whether the person is the first to see them; else the other has taken them.
        images: At most as many as a page shows.
        n_left: Of this keyword, with these.
        n_counting: Of this keyword, taken and verified.
        originals: Some to compare with.
        n_originals: With this keyword in the original set; 0: those shown are just of the class.
        n_to_go: Of all keywords.
    """

    about: ClassEntry
    keyword: str
    is_selecting: bool
    images: tuple[PoolImage, ...]
    n_left: int
    n_counting: int
    originals: tuple[PoolImage, ...]
    n_originals: int
    n_to_go: int


def next_turn(project: Project, person: str, *, most: int = MOST_SHOWN) -> Turn | None:
    """The first keyword of which this person has something to decide; None where there is nothing now."""
    rows = [row for row in work(project) if row.n_waiting(person)]
    if not rows:
        return None
    images = waiting_images(project, rows[0], person)
    if not images:  # said of by another page of theirs meanwhile
        return next_turn(project, person, most=most)
    first = images[0]
    originals, n_originals = _originals_beside(project, first)
    return Turn(
        about=project.classes()[first.class_id],
        keyword=first.keyword,
        is_selecting=rows[0].selector == person,
        images=tuple(images[:most]),
        n_left=len(images),
        n_counting=rows[0].n_counting,
        originals=originals,
        n_originals=n_originals,
        n_to_go=sum(row.n_waiting(person) for row in rows),
    )


def n_with_other(project: Project, person: str) -> int:
    """How many images the other is to select from before this person can verify what they take."""
    return sum(row.n_to_select for row in work(project) if row.verifier == person)


def wanted_by_keyword(
    original: Mapping[str, Mapping[str, int]], per_class: int | None, *, most_keywords: int = 25
) -> dict[str, dict[str, int]]:
    """How many images of each keyword there are to be, as ``keyword-quotas`` part them.

    Args:
        per_class: Images of each class; None: as many of each keyword as the original set has.
        most_keywords: Of each class, the commonest.

    >>> wanted_by_keyword({"owl": {"barn owl": 60, "night owl": 30, "owlet": 1}}, 9, most_keywords=2)
    {'owl': {'barn owl': 6, 'night owl': 3}}
    """
    known = {name: common_keywords(counts, most_keywords) for name, counts in original.items()}
    if per_class is None:
        return known
    return {
        name: dict(zip(counts, largest_remainder(np.array(list(counts.values())), per_class).tolist(), strict=True))
        for name, counts in known.items()
        if counts
    }


def missing_by_keyword(
    project: Project,
    original: Mapping[str, Mapping[str, int]] | None = None,
    *,
    per_class: int | None = None,
    most_keywords: int = 25,
) -> dict[str, dict[str, int]] | None:
    """By class and keyword how many more images both have to be for; None where no keyword of an original is known.

    Args:
        original: How many originals have each keyword; None: as it is kept with the originals.
    """
    counts = original_keywords(project) if original is None else original
    if not any(counts.values()):
        return None
    return still_missing(project, wanted_by_keyword(counts, per_class, most_keywords=most_keywords))


def let_workers_choose(project: Project, first: int, second: int) -> list[KeywordWork]:
    """Name two workers by their numbers; gives what there is for them to do."""
    active = {str(worker.number) for worker in workers_in(project) if not worker.blocked}
    for number in (first, second):
        if str(number) not in active:
            raise UsageError(
                f"{number}: no worker of that number who may answer; add two with: "
                f"oodometer testset workers {project.folder} --add 2 --page choose"
            )
    let_choose(project, str(first), str(second))
    return work(project)


def finish_choosing(project: Project, *, by: str) -> tuple[int, int]:
    """Take all candidates out of samples that not both are for, once everything is decided.

    Gives how many went out, and how many came back in.
    """
    rows = work(project)
    n_to_select = sum(row.n_to_select for row in rows)
    n_to_verify = sum(row.n_to_verify for row in rows)
    if n_to_select or n_to_verify:
        raise UsageError(
            f"not everything is decided: {n_to_select:,} images are to be selected from and {n_to_verify:,} to be "
            f"verified; see: oodometer testset choose {project.folder}"
        )
    return leave_out_others(project, by=by)


def _originals_beside(project: Project, image: PoolImage) -> tuple[tuple[PoolImage, ...], int]:
    """Some originals of the class and keyword, the same each time; where none has the keyword, of the class."""
    of_class = pool_images(project, role=ORIGINAL, class_id=image.class_id)
    of_keyword = [original for original in of_class if original.keyword == image.keyword]
    among = of_keyword or of_class
    order = rng_for("originals beside", image.class_name, image.keyword).permutation(len(among))[:MOST_BESIDE]
    return tuple(among[at] for at in order), len(of_keyword)
