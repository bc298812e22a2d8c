"""``oodometer testset export``, ``import``, ``plan`` and ``keywords`` as a person types them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from PIL import Image

from as_typed import oodometer
from made_testset import made_project, picture
from oodometer.build.testset.project.tasks import Layout, make_tasks

AT = "https://example.org/birds"
TESTSET = "testset"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three tasks of twelve images, each for two workers."""
    monkeypatch.chdir(tmp_path)
    with made_project(tmp_path / "p", candidates=6, originals=4) as made:
        make_tasks(made, Layout(size=12, workers=2))
    return "p"


def results_of(table: Path, worker: str, selected: str) -> str:
    """What Mechanical Turk gives back when one worker answers every row."""
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    place = table.parent / "results.csv"
    with place.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["AssignmentId", "WorkerId", "AssignmentStatus", "Input.task", "Answer.selected"])
        writer.writerows(["3A", worker, "Approved", row["task"], selected] for row in rows)
    return str(place)


def test_to_mechanical_turk_and_back(project: str, tmp_path: Path) -> None:
    export = ("export", project, "--to", "mechanical-turk", "-o", "out", "--images-at", AT)
    result = oodometer(TESTSET, *export)
    expected = "3 tasks with 36 images: template.html, tasks.csv, images/; the one that lacks most needs 2 answers\n"
    assert (result.exit_code, result.stdout) == (0, expected)
    results = results_of(tmp_path / "out" / "tasks.csv", "A1", "yn" * 6)
    result = oodometer(TESTSET, "import", project, results, "--from", "mechanical-turk")
    assert (result.exit_code, result.stdout) == (0, "3 of 3 answers added, 1 new workers\n")
    result = oodometer(TESTSET, "import", project, results, "--from", "mechanical-turk", "--json")
    assert json.loads(result.stdout)["there_already"] == 3
    assert "A1" not in oodometer(TESTSET, "workers", project).stdout
    assert "1: 3 tasks answered" in oodometer(TESTSET, "workers", project).stdout
    again = oodometer(TESTSET, *export)
    assert (again.exit_code, "export into a new folder" in again.stderr) == (2, True)


def test_to_label_studio_and_back(project: str, tmp_path: Path) -> None:
    result = oodometer(
        TESTSET, "export", project, "--to", "label-studio", "-o", "ls", "--images-at", "http://localhost:9", "--json"
    )
    assert json.loads(result.stdout)["files"] == ["labelling.xml", "tasks.json", "images/"]
    assert "note: http://localhost:9 is not https" in result.stderr
    tasks = json.loads((tmp_path / "ls" / "tasks.json").read_text())
    for task in tasks:
        chosen = [{"from_name": "shows", "type": "choices", "value": {"choices": ["none"]}}]
        task["annotations"] = [{"completed_by": 4, "result": chosen, "was_cancelled": False}]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    result = oodometer(TESTSET, "import", project, "export.json", "--from", "label-studio")
    assert (result.exit_code, result.stdout) == (0, "3 of 3 answers added, 1 new workers\n")
    result = oodometer(TESTSET, "import", project, "export.json", "--from", "mechanical-turk")
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr


def test_a_plan_is_made_and_expanded(project: str, tmp_path: Path) -> None:
    result = oodometer(TESTSET, "plan", project, "--csv", "plan.csv")
    assert result.stdout == (
        "1: owl: owl: 100 images, 2012-07-11 to 2013-07-11, by upload date; open, 0 in the pool\n"
        "2: duck: duck: 100 images, 2012-07-11 to 2013-07-11, by upload date; open, 0 in the pool\n"
        "3: cat: cat: 100 images, 2012-07-11 to 2013-07-11, by upload date; open, 0 in the pool\n"
    )
    assert result.stderr.splitlines() == ["3 queries added", "plan.csv: 3 queries"]
    (tmp_path / "tree.csv").write_text("class,parent\nowl,bird\nduck,swimmer\n")
    result = oodometer(TESTSET, "plan", project, "--expand", "owl", "--parents", "tree.csv")
    assert "step 1 of 5: words of the parent class that stand in the gloss; 1 queries added" in result.stderr
    assert "4: owl: owl bird: 100 images" in result.stdout
    result = oodometer(TESTSET, "plan", project, "--expand", "cat", "--words", "gato|Katze", "--json")
    assert [row["words"] for row in json.loads(result.stdout)[4:]] == ["gato", "Katze"]
    result = oodometer(TESTSET, "plan", project, "--done", "1")
    assert "1: owl: owl: 100 images, 2012-07-11 to 2013-07-11, by upload date; done" in result.stdout
    result = oodometer(TESTSET, "plan", project, "--blurry")
    assert "7: owl: blurry owl: 100 images, any time, by upload date; open, 0 in the pool" in result.stdout
    (tmp_path / "mine.csv").write_text("class,words\ncat,kitten\n")
    assert "1 queries added, 0 marked" in oodometer(TESTSET, "plan", project, "--take-in", "mine.csv").stderr
    styles = oodometer(TESTSET, "plan", project, "--styles")
    assert "45 queries added" in styles.stderr


def test_what_a_manifest_says_of_queries_is_counted(project: str, tmp_path: Path) -> None:
    oodometer(TESTSET, "plan", project)
    folder = tmp_path / "fetched"
    folder.mkdir()
    (folder / "a.png").write_bytes(picture(1, "new", 1))
    (folder / "list.csv").write_text("path,label,query\na.png,duck,2\n")
    assert oodometer(TESTSET, "add", project, folder, "--from", folder / "list.csv").exit_code == 0
    assert "2: duck: duck" in oodometer(TESTSET, "plan", project).stdout
    assert "open, 1 in the pool" in oodometer(TESTSET, "plan", project).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--styles", "--blurry"), "one of --expand"),
        (("--expand", "owl", "--done", "1"), "one of --expand"),
        (("--words", "x"), "go with --expand CLASS"),
        (("--limit", "0"), "--limit 0: at least 1"),
        (("--since", "x"), "--since x: not a day"),
        (("--expand", "owl"), "no query is planned yet"),
        (("--done", "7"), "there is none of that number"),
    ],
)
def test_wrong_use_of_plan(project: str, words: tuple[str, ...], said: str) -> None:
    result = oodometer(TESTSET, "plan", project, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_keywords_of_the_originals(project: str, tmp_path: Path) -> None:
    for at, word in enumerate(("barn_owl", "mallard", "tabby")):
        (tmp_path / "tiny" / word).mkdir(parents=True)
        for i in range(4):
            (tmp_path / "tiny" / word / f"{i}.png").write_bytes(picture(at, "original", i))
    Image.new("RGB", (8, 8)).save(tmp_path / "tiny" / "tabby" / "other.png")
    result = oodometer(TESTSET, "keywords", project, "--source", "tiny", "-o", "keywords.csv")
    assert (result.exit_code, result.stdout) == (
        0,
        "12 originals of 3 classes have 3 keywords; 12 have a neighbour at distance 0, the farthest is 0 away\n",
    )
    table = (tmp_path / "keywords.csv").read_text().splitlines()
    assert table == ["class,keyword,count", "cat,tabby,4", "duck,mallard,4", "owl,barn_owl,4"]
    result = oodometer(TESTSET, "keywords", project, "--source", "tiny", "-o", "k.csv", "--metric", "pixel")
    assert (result.exit_code, "did you mean pixels" in result.stderr) == (2, True)


def test_an_export_without_tasks_says_what_is_missing_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made_project(tmp_path / "q", candidates=1, originals=1).close()
    result = oodometer(TESTSET, "export", "q", "--to", "mechanical-turk", "-o", "out", "--images-at", AT)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no tasks yet; make some first: oodometer testset tasks q" in result.stderr
    assert not (tmp_path / "out").exists()
