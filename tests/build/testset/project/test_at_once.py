"""Many people change a project at once, in either database: nothing is lost, and nothing is there twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from made_testset import made_project
from oodometer.build.testset.project import database
from oodometer.build.testset.project.close_pairs import judge_pair, mark_duplicates, set_thresholds, thresholds_of
from oodometer.build.testset.project.exclusions import exclude, exclusions, revoke
from oodometer.build.testset.project.pool import CANDIDATE, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import EXCLUSION, PAIR, sa
from oodometer.build.testset.project.tasks import Layout, drawings_count, let_drawings_count, make_tasks

THREADS = 12


@pytest.fixture
def project(tmp_path: Path, either_database: str | None) -> Iterator[Project]:
    """Candidates and originals of three classes."""
    with made_project(tmp_path / "p", candidates=6, originals=4, database=either_database) as made:
        yield made


def at_once(what: Callable[[int], object], times: int = THREADS) -> list[object]:
    """What comes of it for each number, all begun at the same moment; an error of one is an error."""
    gate = Barrier(THREADS)

    def begun(at: int) -> object:
        gate.wait(30)
        return what(at)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begun, range(times)))


def candidates(project: Project) -> list[str]:
    return [image.key for image in pool_images(project, role=CANDIDATE)]


def test_no_threshold_is_lost(project: Project) -> None:
    at_once(lambda at: set_thresholds(project, {f"features:model-{at}": 0.01}), 5 * THREADS)
    kept = thresholds_of(project)
    assert {f"features:model-{at}" for at in range(5 * THREADS)} <= set(kept)


def test_an_image_is_out_once_for_a_reason(project: Project) -> None:
    keys = candidates(project)[:5]
    n = at_once(lambda _: exclude(project, keys, "blurry", by="a person"))
    assert sorted(n) == [0] * (THREADS - 1) + [len(keys)]
    assert [out.key for out in exclusions(project)] == sorted(keys)


def test_who_is_taken_back_can_be_out_again(project: Project) -> None:
    key = candidates(project)[0]
    for _ in range(2):
        assert exclude(project, [key], "blurry", by="a person") == 1
        assert revoke(project, [key]) == 1
    assert exclude(project, [key], "blurry", by="a person") == 1
    assert len(project.database.rows(sa.select(EXCLUSION))) == 3  # two of them taken back


def test_a_setting_is_there_once(project: Project) -> None:
    at_once(lambda at: let_drawings_count(project, count=at >= 0))
    assert drawings_count(project)


def test_a_candidate_is_in_one_task(project: Project) -> None:
    made = at_once(lambda _: make_tasks(project, Layout(size=4, positive=1, negative=1)).kinds.get(CANDIDATE, 0))
    assert sorted(made) == [0] * (THREADS - 1) + [len(candidates(project))]


def test_a_pair_by_eye_is_there_once(project: Project) -> None:
    keys = candidates(project)[:2]
    at_once(lambda _: mark_duplicates(project, keys, by="a person"))
    (pair,) = project.database.rows(sa.select(PAIR))
    at_once(lambda at: judge_pair(project, pair.id, ("duplicate", "different")[at % 2], by="a person"))


def test_a_database_is_brought_up_to_date_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def step(connection: Any) -> None:
        connection.execute(sa.text("CREATE TABLE later (id INTEGER)"))  # an error, were it taken twice
        taken.append(step)

    monkeypatch.setattr(database, "VERSION", 2)
    monkeypatch.setattr(database, "STEPS", {2: step})
    engine = project.database.engine
    address = engine.url.render_as_string(hide_password=False).replace("+psycopg", "").removeprefix("sqlite:///")

    def version(_: int) -> str:
        opened = database.open_database(address)
        try:
            assert len(candidates(project)) == 18, "what was there is there still"
            return opened.settings()["version"]
        finally:
            opened.close()

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(version, range(4))) == ["2"] * 4
    assert len(taken) == 1
