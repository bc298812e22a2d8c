"""How far a test set in the making is, class by class, counted by the database; and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from shlex import quote
from typing import Any

from oodometer.build.testset.project.class_frequencies import mean_frequencies
from oodometer.build.testset.project.pair_list import n_to_look_at
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, counts_by_class
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import (
    ANSWER,
    CHOSEN,
    CLASS,
    EXCLUSION,
    IMAGE,
    REVIEW,
    REVISION,
    SHOWN,
    TASK,
    WORKER,
    sa,
)
from oodometer.build.testset.project.searched import was_searched
from oodometer.core.estimate import Estimate


@dataclass(frozen=True)
class ClassProgress:
    """How far a class is.

    Args:
        number: In the database; ``name`` and ``title`` as files and as people call it.
        n_in_tasks: Candidates that annotators are asked about.
        n_answers: Tasks that were answered, each by as many workers as it needs at most.
        n_wanted: As many as there are to be.
        frequency: The mean selection frequency of its answered candidates; None without any.
        n_excluded: Candidates that a person or a filter took out.
        n_chosen: In the latest revision.
        is_reviewed: Whether somebody has gone through it in that revision.
    """

    number: int
    name: str
    title: str
    n_candidates: int
    n_originals: int
    n_in_tasks: int
    n_answers: int
    n_wanted: int
    frequency: Estimate | None
    n_excluded: int
    n_chosen: int
    is_reviewed: bool


@dataclass(frozen=True)
class ProjectProgress:
    """How far a project is.

    Args:
        classes: In their order.
        revision: The number of the latest one; None before the first sample.
        n_open_pairs: Pairs below the thresholds that nobody has looked at.
        n_looked_at: Pairs that somebody has looked at.
        was_searched: Whether somebody has looked for near-duplicates; maybe there are none.
    """

    classes: tuple[ClassProgress, ...]
    revision: int | None
    n_open_pairs: int
    n_looked_at: int
    was_searched: bool

    def total(self, what: str) -> int:
        """The sum of a number over the classes."""
        return sum(int(getattr(one, what)) for one in self.classes)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "classes": [_as_json(one) for one in self.classes],
            "revision": self.revision,
            "open_pairs": self.n_open_pairs,
            "looked_at": self.n_looked_at,
            "searched": self.was_searched,
        }

    @property
    def to_review(self) -> tuple[ClassProgress, ...]:
        """Classes with chosen images that nobody has gone through in the latest revision."""
        return tuple(one for one in self.classes if one.n_chosen and not one.is_reviewed)


@dataclass(frozen=True)
class NextStep:
    """What to do next.

    Args:
        sentence: For people.
        command: What does it; empty where a page does.
        page: Where it is done; empty where a command does it.
    """

    sentence: str
    command: str = ""
    page: str = ""


def project_progress(project: Project) -> ProjectProgress:
    """How far a project is."""
    revision = latest_revision(project)
    in_class = _Counted(project, revision)
    counts = counts_by_class(project)
    frequencies = mean_frequencies(project)
    rows = project.database.rows(sa.select(CLASS.c.id, CLASS.c.name, CLASS.c.title).order_by(CLASS.c.id))
    classes = tuple(
        ClassProgress(
            number=row.id,
            name=row.name,
            title=row.title,
            n_candidates=counts[row.name][CANDIDATE],
            n_originals=counts[row.name][ORIGINAL],
            n_in_tasks=in_class.in_tasks.get(row.id, 0),
            n_answers=in_class.answers.get(row.id, 0),
            n_wanted=in_class.wanted.get(row.id, 0),
            frequency=frequencies.get(row.id),
            n_excluded=in_class.excluded.get(row.id, 0),
            n_chosen=in_class.chosen.get(row.id, 0),
            is_reviewed=row.id in in_class.reviewed,
        )
        for row in rows
    )
    n_open, n_counting = n_to_look_at(project)
    return ProjectProgress(classes, revision, n_open, n_counting - n_open, was_searched(project))


def latest_revision(project: Project) -> int | None:
    """The number of the latest revision; None before the first sample."""
    (row,) = project.database.rows(sa.select(sa.func.max(REVISION.c.id)))
    return None if row[0] is None else int(row[0])


def next_step(progress: ProjectProgress, folder: str) -> NextStep:
    """What to do next, in the order in which a test set comes to be; its command names the folder for a shell."""
    folder = quote(folder)
    without = [one for one in progress.classes if not one.n_candidates]
    if without:
        some = "No class has" if len(without) == len(progress.classes) else f"{len(without)} classes have"
        return NextStep(f"{some} candidates yet: add some.", f"oodometer testset add {folder} FOLDER")
    n_left = progress.total("n_candidates") - progress.total("n_in_tasks")
    n_missing = progress.total("n_wanted") - progress.total("n_answers")
    if not progress.total("n_wanted") and progress.revision is None:
        return NextStep("No candidate is in a task yet: make tasks.", f"oodometer testset tasks {folder}")
    if n_missing:
        return NextStep(
            f"{_n(n_missing, 'answer')} missing: let people annotate.", f"oodometer testset workers {folder} --add 10"
        )
    if n_left and progress.revision is None:
        return NextStep(f"{_n(n_left, 'candidate')} in no task: make tasks.", f"oodometer testset tasks {folder}")
    return _after_answers(progress, folder)


def _after_answers(progress: ProjectProgress, folder: str) -> NextStep:
    if not progress.was_searched and progress.revision is None:
        return NextStep("Nobody has looked for near-duplicates yet.", f"oodometer testset duplicates {folder}")
    if progress.n_open_pairs:
        return NextStep(f"{_n(progress.n_open_pairs, 'close pair')} to be looked at.", page="/pairs")
    if progress.revision is None:
        return NextStep("All is there to draw a first sample from.", f"oodometer testset sample {folder}")
    if progress.to_review:
        n = len(progress.to_review)
        return NextStep(f"{n} {'class is' if n == 1 else 'classes are'} to be reviewed.", page="/review")
    return NextStep(
        "Every class is reviewed: sample again, and when nothing changes any more, release it.", page="/review"
    )


def _as_json(one: ClassProgress) -> dict[str, Any]:
    frequency = None if one.frequency is None else asdict(one.frequency)
    return {name.removeprefix("n_"): value for name, value in vars(one).items()} | {"frequency": frequency}


def _n(n: int, what: str) -> str:
    """A number of things, with its verb.

    >>> _n(1, "answer"), _n(2000, "pair")
    ('1 answer is', '2,000 pairs are')
    """
    return f"{n:,} {what} is" if n == 1 else f"{n:,} {what}s are"


class _Counted:
    """What there is of each class, by its number."""

    def __init__(self, project: Project, revision: int | None) -> None:
        self.project = project
        self.in_tasks = self._by_class(
            sa.select(IMAGE.c.class_id, sa.func.count(sa.distinct(IMAGE.c.id)))
            .join(SHOWN, SHOWN.c.image_id == IMAGE.c.id)
            .where(IMAGE.c.role == CANDIDATE)
            .group_by(IMAGE.c.class_id)
        )
        self.wanted = self._by_class(sa.select(TASK.c.class_id, sa.func.sum(TASK.c.workers)).group_by(TASK.c.class_id))
        self.answers = self._by_class(_answers())
        self.excluded = self._by_class(
            sa.select(IMAGE.c.class_id, sa.func.count(sa.distinct(IMAGE.c.id)))
            .join(EXCLUSION, EXCLUSION.c.image_id == IMAGE.c.id)
            .where(EXCLUSION.c.revoked == "")
            .group_by(IMAGE.c.class_id)
        )
        self.chosen = self._by_class(
            sa.select(IMAGE.c.class_id, sa.func.count())
            .join(CHOSEN, CHOSEN.c.image_id == IMAGE.c.id)
            .where(CHOSEN.c.revision_id == revision)
            .group_by(IMAGE.c.class_id)
        )
        reviewed = sa.select(REVIEW.c.class_id).where(REVIEW.c.revision_id == revision)
        self.reviewed = {row.class_id for row in project.database.rows(reviewed)}

    def _by_class(self, query: Any) -> Mapping[int, int]:
        return {int(number): int(n) for number, n in self.project.database.rows(query)}


def _answers() -> Any:
    """By class how many answers count: of each task no more than it needs."""
    of_task = (
        sa.select(ANSWER.c.task_id, sa.func.count().label("n"))
        .join(WORKER, WORKER.c.id == ANSWER.c.worker_id)
        .where(WORKER.c.blocked == 0)
        .group_by(ANSWER.c.task_id)
        .subquery()
    )
    needed = sa.case((of_task.c.n > TASK.c.workers, TASK.c.workers), else_=of_task.c.n)
    return (
        sa.select(TASK.c.class_id, sa.func.sum(needed))
        .join(of_task, of_task.c.task_id == TASK.c.id)
        .group_by(TASK.c.class_id)
    )
