"""Tasks go to workers and answers come back: fairly, once each, also when workers vanish or come at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from made_testset import made_project
from oodometer.build.testset.project.annotators import add_workers, block_worker, counts_of, digest_of_token, workers_in
from oodometer.build.testset.project.handing_out import (
    HandedTask,
    RefusedAnswerError,
    files_beside,
    next_task,
    progress_of,
    submit,
)
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, HANDED, SHOWN, TASK, WORKER, sa
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.core.errors import UsageError


@pytest.fixture
def project(tmp_path: Path, either_database: str | None) -> Iterator[Project]:
    """Three tasks of twelve images, each for two workers, and four workers of the numbers 1 to 4."""
    with made_project(tmp_path / "p", candidates=6, originals=4, database=either_database) as made:
        make_tasks(made, Layout(size=12, workers=2))
        add_workers(made, 4)
        yield made


def given(project: Project, worker: int) -> HandedTask:
    task = next_task(project, worker)
    assert task is not None
    return task


def test_a_worker_gets_the_same_task_until_it_is_answered(project: Project) -> None:
    first = given(project, 1)
    assert given(project, 1) == first
    assert submit(project, 1, first.key, [False] * 12)
    assert given(project, 1).key != first.key


def test_tasks_with_fewest_answers_and_workers_go_first(project: Project) -> None:
    assert len({given(project, worker).key for worker in (1, 2, 3)}) == 3
    again = given(project, 4)
    assert again.key == given(project, 1).key
    assert submit(project, 4, again.key, [True] * 12)
    assert given(project, 4).key != again.key


def test_all_tasks_get_as_many_answers_as_they_need_and_no_more(project: Project) -> None:
    while sum(_answered(project, worker) for worker in (1, 2, 3, 4)):
        pass
    answers = Counter(row.task_id for row in project.database.rows(sa.select(ANSWER.c.task_id)))
    assert set(answers.values()) == {2}
    assert len(answers) == 3
    assert progress_of(project, 1).n_open == 0


def _answered(project: Project, worker: int) -> bool:
    task = next_task(project, worker)
    return task is not None and submit(project, worker, task.key, [False] * 12)


def test_a_vanished_workers_task_goes_to_others(project: Project) -> None:
    with project.database.writing() as connection:
        connection.execute(sa.update(TASK).values(workers=1))
    held = [next_task(project, worker, minutes=minutes) for worker, minutes in ((1, 30), (3, 30), (2, 0))]
    assert held[2] is not None
    assert given(project, 4).key == held[2].key
    assert next_task(project, 2) is None  # whoever comes back too late finds it with another


def test_while_others_are_at_it_there_is_nothing(project: Project) -> None:
    with project.database.writing() as connection:
        connection.execute(sa.update(TASK).values(workers=1))
    for worker in (1, 2, 3):
        given(project, worker)
    assert next_task(project, 4) is None
    assert progress_of(project, 4).n_open == 3


def test_a_late_answer_is_taken(project: Project) -> None:
    task = next_task(project, 1, minutes=-1)
    assert task is not None
    assert submit(project, 1, task.key, [True] * 12)


def test_the_same_answer_twice_is_one_and_another_is_refused(project: Project) -> None:
    task = given(project, 1)
    said = [at % 2 == 0 for at in range(12)]
    assert submit(project, 1, task.key, said, seconds=3.5) is True
    assert submit(project, 1, task.key, said, seconds=9) is False
    with pytest.raises(RefusedAnswerError, match="the first answer stands"):
        submit(project, 1, task.key, [True] * 12)
    (row,) = project.database.rows(sa.select(ANSWER))
    assert (row.selected, row.seconds) == ("101010101010", 3.5)


@pytest.mark.parametrize("n", [0, 11, 13])
def test_answers_of_another_length_are_refused(project: Project, n: int) -> None:
    task = given(project, 1)
    with pytest.raises(RefusedAnswerError, match=f"an answer about {n} images to a task of 12"):
        submit(project, 1, task.key, [True] * n)


def test_tasks_of_others_and_unknown_ones_are_refused(project: Project) -> None:
    task = given(project, 1)
    for worker, key in ((2, task.key), (1, "no-such-task"), (99, task.key)):
        with pytest.raises(RefusedAnswerError, match="was not given to you"):
            submit(project, worker, key, [True] * 12)
    assert project.database.rows(sa.select(ANSWER)) == []


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf"), 1e9])
def test_times_that_can_not_be_are_not_kept(project: Project, seconds: float) -> None:
    submit(project, 1, given(project, 1).key, [True] * 12, seconds=seconds)
    (row,) = project.database.rows(sa.select(ANSWER))
    assert row.seconds is None


def test_a_blocked_workers_answers_count_no_more(project: Project) -> None:
    task = given(project, 1)
    submit(project, 1, task.key, [True] * 12)
    before = progress_of(project, 2)
    block_worker(project, 1)
    for worker in (2, 3, 4):
        while (mine := next_task(project, worker)) is not None:
            submit(project, worker, mine.key, [False] * 12)
    block_worker(project, 1, blocked=False)
    counts = Counter(row.task_id for row in project.database.rows(sa.select(ANSWER.c.task_id)))
    assert sorted(counts.values()) == [2, 2, 3]
    assert before.n_open == 3
    with pytest.raises(UsageError, match="no worker of that number"):
        block_worker(project, 99)


def test_many_at_once_get_no_more_than_a_task_needs(project: Project) -> None:
    add_workers(project, 26)
    with project.database.writing() as connection:
        connection.execute(sa.update(TASK).values(workers=10))

    def work(worker: int) -> int:
        done = 0
        while (task := next_task(project, worker)) is not None:
            done += submit(project, worker, task.key, [worker % 2 == 0] * 12)
            submit(project, worker, task.key, [worker % 2 == 0] * 12)
        return done

    with ThreadPoolExecutor(10) as threads:
        done = sum(threads.map(work, range(1, 31)))
    counts = Counter(row.task_id for row in project.database.rows(sa.select(ANSWER.c.task_id)))
    assert done == 30
    assert set(counts.values()) == {10}


def test_of_tokens_the_digest_is_kept_alone(project: Project) -> None:
    (token,) = add_workers(project, 1)
    rows = project.database.rows(sa.select(WORKER))
    assert digest_of_token(token) in {row.token for row in rows}
    assert token not in str(rows)
    assert counts_of(workers_in(project)) == {"workers": 5, "with_answers": 0, "blocked": 0, "answers": 0}


def test_images_are_found_by_what_pages_call_them(project: Project) -> None:
    task = given(project, 1)
    files = files_beside(project, task.shown[5])
    assert set(files) == set(task.shown)
    assert {len(file) for file in files.values()} == {3 + 64 + 4}
    for key in ("", "../../etc/passwd", "x' OR 1=1 --"):
        with pytest.raises(UsageError, match="no image is shown"):
            files_beside(project, key)
    assert len(project.database.rows(sa.select(SHOWN))) == 36
    assert len(project.database.rows(sa.select(HANDED))) == 1
