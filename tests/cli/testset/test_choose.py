"""``oodometer testset choose``: who, what is missing, and the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from chosen_by_keyword import TEAL, project_with_keywords
from oodometer.build.testset.project.annotators import block_worker
from oodometer.build.testset.project.exclusions import exclusions
from oodometer.build.testset.project.project import open_project
from oodometer.build.testset.project.two_people import NOT_BY_BOTH, decide_all, to_decide
from oodometer.cli.main import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three candidates of each of three keywords, three workers, and nobody named yet."""
    project_with_keywords(tmp_path / "birds", choosing=False)[0].close()
    return tmp_path / "birds"


def choose(folder: Path, *words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["testset", "choose", str(folder), *words])
    return result.exit_code, result.stdout, result.stderr


def say_all(folder: Path, person: str, n_taken: int) -> None:
    """This person takes so many images of all that they are to decide now, by keyword and id."""
    with open_project(folder) as project:
        waiting = to_decide(project, person)
        decide_all(project, person, {image.key: at < n_taken for at, image in enumerate(waiting)})


def test_who_chooses_is_said(folder: Path) -> None:
    code, told, said = choose(folder, "--people", "1", "2")
    assert (code, told) == (0, "workers 1 and 2 choose among 9 candidates of 3 keywords\n")
    assert "/choose" in said
    code, told, _ = choose(folder, "--people", "1", "2", "--json")
    assert (code, json.loads(told)) == (0, {"people": [1, 2], "keywords": 3, "candidates": 9})


def test_what_is_missing_is_a_table(folder: Path) -> None:
    choose(folder, "--people", "1", "2")
    say_all(folder, "1", 6)
    say_all(folder, "2", 4)  # verifies all three of TEAL, and takes one mallard of three; no barn owl
    code, told, _ = choose(folder)
    assert code == 0
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in told.splitlines()]
    # class, keyword, selects, verifies, candidates, to select, to verify, taken by both, missing: of 0, 4 and 2
    # originals there are 3, 0 and 0
    assert ["duck", TEAL, "1", "2", "3", "0", "0", "3", "0"] in rows
    assert ["duck", "mallard", "2", "1", "3", "0", "1", "0", "4"] in rows
    assert ["owl", "barn owl", "1", "2", "3", "0", "0", "0", "2"] in rows


def test_what_is_missing_for_programs(folder: Path) -> None:
    choose(folder, "--people", "1", "2")
    code, told, _ = choose(folder, "--json")
    found = json.loads(told)
    assert (code, len(found["keywords"])) == (0, 3)
    assert found["keywords"][1] == {
        "class": "duck", "keyword": "mallard", "selector": "2", "verifier": "1", "candidates": 3, "to_select": 3,
        "to_verify": 0, "counting": 0,
    }  # fmt: skip
    assert found["missing"] == {"duck": {"mallard": 4}, "owl": {"barn owl": 2}}  # as many as there are originals
    assert json.loads(choose(folder, "--per-class", "1", "--json")[1])["missing"] == {
        "duck": {"mallard": 1},
        "owl": {"barn owl": 1},
    }
    table = folder.parent / "keywords.csv"
    table.write_text("class,keyword,count\nduck,eider,3\nduck,mallard,1\n", "utf-8")
    words = ("--per-class", "8", "--original-keywords", str(table))
    # three quarters and one quarter of 8; of eiders there is no candidate at all
    assert json.loads(choose(folder, *words, "--json")[1])["missing"] == {"duck": {"eider": 6, "mallard": 2}}
    assert "eider" in choose(folder, *words)[1]


def test_what_nobody_knows_is_not_zero(tmp_path: Path) -> None:
    project_with_keywords(tmp_path / "q", originals=False)[0].close()
    code, told, said = choose(tmp_path / "q", "--json")
    assert (code, json.loads(told)["missing"]) == (0, None)
    code, told, said = choose(tmp_path / "q")
    assert code == 0
    assert "oodometer testset keywords" in said


def test_finish_takes_out_what_not_both_are_for(folder: Path) -> None:
    choose(folder, "--people", "1", "2")
    say_all(folder, "1", 6)
    code, told, said = choose(folder, "--finish")
    assert (code, told) == (2, "")
    assert "3 images are to be selected from and 6 to be verified" in said
    say_all(folder, "2", 5)  # all of TEAL, two mallards, no barn owl
    say_all(folder, "1", 1)  # one of the mallards
    # of 9 candidates both are for 3 + 1
    assert choose(folder, "--finish")[:2] == (0, "5 candidates taken out of samples, 0 back in\n")
    with open_project(folder) as project:
        assert [one.reason for one in exclusions(project)] == [NOT_BY_BOTH] * 5
    assert json.loads(choose(folder, "--finish", "--json")[1]) == {"out": 0, "back_in": 0}


def test_only_workers_choose(folder: Path) -> None:
    code, told, said = choose(folder, "--people", "1", "7")
    assert (code, told) == (2, "")
    assert "7: no worker of that number who may answer" in said
    with open_project(folder) as project:
        block_worker(project, 2)
    assert "2: no worker of that number who may answer" in choose(folder, "--people", "1", "2")[2]
    assert "two people are needed" in choose(folder, "--people", "1", "1")[2]
    code, _, said = choose(folder)
    assert code == 2
    assert f"oodometer testset choose {folder} --people A B" in said
    assert choose(folder, "--people", "1", "3", "--finish")[0] == 2


def test_addresses_lead_to_the_page(folder: Path) -> None:
    result = CliRunner().invoke(main, ["testset", "workers", str(folder), "--add", "2", "--page", "choose"])
    assert result.exit_code == 0
    assert [line.partition("?")[0] for line in result.stdout.splitlines()] == ["http://127.0.0.1:8100/choose"] * 2
