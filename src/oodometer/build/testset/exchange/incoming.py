"""Answers from elsewhere come in: each worker's first to each task; who the workers are stays outside.

Of a worker the database keeps a keyed digest of what the other place calls them. The key is a setting of the project,
so that the same worker is the same number at each import, and that digests of two projects can't be compared.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from oodometer.build.testset.project.database import insert_or_leave, now
from oodometer.build.testset.project.handing_out import MOST_SECONDS, RefusedAnswerError
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, SETTING, SHOWN, TASK, WORKER, sa

SALT = "salt of workers"
"""A setting of the project."""

AT_ONCE = 500
"""Answers of a transaction: what a kill loses of a long import comes in by the same command again."""

LONGEST_NAME = 200
"""Of a worker elsewhere; a longer one is damage."""


@dataclass(frozen=True)
class Said:
    """An answer as another place has it.

    Args:
        place: Where it stands in the file, for messages.
        worker: What the other place calls the worker; goes no further than its digest.
        task: The key of the task.
        selected: For each position whether it was selected; or the keys of the selected images.
        seconds: That it took, if that is known.
        counts: Whether it does by the other place: not if it was rejected or cancelled there.
    """

    place: str
    worker: str
    task: str
    selected: tuple[bool, ...] | frozenset[str]
    seconds: float | None = None
    counts: bool = True


@dataclass(frozen=True)
class Damaged:
    """Something in the file that is no answer, and why."""

    place: str
    why: str


@dataclass(frozen=True)
class Imported:
    """What became of the answers in a file.

    Args:
        n_answers: All of them.
        n_added: Those that are in the project now and were not before.
        n_there: Those that were there already.
        n_otherwise: Those of a worker who has answered the same task before, and otherwise: the first answer stands.
        n_set_aside: Those that the other place has rejected or cancelled.
        n_set_aside_late: Those of them that had come in before; they still count.
        refused: By place in the file why it is no answer.
        n_workers: Workers whose first answer this was.
    """

    n_answers: int
    n_added: int = 0
    n_there: int = 0
    n_otherwise: int = 0
    n_set_aside: int = 0
    n_set_aside_late: int = 0
    refused: Mapping[str, str] = field(default_factory=dict)
    n_workers: int = 0

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "answers": self.n_answers,
            "added": self.n_added,
            "there_already": self.n_there,
            "contradicting": self.n_otherwise,
            "set_aside": self.n_set_aside,
            "set_aside_but_counted": self.n_set_aside_late,
            "refused": dict(self.refused),
            "new_workers": self.n_workers,
        }

    def __str__(self) -> str:
        parts = [f"{self.n_added} of {self.n_answers} answers added, {self.n_workers} new workers"]
        if self.n_there:
            parts.append(f"{self.n_there} were there already")
        if self.n_otherwise:
            parts.append(f"{self.n_otherwise} contradict an earlier one of the same worker, which stands")
        if self.n_set_aside:
            parts.append(f"{self.n_set_aside} rejected or cancelled")
        if self.n_set_aside_late:
            parts.append(f"{self.n_set_aside_late} of them had come in before and still count")
        if self.refused:
            first, why = next(iter(self.refused.items()))
            parts.append(f"{len(self.refused)} refused, such as {first}: {why}")
        return "; ".join(parts)


def take_answers(project: Project, platform: str, answers: Iterable[Said | Damaged]) -> Imported:
    """Put answers into the project; what can't be taken is counted with its reason, the others come in.

    Args:
        platform: Where they are from: the same name there and elsewhere is two workers.
    """
    taken = _Taken(project, platform)
    rest = iter(answers)
    while some := list(islice(rest, AT_ONCE)):
        taken.take(some)
    return taken.told()


class _Taken:
    """Answers on their way into the project."""

    def __init__(self, project: Project, platform: str) -> None:
        self.project, self.platform = project, platform
        self.salt = _salt(project)
        self.tasks = _tasks(project)
        self.workers: dict[str, int] = {}
        rows = project.database.rows(sa.select(ANSWER.c.task_id, ANSWER.c.worker_id, ANSWER.c.selected))
        self.known: dict[tuple[int, int], str] = {(row.task_id, row.worker_id): row.selected for row in rows}
        self.counts = dict.fromkeys(("answers", "added", "there", "otherwise", "set_aside", "set_aside_late"), 0)
        self.refused: dict[str, str] = {}
        self.n_workers = 0

    def take(self, some: Iterable[Said | Damaged]) -> None:
        """Put these into the project, together."""
        with self.project.database.writing() as connection:
            for one in some:
                self.counts["answers"] += 1
                try:
                    outcome = self._taken(connection, one)
                except RefusedAnswerError as error:
                    self.refused[one.place] = str(error)
                else:
                    self.counts[outcome] += 1

    def told(self) -> Imported:
        """What became of them."""
        return Imported(
            **{f"n_{name}": n for name, n in self.counts.items()}, refused=self.refused, n_workers=self.n_workers
        )

    def _taken(self, connection: Any, one: Said | Damaged) -> str:
        if isinstance(one, Damaged):
            raise RefusedAnswerError(one.why)
        task_id, keys = self._task(one)
        if not one.counts:
            self.counts["set_aside_late"] += self._is_there(connection, task_id, one.worker)
            return "set_aside"
        text = _as_digits(one.selected, keys)
        worker = self._worker(connection, one.worker)
        known = self.known.get((task_id, worker))
        if known is None:
            known = self._kept(connection, one, task_id, worker, text)
            if known is None:
                return "added"
        return "there" if known == text else "otherwise"

    def _kept(self, connection: Any, one: Said, task_id: int, worker: int, text: str) -> str | None:
        """Keep it, and give nothing; or what somebody else has brought in for it at the same time."""
        self.known[task_id, worker] = text
        row = {"task_id": task_id, "worker_id": worker, "selected": text, "at": now(), "seconds": _seconds(one.seconds)}
        if connection.execute(insert_or_leave(self.project.database, ANSWER, row)).rowcount:
            return None
        mine = sa.select(ANSWER.c.selected).where(ANSWER.c.task_id == task_id, ANSWER.c.worker_id == worker)
        there = str(connection.execute(mine).scalar_one())
        self.known[task_id, worker] = there
        return there

    def _task(self, one: Said) -> tuple[int, tuple[str, ...]]:
        if one.task not in self.tasks:
            raise RefusedAnswerError("no task of this project has that key")
        return self.tasks[one.task]

    def _digest(self, worker: str) -> str:
        """Can't be the digest of a token, so nobody opens a page with it."""
        said = f"{self.platform}\0{worker}".encode("utf-8", "surrogatepass")
        return f"{self.platform}:{hmac.new(self.salt, said, hashlib.sha256).hexdigest()}"

    def _worker(self, connection: Any, name: str) -> int:
        """The number of a worker, who may be new."""
        if not name or len(name) > LONGEST_NAME:
            raise RefusedAnswerError(
                "it doesn't say which worker answered" if not name else "the worker's name is too long"
            )
        token = self._digest(name)
        if token not in self.workers:
            row = {"token": token, "name": "", "made": now(), "blocked": 0}
            self.n_workers += connection.execute(insert_or_leave(self.project.database, WORKER, row)).rowcount
            number = connection.execute(sa.select(WORKER.c.id).where(WORKER.c.token == token)).scalar_one()
            self.workers[token] = int(number)
        return self.workers[token]

    def _is_there(self, connection: Any, task_id: int, worker: str) -> int:
        query = (
            sa.select(sa.func.count())
            .select_from(ANSWER)
            .join(WORKER, WORKER.c.id == ANSWER.c.worker_id)
            .where(ANSWER.c.task_id == task_id, WORKER.c.token == self._digest(worker))
        )
        return int(connection.execute(query).scalar_one())


def _as_digits(selected: tuple[bool, ...] | frozenset[str], keys: tuple[str, ...]) -> str:
    if isinstance(selected, frozenset):
        if not selected <= set(keys):
            raise RefusedAnswerError("it selects an image that is not in the task")
        return "".join("1" if key in selected else "0" for key in keys)
    if len(selected) != len(keys):
        raise RefusedAnswerError(f"an answer about {len(selected)} images to a task of {len(keys)}")
    return "".join("1" if one else "0" for one in selected)


def _seconds(seconds: float | None) -> float | None:
    if seconds is None or not math.isfinite(seconds) or not 0 <= seconds <= MOST_SECONDS:
        return None
    return float(seconds)


def _tasks(project: Project) -> dict[str, tuple[int, tuple[str, ...]]]:
    """By key of a task its number, and what its images are called."""
    query = (
        sa.select(TASK.c.id, TASK.c.key, SHOWN.c.key.label("shown"))
        .join(SHOWN, SHOWN.c.task_id == TASK.c.id)
        .order_by(TASK.c.id, SHOWN.c.position)
    )
    found: dict[str, tuple[int, list[str]]] = {}
    for row in project.database.rows(query):
        found.setdefault(row.key, (row.id, []))[1].append(row.shown)
    return {key: (number, tuple(shown)) for key, (number, shown) in found.items()}


def _salt(project: Project) -> bytes:
    """The project's own, made when it is first asked for."""
    with project.database.writing() as connection:
        row = {"key": SALT, "value": secrets.token_hex(32)}
        connection.execute(insert_or_leave(project.database, SETTING, row))
        kept = connection.execute(sa.select(SETTING.c.value).where(SETTING.c.key == SALT)).scalar_one()
    return bytes.fromhex(kept)


def number_in(value: object) -> float | None:
    """A number, however it is written; None where it is none.

    >>> number_in(" 12.5 "), number_in(True), number_in("soon"), number_in("1e999")
    (12.5, None, None, inf)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
