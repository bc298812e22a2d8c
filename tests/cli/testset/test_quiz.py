"""``oodometer testset quiz``: made from a table of scores, and told as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from made_testset import made_project
from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.pool import pool_images
from oodometer.build.testset.project.project import open_project
from oodometer.build.testset.project.quiz import next_question, submit_names
from oodometer.cli.main import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of thirty candidates and twelve originals, with a table of how many models are right on each."""
    with made_project(tmp_path / "birds", candidates=10, originals=4) as project:
        add_workers(project, 1)
        rows = [f"{image.key},{at / 100}" for at, image in enumerate(pool_images(project))]
    (tmp_path / "scores.csv").write_text("\n".join(["id,share", *rows]), "utf-8")
    return tmp_path / "birds"


def quiz(folder: Path, *words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["testset", "quiz", str(folder), *words])
    return result.exit_code, result.stdout, result.stderr


def test_a_quiz_is_made_once(folder: Path) -> None:
    words = ("--hardest", str(folder.parent / "scores.csv"), "--share", "0.25")
    code, told, said = quiz(folder, *words)
    # A quarter of 12 and of 30, rounded up
    assert (code, told) == (0, "3 images of the original set and 8 of the new one\n")
    assert f"oodometer testset workers {folder} --add 4 --page quiz" in said
    code, told, _ = quiz(folder, *words, "--json")
    assert (code, json.loads(told)) == (0, {"original": 3, "new": 8, "is_new": False})


def test_results_are_told(folder: Path) -> None:
    quiz(folder, "--hardest", str(folder.parent / "scores.csv"), "--share", "0.25")
    assert quiz(folder, "--results")[:2] == (0, "nobody has named an image yet\n")
    with open_project(folder) as project:
        while (question := next_question(project, 1)) is not None:
            submit_names(project, 1, question.key, ["owl", "duck", "cat"])
    code, told, _ = quiz(folder, "--results")
    assert code == 0
    # closed form: where all are right, Wilson's lower end is n / (n + 1.96²), here 0.4385 and 0.6756
    assert "person 1: original 1.000 [0.439, 1.000] of 3; new 1.000 [0.676, 1.000] of 8\n" in told
    found = json.loads(quiz(folder, "--results", "--json")[1])
    assert found["images"] == {"original": 3, "new": 8}
    assert found["people"][0]["difference"]["value"] == 0


@pytest.mark.parametrize("words", [(), ("--hardest", "scores.csv", "--results")])
def test_one_thing_at_a_time(folder: Path, words: tuple[str, ...]) -> None:
    code, told, said = quiz(folder, *words)
    assert (code, told) == (2, "")
    assert "say either --hardest SCORES.csv, to make the quiz, or --results" in said


def test_results_of_no_quiz(folder: Path) -> None:
    code, told, said = quiz(folder, "--results")
    assert (code, told) == (1, "")
    assert "there is no quiz" in said
