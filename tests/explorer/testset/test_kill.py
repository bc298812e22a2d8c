"""A server that is killed in the middle of submissions: what it said that it has, it has, once and as it was sent."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

import pytest

from made_testset import made_project
from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, TASK, WORKER, sa
from oodometer.build.testset.project.tasks import Layout, make_tasks
from served_testset import SECONDS, Person, free_port, serve, serving

pytestmark = pytest.mark.slow

N_WORKERS = 8
KILLS_AFTER = (12, 30, 48, 66, 84)
"""So many answers that were said to be kept."""


@pytest.fixture
def project(tmp_path: Path, either_database: str | None) -> Iterator[Project]:
    """Fifteen tasks of about a dozen images, which all of eight workers are to answer."""
    with made_project(tmp_path / "p", candidates=30, originals=4, database=either_database) as made:
        make_tasks(made, Layout(size=12, workers=N_WORKERS))
        yield made


@dataclass
class Crowd:
    """People who submit without thinking, and send again what the server said nothing about.

    Args:
        kept: What it said that it has, by worker and task.
        cut_off: Submissions that reached a server, and that it said nothing about.
    """

    port: int
    kept: dict[tuple[int, str], str] = field(default_factory=dict)
    cut_off: list[tuple[int, str]] = field(default_factory=list)
    turn: threading.Condition = field(default_factory=threading.Condition)

    def annotate(self, number: int, token: str) -> None:
        """Answer all that there is."""
        rng, person = random.Random(number), Person(self.port, token)
        while (given := _again(person.task))[0]:
            task, n = given
            selected = [rng.random() < 0.5 for _ in range(n)]
            self._deliver(number, person, task, selected)

    def _deliver(self, number: int, person: Person, task: str, selected: list[bool]) -> None:
        while True:
            try:
                answer = person.submit(task, selected)
            except (OSError, HTTPException) as error:
                if not isinstance(error, ConnectionRefusedError):
                    self.cut_off.append((number, task))
                time.sleep(0.05)
                continue
            assert answer.status == 200, answer.text
            with self.turn:
                self.kept[number, task] = "".join("1" if one else "0" for one in selected)
                self.turn.notify_all()
            return

    def wait_for(self, n: int) -> None:
        """Until so many answers are kept."""
        with self.turn:
            assert self.turn.wait_for(lambda: len(self.kept) >= n, SECONDS)


def _again(ask: Callable[[], tuple[str, int]]) -> tuple[str, int]:
    """What it returns, as soon as the server is there."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            return ask()
        except (OSError, HTTPException):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def test_no_answer_is_lost_or_doubled_when_the_server_is_killed_again_and_again(project: Project) -> None:
    tokens, port = add_workers(project, N_WORKERS), free_port()
    crowd, server = Crowd(port), serve(project.folder, port)
    with ThreadPoolExecutor(N_WORKERS) as pool:
        people = [pool.submit(crowd.annotate, number, token) for number, token in enumerate(tokens, start=1)]
        for n in KILLS_AFTER:
            crowd.wait_for(n)
            code, _ = server.end(signal.SIGKILL)
            assert code == -signal.SIGKILL
            server = serve(project.folder, port)
        for person in people:
            person.result()
    server.end(signal.SIGTERM)
    assert _stored(project) == [(number, task, kept) for (number, task), kept in sorted(crowd.kept.items())]
    n_tasks = len(project.database.rows(sa.select(TASK.c.id)))
    assert len(crowd.kept) == n_tasks * N_WORKERS
    assert crowd.cut_off  # or nobody was submitting when it was killed


def _stored(project: Project) -> list[tuple[int, str, str]]:
    query = sa.select(ANSWER.c.worker_id, TASK.c.key, ANSWER.c.selected).join(TASK, TASK.c.id == ANSWER.c.task_id)
    return sorted(tuple(row) for row in project.database.rows(query))


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_order(tmp_path: Path, by: signal.Signals) -> None:
    with made_project(tmp_path / "p", candidates=6, originals=4) as made:
        make_tasks(made, Layout(size=12, workers=2))
        (token,) = add_workers(made, 1)
    with serving(tmp_path / "p") as server:
        person = Person(server.port, token)
        task, n = person.task()
        assert person.submit(task, [True] * n).json == {"new": True}
        code, said = server.end(by)
    assert (code, said.splitlines()) == (0, ["Ctrl-C ends", "ended"])


def test_while_the_database_is_away_answers_wait(tmp_path: Path) -> None:
    """Whoever holds SQLite for long, such as a copy being made, makes others wait and loses nothing of theirs."""
    with made_project(tmp_path / "p", candidates=6, originals=4) as made:
        make_tasks(made, Layout(size=12, workers=2))
        (token,) = add_workers(made, 1)
        with serving(tmp_path / "p") as server, ThreadPoolExecutor(1) as pool:
            person = Person(server.port, token)
            task, n = person.task()
            with made.database.writing() as connection:
                connection.execute(sa.update(WORKER).values(name=""))
                waiting = pool.submit(person.submit, task, [True] * n)
                time.sleep(1)
                assert not waiting.done()
            assert waiting.result(SECONDS).json == {"new": True}
