"""Annotation tasks: what is in them, that controls hide, and that the same seed gives the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from made_testset import CLASSES, made_project
from oodometer.build.testset.project.near_classes import nearest_in_tree, read_near
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import EXCLUSION, IMAGE, SHOWN, TASK, sa
from oodometer.build.testset.project.small_copies import make_small_copies
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.core.errors import DataError, UsageError

NEAR = {"owl": ("duck",), "duck": ("owl",)}


def shown_in(project: Project) -> list[tuple[int, int, str, str, str, int, int]]:
    """Task, position, kind, key of the image, its role, its class and the class of the task."""
    query = (
        sa.select(
            SHOWN.c.task_id,
            SHOWN.c.position,
            SHOWN.c.kind,
            IMAGE.c.key,
            IMAGE.c.role,
            IMAGE.c.class_id,
            TASK.c.class_id,
        )
        .join(IMAGE, IMAGE.c.id == SHOWN.c.image_id)
        .join(TASK, TASK.c.id == SHOWN.c.task_id)
        .order_by(SHOWN.c.task_id, SHOWN.c.position)
    )
    return [tuple(row) for row in project.database.rows(query)]


def test_every_candidate_is_in_one_task_among_controls(tmp_path: Path, either_database: str | None) -> None:
    with made_project(tmp_path / "p", database=either_database) as project:
        made = make_tasks(project, Layout(size=12, positive=2, negative=1, workers=4), near=NEAR)
        rows = shown_in(project)
    # 20 candidates of each of three classes, nine to a task: three tasks each
    assert made.tasks == {"owl": 3, "duck": 3, "cat": 3}
    assert made.kinds == {"candidate": 60, "positive": 18, "negative": 9}
    assert Counter(key for _, _, kind, key, *_ in rows if kind == "candidate").most_common(1)[0][1] == 1
    for _, _, kind, _, role, of, asked in rows:
        assert role == ("candidate" if kind == "candidate" else "original")
        assert (of == asked) == (kind != "negative")
    negatives = {(asked, of) for _, _, kind, _, _, of, asked in rows if kind == "negative"}
    assert {pair for pair in negatives if pair[0] < 3} == {(1, 2), (2, 1)}
    assert made.notes == (
        "not in the table of near classes, so negative controls are of any other class: 1 classes, such as cat",
    )


def test_positions_of_controls_are_not_always_the_same(tmp_path: Path) -> None:
    with made_project(tmp_path / "p", candidates=40) as project:
        make_tasks(project, Layout(size=10, positive=1, negative=1), near=NEAR)
        places = Counter(at for _, at, kind, *_ in shown_in(project) if kind == "positive")
    assert len(places) > 5


def test_the_same_seed_gives_the_same_and_another_others(tmp_path: Path) -> None:
    found = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        with made_project(tmp_path / name) as project:
            make_tasks(project, Layout(size=12), near=NEAR, seed=seed)
            found.append([row[1:] for row in shown_in(project)])
    assert found[0] == found[1] != found[2]


def test_what_pages_call_images_tells_nothing_and_differs_between_projects(tmp_path: Path) -> None:
    keys = []
    for name in "ab":
        with made_project(tmp_path / name, candidates=5) as project:
            make_tasks(project)
            keys.append([row.key for row in project.database.rows(sa.select(SHOWN.c.key))])
    assert len(set(keys[0]) | set(keys[1])) == len(keys[0]) + len(keys[1])


def test_a_second_call_takes_new_candidates_alone(tmp_path: Path) -> None:
    with made_project(tmp_path / "p") as project:
        make_tasks(project)
        assert make_tasks(project).tasks == {}


def test_excluded_candidates_are_not_shown(tmp_path: Path) -> None:
    with made_project(tmp_path / "p") as project:
        with project.database.writing() as connection:
            row = {"reason": "blurred", "at": "", "by": "", "revoked": ""}
            connection.execute(sa.insert(EXCLUSION).values(image_id=1, **row))
            connection.execute(sa.insert(EXCLUSION).values(image_id=2, **row | {"revoked": "now"}))
        assert make_tasks(project).kinds["candidate"] == 59


def test_positive_controls_go_round(tmp_path: Path) -> None:
    with made_project(tmp_path / "p", candidates=12, originals=8) as project:
        make_tasks(project, Layout(size=8, positive=2, negative=0))  # two tasks of six candidates for each class
        make_tasks(project)
        times = Counter(key for _, _, kind, key, *_ in shown_in(project) if kind == "positive")
    assert set(times.values()) == {1}
    assert len(times) == 12


def test_originals_can_be_ordinary_entries(tmp_path: Path) -> None:
    with made_project(tmp_path / "p", candidates=12, originals=8) as project:
        made = make_tasks(project, Layout(size=8, positive=2, negative=0, originals=7))
        seen = {key for _, _, _, key, role, *_ in shown_in(project) if role == "original"}
        tasks = shown_in(project)
    # four of the seven are controls of the two tasks, the other three make room of their own
    assert made.kinds["original"] == 9
    assert len(seen) >= 21
    for task in {row[0] for row in tasks}:
        inside = [row[3] for row in tasks if row[0] == task]
        assert len(inside) == len(set(inside))


def test_without_enough_originals_a_note_says_so(tmp_path: Path) -> None:
    with made_project(tmp_path / "p", originals=0) as project:
        made = make_tasks(project, near=NEAR)
    assert made.kinds == {"candidate": 60}
    assert any("fewer than 3 original images for positive controls" in note for note in made.notes)


@pytest.mark.parametrize("wrong", [{"size": 6}, {"size": 501}, {"positive": -1}, {"workers": 0}])
def test_layouts_that_can_not_be(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        Layout(**wrong)


def test_near_classes_of_a_table(tmp_path: Path) -> None:
    table = tmp_path / "near.csv"
    table.write_text("class,near\nowl,duck\nowl,duck\nowl,unicorn\ncat,cat\nduck,owl\n")
    assert read_near(str(table), [one.name for one in CLASSES]) == {"owl": ("duck",), "duck": ("owl",)}
    table.write_text("class,parent\nowl,bird\nduck,bird\nbird,animal\ncat,animal\n")
    assert read_near(str(table), ["owl", "duck", "cat"])["cat"] == ("duck", "owl")


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "class,near\nfish,newt\n"])
def test_tables_that_say_nothing(tmp_path: Path, text: str) -> None:
    table = tmp_path / "near.csv"
    table.write_text(text)
    with pytest.raises(DataError, match=r"near\.csv"):
        read_near(str(table), ["owl"])


def test_a_tree_with_a_loop_ends() -> None:
    assert nearest_in_tree([("a", "b"), ("b", "a"), ("c", "b")], ["a", "c"]) == {"a": ("c",), "c": ("a",)}


def test_small_copies_are_made_once_and_look_alike(tmp_path: Path) -> None:
    with made_project(tmp_path / "p", candidates=3, originals=3) as project:
        make_tasks(project)
        assert make_small_copies(project) == 18
        assert make_small_copies(project) == 0
        sizes = {place.suffix for place in (project.folder / "small").iterdir()}
    assert sizes == {".jpg"}
