"""``oodometer testset`` used too early, or in a way that means nothing: each says so, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from as_typed import oodometer
from made_testset import made_project
from oodometer.build.testset.project.annotation_report import annotation_report
from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.handing_out import next_task, submit
from oodometer.build.testset.project.pool import CANDIDATE
from oodometer.build.testset.project.project import open_project
from oodometer.build.testset.project.simulate import Simulation, simulate_answers
from oodometer.build.testset.project.tasks import Layout, make_tasks

TESTSET = "testset"


@pytest.fixture
def early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A project of nine candidates in no task."""
    monkeypatch.chdir(tmp_path)
    made_project(tmp_path / "my birds", candidates=3, originals=8).close()
    return "my birds"


@pytest.fixture
def answered(early: str) -> str:
    """The same with answers about all candidates, and about originals as ordinary entries."""
    with open_project(early) as project:
        make_tasks(project, Layout(size=12, workers=3, originals=8))
        simulate_answers(project, Simulation(n_workers=4))
    return early


def test_a_pool_without_candidates_has_no_tasks(tmp_path: Path) -> None:
    made_project(tmp_path / "empty", candidates=0).close()
    result = oodometer(TESTSET, "tasks", tmp_path / "empty")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no candidates yet; add some first" in result.stderr


def test_nobody_answers_before_there_are_tasks(early: str) -> None:
    result = oodometer(TESTSET, "simulate", early)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "make some first: oodometer testset tasks 'my birds'" in result.stderr


def test_answers_that_are_there_are_nothing_new(answered: str) -> None:
    result = oodometer(TESTSET, "simulate", answered)
    assert (result.exit_code, result.stdout) == (0, "nothing new to do: every task has its answers\n")


def test_a_database_of_another_kind_is_refused(early: str) -> None:
    result = oodometer(TESTSET, "new", "other", "--original", early, "--database", "mysql://user:secret@x/y")
    assert result.exit_code == 2
    assert "only PostgreSQL's" in result.stderr
    assert "secret" not in result.stderr
    assert not Path("other").exists()


def test_nothing_out_is_said(early: str) -> None:
    assert oodometer(TESTSET, "exclude", early).stdout == "nothing is out\n"


def test_commands_name_a_folder_with_a_space_as_a_shell_wants_it(early: str) -> None:
    said = oodometer(TESTSET, "status", early).stderr
    assert "oodometer testset tasks 'my birds'" in said
    said = oodometer(TESTSET, "revisions", early).stdout
    assert "oodometer testset sample 'my birds'" in said


def test_again_takes_no_other_option(answered: str) -> None:
    assert oodometer(TESTSET, "sample", answered, "--strategy", "uniform", "--per-class", 2).exit_code == 0
    for given in (("--per-class", 2), ("--strategy", "uniform"), ("--without-spammers",), ("--seed", 0)):
        result = oodometer(TESTSET, "sample", answered, "--again", *given)
        assert result.exit_code == 2
        assert f"{given[0]} has no meaning beside --again" in result.stderr
    assert oodometer(TESTSET, "sample", answered, "--again", "--note", "why", "--json").exit_code == 0


def test_what_is_missing_is_candidates_or_answers(early: str) -> None:
    with open_project(early) as project:
        add_workers(project, 1)
        make_tasks(project, Layout(size=12, workers=1))
        for _ in range(2):  # of three tasks, one for each class
            task = next_task(project, 1)
            assert task is not None
            submit(project, 1, task.key, [True] * len(task.shown))
    said = oodometer(TESTSET, "sample", early, "--per-class", 5, "--strategy", "top-images").stderr
    # three candidates of each class were made
    assert said.count(": 2 fewer than wanted; add candidates\n") == 2
    assert said.count(": 5 fewer than wanted; annotate 3 of its candidates\n") == 1


def test_a_search_that_found_nothing_is_one(early: str) -> None:
    with open_project(early) as project:
        make_tasks(project, Layout(size=12, workers=1))
        simulate_answers(project, Simulation(n_workers=1))
    assert "Nobody has looked for near-duplicates" in oodometer(TESTSET, "status", early).stderr
    searched = oodometer(TESTSET, "duplicates", early, "--metrics", "pixels", "--within", "0")
    assert "pool: 0 by pixels" in searched.stdout
    assert "Nobody has looked" not in oodometer(TESTSET, "status", early).stderr


def test_originals_that_are_ordinary_entries_are_no_candidates(answered: str) -> None:
    with open_project(answered) as project:
        report = annotation_report(project)
        assert any(image.role != CANDIDATE for image in report.asked.images)
        # nine candidates were made, and all are answered
        assert report.prevalence is not None
        assert report.prevalence.n == 9
    result = oodometer(TESTSET, "frequencies", answered, "--csv", "f.csv")
    n_rows = len(Path("f.csv").read_text().splitlines()) - 1
    assert f"f.csv: {n_rows} rows" in result.stderr
