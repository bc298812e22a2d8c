"""Two people choose the images of a keyword: one takes them, the other says of each whether that is right.

CIFAR-10.1 was made so (Recht et al. 2019, appendix B.1): one of two people looked at the original images of a keyword
and took new ones, the other went through those and let go what was unclear or against the instructions; where too few
were left, the first took more. Here the two change places from keyword to keyword, so that neither's taste is that of
the whole set. An image counts when both are for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oodometer.build.testset.project.database import as_text, from_text, insert_or_leave, now
from oodometer.build.testset.project.exclusions import exclude, exclusions, revoke
from oodometer.build.testset.project.pool import CANDIDATE, PoolImage, images_by_key, images_where, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import CLASS, DECISION, IMAGE, SETTING, sa
from oodometer.core.errors import UsageError

SELECTOR, VERIFIER = "selector", "verifier"
PEOPLE = "two people"
"""A setting of the project."""

NOT_BY_BOTH = "not selected and verified by two people"
"""Why candidates are out that do not count."""


@dataclass(frozen=True)
class KeywordWork:
    """The candidates of a keyword, and how far two people are with them.

    Args:
        class_name: What they are candidates for.
        selector: Who takes images of it; ``verifier`` who says whether that is right.
        n_candidates: All of them.
        n_to_select: Nobody has said anything of these.
        n_to_verify: Taken, and not looked at by the other.
        n_counting: Taken, and right.
    """

    class_name: str
    keyword: str
    selector: str
    verifier: str
    n_candidates: int
    n_to_select: int
    n_to_verify: int
    n_counting: int

    def n_waiting(self, person: str) -> int:
        """How many of them wait for one of the two."""
        return self.n_to_select if person == self.selector else self.n_to_verify

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "class": self.class_name,
            "keyword": self.keyword,
            "selector": self.selector,
            "verifier": self.verifier,
            "candidates": self.n_candidates,
            "to_select": self.n_to_select,
            "to_verify": self.n_to_verify,
            "counting": self.n_counting,
        }


@dataclass(frozen=True)
class _Said:
    """What the two said of an image; None: nothing yet."""

    selector: bool | None = None
    verifier: bool | None = None

    @property
    def counts(self) -> bool:
        return bool(self.selector and self.verifier)


ASKED_ABOUT = (IMAGE.c.role == CANDIDATE, IMAGE.c.keyword != "")
"""Of which images something is to be said."""

Keyword = tuple[str, str]
"""A class and a keyword."""


def let_choose(project: Project, first: str, second: str) -> None:
    """Name the two people; once one of them has decided anything, they stay the same."""
    first, second = first.strip(), second.strip()
    if not first or not second or first == second:
        raise UsageError("two people are needed, with two names")
    with project.database.writing() as connection:
        row = {"key": PEOPLE, "value": as_text([first, second])}
        begun = connection.execute(sa.select(DECISION.c.by).limit(1)).first() is not None
        if not begun:
            connection.execute(sa.delete(SETTING).where(SETTING.c.key == PEOPLE))
            connection.execute(sa.insert(SETTING).values(row))
    if begun and people(project) != (first, second):
        raise UsageError(f"{' and '.join(people(project))} have begun to choose; the two stay the same")


def people(project: Project) -> tuple[str, str]:
    """The two."""
    named = named_people(project)
    if not named:
        raise UsageError(
            "nobody is named yet who chooses images by keyword; name two workers with: "
            f"oodometer testset choose {project.folder} --people A B"
        )
    first, second = named
    return first, second


def named_people(project: Project) -> tuple[str, ...]:
    """The two; nobody before they are named."""
    kept = project.database.settings().get(PEOPLE, "")
    return tuple(from_text(kept)) if kept else ()


def work(project: Project) -> list[KeywordWork]:
    """Each keyword of each class, in order, with who does what."""
    rows = {(name, keyword): map(int, counts) for name, keyword, *counts in project.database.rows(_work_query())}
    roles = _roles(project, sorted(rows))
    return [KeywordWork(*keyword, *roles[keyword], *rows[keyword]) for keyword in sorted(rows)]


def to_decide(project: Project, person: str) -> list[PoolImage]:
    """What this person is to say something of now: by keyword, and by id within it."""
    _known(project, person)
    return [image for row in work(project) for image in waiting_images(project, row, person)]


def waiting_images(project: Project, row: KeywordWork, person: str) -> list[PoolImage]:
    """What this person is to say something of now, of one keyword, by id."""
    if not row.n_waiting(person):
        return []
    of_keyword = (CLASS.c.name == row.class_name, IMAGE.c.keyword == row.keyword, IMAGE.c.role == CANDIDATE)
    selected, verified = (
        sa.select(DECISION.c.image_id).where(DECISION.c.role == role) for role in (SELECTOR, VERIFIER)
    )
    if row.selector == person:
        return images_where(project, *of_keyword, IMAGE.c.id.not_in(selected))
    taken = selected.where(DECISION.c.taken == 1)
    return images_where(project, *of_keyword, IMAGE.c.id.in_(taken), IMAGE.c.id.not_in(verified))


def decide(project: Project, person: str, key: str, *, take: bool) -> None:
    """Say of an image whether to take it, or, as the one who verifies, whether that was right.

    Who changes their mind says it again. What the verifier said falls with what it was about.
    """
    decide_all(project, person, {key: take})


def decide_all(project: Project, person: str, takes: Mapping[str, bool]) -> None:
    """The same of several images, by key: all of it is kept, or nothing."""
    images = images_by_key(project, takes)
    for key, image in images.items():
        if image.role != CANDIDATE or not image.keyword:
            raise UsageError(f"{key}: no candidate with a keyword")
    _known(project, person)
    with project.database.writing() as connection:  # nobody else changes what is read here
        pairs, said = _roles(project, _keywords(project)), _said(project)
        roles = {key: _role(pairs[image.class_name, image.keyword], person) for key, image in images.items()}
        for key, image in images.items():
            if roles[key] == VERIFIER and not said.get(image.id, _Said()).selector:
                raise UsageError(f"{key}: nobody has taken it, so there is nothing to verify")
        at = now()
        for key, image in images.items():
            row = {"image_id": image.id, "role": roles[key], "taken": int(takes[key]), "at": at, "by": person}
            _keep(project, connection, row, said.get(image.id, _Said()))


def take_back(project: Project, person: str) -> int:
    """Undo what a person said last, all that they said at once; gives of how many images, none where there is nothing.

    What the other has verified since stays.
    """
    _known(project, person)
    with project.database.writing() as connection:
        last = connection.execute(sa.select(sa.func.max(DECISION.c.at)).where(DECISION.c.by == person)).scalar()
        said_last = (DECISION.c.by == person) & (DECISION.c.at == last)
        selected = sa.select(DECISION.c.image_id).where(said_last, DECISION.c.role == SELECTOR)
        verified = (DECISION.c.role == VERIFIER) & DECISION.c.image_id.in_(selected)
        if connection.execute(sa.select(DECISION.c.image_id).where(verified).limit(1)).first() is not None:
            raise UsageError("the other person has verified some of these images since")
        return int(connection.execute(sa.delete(DECISION).where(said_last)).rowcount)


def counting(project: Project) -> frozenset[str]:
    """The ids of the images that both are for."""
    said = _said(project)
    rows = project.database.rows(sa.select(IMAGE.c.id, IMAGE.c.key).where(IMAGE.c.role == CANDIDATE))
    return frozenset(row.key for row in rows if said.get(row.id, _Said()).counts)


def still_missing(project: Project, wanted: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """By class and keyword how many more images have to count; for the selector to take more."""
    there = {(one.class_name, one.keyword): one.n_counting for one in work(project)}
    short = {
        name: {word: n - there.get((name, word), 0) for word, n in counts.items() if n > there.get((name, word), 0)}
        for name, counts in wanted.items()
    }
    return {name: counts for name, counts in short.items() if counts}


def leave_out_others(project: Project, *, by: str) -> tuple[int, int]:
    """Take all candidates out of samples that do not count, and those back in that do by now; gives how many of each.

    Candidates without a keyword are not asked about, and stay as they are.
    """
    count = counting(project)
    asked = {one.key for one in pool_images(project, role=CANDIDATE) if one.keyword}
    out = {one.key for one in exclusions(project) if one.reason == NOT_BY_BOTH}
    return exclude(project, asked - count, NOT_BY_BOTH, by=by), revoke(project, out & count, reason=NOT_BY_BOTH)


def _keep(project: Project, connection: Any, row: dict[str, Any], said: _Said) -> None:
    """What one of the two says of an image, in place of what they said before."""
    connection.execute(insert_or_leave(project.database, DECISION, row))
    of_image = DECISION.c.image_id == row["image_id"]
    again = {name: row[name] for name in ("taken", "at", "by")}
    connection.execute(sa.update(DECISION).where(of_image & (DECISION.c.role == row["role"])).values(again))
    if row["role"] == SELECTOR and said.selector is not None and said.selector != bool(row["taken"]):
        connection.execute(sa.delete(DECISION).where(of_image & (DECISION.c.role == VERIFIER)))


def _keywords(project: Project) -> list[Keyword]:
    """Those of candidates by class, both in alphabetical order."""
    query = sa.select(CLASS.c.name, IMAGE.c.keyword).join(IMAGE, IMAGE.c.class_id == CLASS.c.id)
    rows = project.database.rows(query.where(*ASKED_ABOUT).distinct())
    return sorted((name, keyword) for name, keyword in rows)


def _work_query() -> Any:
    """By class and keyword: all candidates, to select, to verify, counting; counted by the database."""
    selected, verified = (DECISION.alias(role) for role in (SELECTOR, VERIFIER))
    taken = selected.c.taken == 1
    numbers = (selected.c.taken.is_(None), taken & verified.c.taken.is_(None), taken & (verified.c.taken == 1))
    counts = [sa.func.sum(sa.case((condition, 1), else_=0)) for condition in numbers]
    return (
        sa.select(CLASS.c.name, IMAGE.c.keyword, sa.func.count(), *counts)
        .select_from(IMAGE)
        .join(CLASS, CLASS.c.id == IMAGE.c.class_id)
        .outerjoin(selected, (selected.c.image_id == IMAGE.c.id) & (selected.c.role == SELECTOR))
        .outerjoin(verified, (verified.c.image_id == IMAGE.c.id) & (verified.c.role == VERIFIER))
        .where(*ASKED_ABOUT)
        .group_by(CLASS.c.name, IMAGE.c.keyword)
    )


def _roles(project: Project, keywords: list[Keyword]) -> dict[Keyword, tuple[str, str]]:
    """Who selects and who verifies. As it was where anybody has begun: new keywords must not change it."""
    pair = people(project)
    begun = _begun(project)
    selectors = {keyword: begun.get(keyword, pair[at % 2]) for at, keyword in enumerate(keywords)}
    return {keyword: pair if who == pair[0] else (pair[1], pair[0]) for keyword, who in selectors.items()}


def _begun(project: Project) -> dict[Keyword, str]:
    """Who selects, of the keywords of which somebody has selected."""
    query = (
        sa.select(CLASS.c.name, IMAGE.c.keyword, DECISION.c.by)
        .join(IMAGE, IMAGE.c.id == DECISION.c.image_id)
        .join(CLASS, CLASS.c.id == IMAGE.c.class_id)
        .where(DECISION.c.role == SELECTOR)
        .distinct()
    )
    return {(name, keyword): by for name, keyword, by in project.database.rows(query)}


def _said(project: Project) -> dict[int, _Said]:
    found: dict[int, dict[str, bool]] = {}
    for row in project.database.rows(sa.select(DECISION)):
        found.setdefault(row.image_id, {})[row.role] = bool(row.taken)
    return {image_id: _Said(**roles) for image_id, roles in found.items()}


def _role(pair: tuple[str, str], person: str) -> str:
    return SELECTOR if pair[0] == person else VERIFIER


def _known(project: Project, person: str) -> None:
    if person not in people(project):
        raise UsageError(f"{person!r} is not one of the two who choose: {' and '.join(people(project))}")
