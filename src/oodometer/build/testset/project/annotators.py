"""Who annotates: each has a token, of which the database keeps the digest alone, and no name."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from oodometer.build.testset.project.database import now
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, WORKER, sa
from oodometer.core.errors import UsageError

MOST_AT_ONCE = 10_000


@dataclass(frozen=True)
class Annotator:
    """A worker, by number.

    Args:
        number: In the database.
        n_answers: Tasks that they answered.
        blocked: Whether they may answer no more, and what they said does not count.
    """

    number: int
    n_answers: int
    blocked: bool


def digest_of_token(token: str) -> str:
    """What the database keeps of a token.

    >>> digest_of_token("a")[:8]
    'ca978112'
    """
    return hashlib.sha256(token.encode()).hexdigest()


def add_workers(project: Project, n: int) -> list[str]:
    """The tokens of so many new workers. They are nowhere else: who loses theirs gets another."""
    if not 1 <= n <= MOST_AT_ONCE:
        raise UsageError(f"{n} workers: add 1 to {MOST_AT_ONCE} at once")
    tokens = [secrets.token_urlsafe(16) for _ in range(n)]
    rows = [{"token": digest_of_token(token), "name": "", "made": now(), "blocked": 0} for token in tokens]
    with project.database.writing() as connection:
        connection.execute(sa.insert(WORKER), rows)
    return tokens


def address_for(token: str, at: str, page: str = "annotate") -> str:
    """What a worker opens.

    >>> address_for("abc", "http://127.0.0.1:8100/")
    'http://127.0.0.1:8100/annotate?worker=abc'
    """
    if not at.startswith(("http://", "https://")):
        raise UsageError(f"{at}: not the address of a server, such as http://127.0.0.1:8100")
    return f"{at.rstrip('/')}/{page}?worker={token}"


def block_worker(project: Project, number: int, *, blocked: bool = True) -> None:
    """Let a worker answer no more and their answers count no more, or take that back. Nothing is deleted."""
    with project.database.writing() as connection:
        change = sa.update(WORKER).where(WORKER.c.id == number).values(blocked=int(blocked))
        if connection.execute(change).rowcount == 0:
            raise UsageError(f"{number}: no worker of that number; see: oodometer testset workers {project.folder}")


def workers_in(project: Project) -> list[Annotator]:
    """All workers by number."""
    query = (
        sa.select(WORKER.c.id, WORKER.c.blocked, sa.func.count(ANSWER.c.task_id))
        .join(ANSWER, ANSWER.c.worker_id == WORKER.c.id, isouter=True)
        .group_by(WORKER.c.id, WORKER.c.blocked)
        .order_by(WORKER.c.id)
    )
    return [Annotator(number, n, bool(blocked)) for number, blocked, n in project.database.rows(query)]


def counts_of(workers: list[Annotator]) -> Mapping[str, int]:
    """How many there are, and what they did; nothing about any one of them."""
    return {
        "workers": len(workers),
        "with_answers": sum(one.n_answers > 0 for one in workers),
        "blocked": sum(one.blocked for one in workers),
        "answers": sum(one.n_answers for one in workers),
    }
