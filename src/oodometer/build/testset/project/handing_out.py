"""Tasks go to workers and answers come back: each task to as many as it needs, each worker's answer once.

A task that is handed out is kept for its worker for a while. Whoever comes back gets it again; where nobody does, it
goes to others once the time has run out. An answer that comes late all the same is taken: one more does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.database import insert_or_leave, now
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, CLASS, HANDED, IMAGE, SHOWN, TASK, WORKER, sa
from oodometer.core.errors import DataError, UsageError

MINUTES = 30
"""For which a task is kept for a worker."""

MOST_SECONDS = 24 * 3600.0
HANDING = 7_406_001
"""The number of the lock in PostgreSQL under which tasks are chosen, one worker at a time."""


class RefusedAnswerError(DataError):
    """An answer that can't be taken; what was there before stays."""


@dataclass(frozen=True)
class HandedTask:
    """A task as a worker sees it: nothing in it tells a control from a candidate.

    Args:
        key: What the answer names it by.
        about: The class.
        shown: What the page calls the image at each position.
    """

    key: str
    about: ClassEntry
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    """How far a worker is.

    Args:
        n_done: Tasks that they answered.
        n_open: Tasks that need answers still, and have none of theirs.
    """

    n_done: int
    n_open: int


def next_task(project: Project, worker: int, *, minutes: float = MINUTES) -> HandedTask | None:
    """The task that this worker is to answer now; None where all that are left are done or with others.

    The same one until it is answered. Else, of the tasks that need more workers, one with the fewest answers and
    workers who are at it.
    """
    with project.database.writing(alone=False) as connection:
        if not project.database.is_sqlite:
            connection.execute(LOCK)
        task_id = _chosen(connection, worker)
        if task_id is None:
            return None
        _keep_for(project, connection, worker, task_id, minutes)
    return _task(project, task_id)


def submit(project: Project, worker: int, task: str, selected: Sequence[bool], *, seconds: float | None = None) -> bool:
    """Keep what a worker says of each image of a task; False where the same answer was there already.

    Args:
        task: Its key.
        selected: Whether each position shows the class.
        seconds: That the worker took, by their own clock.

    Raises:
        RefusedAnswerError: The task is unknown or was not handed to this worker, the answer is of another length, or
            another answer of theirs is there.
    """
    text = "".join("1" if one else "0" for one in selected)
    took = None if seconds is None or not 0 <= seconds <= MOST_SECONDS else float(seconds)
    with project.database.writing(alone=False) as connection:  # one row, which is there or is not
        task_id = _handed(connection, worker, task, len(text))
        row = {"task_id": task_id, "worker_id": worker, "selected": text, "at": now(), "seconds": took}
        if connection.execute(insert_or_leave(project.database, ANSWER, row)).rowcount:
            return True
        mine = sa.select(ANSWER.c.selected).where(ANSWER.c.task_id == task_id, ANSWER.c.worker_id == worker)
        if connection.execute(mine).scalar_one() != text:
            raise RefusedAnswerError("you answered this task already, and otherwise; the first answer stands")
    return False


def progress_of(project: Project, worker: int) -> Progress:
    """How far this worker is."""
    with project.database.reading() as connection:
        n_done, n_open = connection.execute(PROGRESS, {"worker": worker}).one()
    return Progress(int(n_done), int(n_open))


def files_beside(project: Project, key: str) -> dict[str, str]:
    """The files of all images of the task in which one is shown, by what the page calls them."""
    files = {row.key: str(row.file) for row in project.database.rows(BESIDE.params(shown=key))}
    if not files:
        raise UsageError("no image is shown under that address")
    return files


def _chosen(connection: Any, worker: int) -> int | None:
    """The one that the worker has at hand, if others have not done it meanwhile; else the one that needs it most."""
    for query in (BEGUN, FRESH):
        task_id = connection.execute(query, {"worker": worker, "at": now()}).scalar_one_or_none()
        if task_id is not None:
            return int(task_id)
    return None


def _keep_for(project: Project, connection: Any, worker: int, task_id: int, minutes: float) -> None:
    until = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
    row = {"task_id": task_id, "worker_id": worker, "at": now(), "until": until}
    if not connection.execute(insert_or_leave(project.database, HANDED, row)).rowcount:
        connection.execute(KEEP_LONGER, {"task": task_id, "worker": worker, "then": until})


def _handed(connection: Any, worker: int, task: str, n: int) -> int:
    """The number of a task that this worker was given, and that has so many images."""
    given = connection.execute(GIVEN, {"task": task, "worker": worker}).one_or_none()
    if given is None:
        raise RefusedAnswerError("this task was not given to you; open the page again")
    if given.size != n:
        raise RefusedAnswerError(f"an answer about {n} images to a task of {given.size}; open the page again")
    return int(given.id)


def _task(project: Project, task_id: int) -> HandedTask:
    with project.database.reading() as connection:
        row = connection.execute(ABOUT, {"task": task_id}).one()
        shown = tuple(connection.execute(KEYS, {"task": task_id}).scalars())
    return HandedTask(row.key, ClassEntry(row.name, row.title, row.gloss, row.link), shown)


# The questions are made once: to put one together takes longer than to ask it, and every page asks several.


def _answers() -> Any:
    """How many answers count for each task."""
    return (
        sa.select(ANSWER.c.task_id, sa.func.count().label("n"))
        .join(WORKER, WORKER.c.id == ANSWER.c.worker_id)
        .where(WORKER.c.blocked == 0)
        .group_by(ANSWER.c.task_id)
    )


def _busy() -> Any:
    """How many others are at each task: it is kept for them and they have not answered."""
    answered = sa.and_(ANSWER.c.task_id == HANDED.c.task_id, ANSWER.c.worker_id == HANDED.c.worker_id)
    return (
        sa.select(HANDED.c.task_id, sa.func.count().label("n"))
        .join(WORKER, WORKER.c.id == HANDED.c.worker_id)
        .join(ANSWER, answered, isouter=True)
        .where(HANDED.c.until > AT, HANDED.c.worker_id != WHO, ANSWER.c.task_id.is_(None), WORKER.c.blocked == 0)
        .group_by(HANDED.c.task_id)
    )


def _together(*counts: Any) -> Any:
    both = sa.union_all(*counts).subquery()
    return sa.select(both.c.task_id, sa.func.sum(both.c.n).label("n")).group_by(both.c.task_id)


def _open(counts: Any) -> Any:
    """The tasks that need more workers than they have by these counts, and that are not among the worker's own."""
    counted = counts.subquery()
    n = sa.func.coalesce(counted.c.n, 0)
    return (
        sa.select(TASK.c.id, n.label("n"))
        .join(counted, counted.c.task_id == TASK.c.id, isouter=True)
        .where(n < TASK.c.workers, TASK.c.id.not_in(sa.select(ANSWER.c.task_id).where(ANSWER.c.worker_id == WHO)))
        .subquery()
    )


def _begun() -> Any:
    """Of the tasks that a worker was given, the last that is open."""
    tasks = _open(_together(_answers(), _busy()))
    own = sa.select(tasks.c.id).join(HANDED, HANDED.c.task_id == tasks.c.id).where(HANDED.c.worker_id == WHO)
    return own.order_by(HANDED.c.at.desc()).limit(1)


def _fresh() -> Any:
    """The open task that fewest have answered or are at."""
    tasks = _open(_together(_answers(), _busy()))
    return sa.select(tasks.c.id).order_by(tasks.c.n, tasks.c.id).limit(1)


def _progress() -> Any:
    """How many tasks a worker has answered, and how many are open."""
    done = sa.select(sa.func.count()).select_from(ANSWER).where(ANSWER.c.worker_id == WHO)
    left = sa.select(sa.func.count()).select_from(_open(_answers()))
    return sa.select(done.scalar_subquery(), left.scalar_subquery())


def _given() -> Any:
    """The number and size of a task, if the worker was given it."""
    return (
        sa.select(TASK.c.id, sa.func.count(SHOWN.c.position).label("size"))
        .join(SHOWN, SHOWN.c.task_id == TASK.c.id)
        .join(HANDED, HANDED.c.task_id == TASK.c.id)
        .where(TASK.c.key == WHICH, HANDED.c.worker_id == WHO)
        .group_by(TASK.c.id)
    )


def _about() -> Any:
    columns = (TASK.c.key, CLASS.c.name, CLASS.c.title, CLASS.c.gloss, CLASS.c.link)
    return sa.select(*columns).join(CLASS, CLASS.c.id == TASK.c.class_id).where(TASK.c.id == WHICH)


WHO, WHICH, AT = sa.bindparam("worker"), sa.bindparam("task"), sa.bindparam("at")
LOCK = sa.select(sa.func.pg_advisory_xact_lock(HANDING))
BEGUN, FRESH, PROGRESS, GIVEN, ABOUT = _begun(), _fresh(), _progress(), _given(), _about()
BESIDE = (
    sa.select(SHOWN.c.key, IMAGE.c.file)
    .join(IMAGE, IMAGE.c.id == SHOWN.c.image_id)
    .where(SHOWN.c.task_id.in_(sa.select(SHOWN.c.task_id).where(SHOWN.c.key == sa.bindparam("shown"))))
)
KEYS = sa.select(SHOWN.c.key).where(SHOWN.c.task_id == WHICH).order_by(SHOWN.c.position)
KEEP_LONGER = (
    sa.update(HANDED).where(HANDED.c.task_id == WHICH, HANDED.c.worker_id == WHO).values(until=sa.bindparam("then"))
)
