"""Tasks for Label Studio and their answers: what is written, what is read, and what hostile exports do.

The shape of an export is that of Label Studio's documentation ("Label Studio JSON format of annotated tasks"), and of
what version 1.23.2 gave for such tasks, annotated in a browser.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_testset import made_project
from oodometer.build.testset.exchange.incoming import Imported, Said, take_answers
from oodometer.build.testset.exchange.label_studio import (
    NONE,
    answers_in_export,
    export_for_label_studio,
    import_from_label_studio,
    labelling_config,
)
from oodometer.build.testset.exchange.mechanical_turk import PLATFORM as MTURK
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, WORKER, sa
from oodometer.build.testset.project.tasks import Layout, let_drawings_count, make_tasks
from oodometer.core.errors import DataError

AT = "https://example.org/birds"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Three tasks of twelve images, each for ten workers."""
    with made_project(tmp_path / "p", candidates=6, originals=4) as made:
        make_tasks(made, Layout(size=12))
        yield made


@pytest.fixture
def exported(project: Project, tmp_path: Path) -> list[dict[str, Any]]:
    export_for_label_studio(project, tmp_path / "out", images_at=AT)
    tasks: list[dict[str, Any]] = json.loads((tmp_path / "out" / "tasks.json").read_text("utf-8"))
    return tasks


def annotated(task: dict[str, Any], *annotations: dict[str, Any]) -> dict[str, Any]:
    """A task as it comes back."""
    return {"id": 1, "project": 83, **task, "annotations": list(annotations), "predictions": []}


def annotation(who: object, chosen: list[str], **more: object) -> dict[str, Any]:
    value = {"choices": chosen}
    result = [{"id": "x", "from_name": "shows", "to_name": "about", "type": "choices", "value": value}]
    return {"id": 1, "completed_by": who, "result": result, "was_cancelled": False, "lead_time": 4.288, **more}


def imported(project: Project, tmp_path: Path, content: object) -> Imported:
    place = tmp_path / "export.json"
    place.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return import_from_label_studio(project, str(place))


def keys_in(task: dict[str, Any]) -> list[str]:
    return [choice["value"] for choice in task["data"]["images"]]


def test_a_task_is_a_question_with_an_image_for_each_choice(exported: list[dict[str, Any]], tmp_path: Path) -> None:
    assert len(exported) == 3
    data = exported[0]["data"]
    assert data["question"] == "Select every image that shows: owl"
    assert data["about"] == "A bird that hunts at night. https://example.org/owl"
    *images, none = data["images"]
    assert len(images) == 12
    assert none == {"value": NONE, "html": "None of them shows it"}
    first = images[0]
    assert f'src="{AT}/{first["value"]}.jpg"' in first["html"]
    assert (tmp_path / "out" / "images" / f"{first['value']}.jpg").is_file()


def test_the_configuration_names_what_the_tasks_have(exported: list[dict[str, Any]]) -> None:
    page = ElementTree.fromstring(labelling_config(drawings=False))
    asked = {value[1:] for element in page.iter() for value in element.attrib.values() if value.startswith("$")}
    assert asked == set(exported[0]["data"]) - {"task"}
    (choices,) = page.iter("Choices")
    about = next(page.iter("Text"))
    assert about.attrib["value"] == "$about"
    assert (choices.attrib["toName"], choices.attrib["choice"]) == (about.attrib["name"], "multiple")
    assert "only photographs count" in labelling_config(drawings=False)
    assert "only photographs count" not in labelling_config(drawings=True)


def test_answers_come_in_once_whatever_their_order(
    project: Project, exported: list[dict[str, Any]], tmp_path: Path
) -> None:
    keys = keys_in(exported[0])
    content = [
        annotated(
            exported[0],
            annotation(7, [keys[3], keys[0]]),
            annotation({"id": 8, "email": "a@example.org", "first_name": "A"}, [NONE]),
        ),
        annotated(exported[1], annotation("7", keys_in(exported[1])[:-1])),
        annotated(exported[2]),
    ]
    assert imported(project, tmp_path, content) == Imported(3, n_added=3, n_workers=2)
    assert imported(project, tmp_path, content) == Imported(3, n_there=3)
    rows = project.database.rows(sa.select(ANSWER).order_by(ANSWER.c.task_id, ANSWER.c.worker_id))
    assert [row.selected for row in rows] == ["100100000000", "0" * 12, "1" * 12]
    assert {row.seconds for row in rows} == {4.288}
    assert "example.org" not in str(project.database.rows(sa.select(WORKER)))


def test_cancelled_and_contradicting_annotations(
    project: Project, exported: list[dict[str, Any]], tmp_path: Path
) -> None:
    keys = keys_in(exported[0])
    task = annotated(
        exported[0],
        annotation(1, [keys[0]]),
        annotation(1, [keys[1]]),
        annotation(2, [keys[1]], was_cancelled=True),
        {"completed_by": 3, "result": [], "was_cancelled": True},
    )
    assert imported(project, tmp_path, [task]) == Imported(4, n_added=1, n_otherwise=1, n_set_aside=2, n_workers=1)


def test_the_same_name_in_two_places_is_two_workers(
    project: Project, exported: list[dict[str, Any]], tmp_path: Path
) -> None:
    imported(project, tmp_path, [annotated(exported[0], annotation("A1", [NONE]))])
    answer = Said("row 2", "A1", exported[0]["data"]["task"], (True,) * 12)
    assert take_answers(project, MTURK, [answer]).n_workers == 1


def test_damage_is_told_and_the_rest_comes_in(project: Project, exported: list[dict[str, Any]], tmp_path: Path) -> None:
    keys = keys_in(exported[0])
    other = keys_in(exported[1])[0]
    good = annotation(5, [keys[0]])
    wrong: list[Any] = [
        annotation(1, [other]),
        annotation(1, [NONE, keys[0]]),
        annotation(1, []),
        annotation(None, [keys[0]]),
        annotation(True, [keys[0]]),
        annotation({"email": "a@example.org"}, [keys[0]]),
        annotation(1, [keys[0]], result=[*good["result"], *good["result"]]),
        annotation(1, [keys[0]], result={"choices": []}),
        annotation(1, [keys[0]], result=[]),
        annotation(1, [["<b>"]]),  # type: ignore[list-item]
        "no annotation",
        annotation("\ud800" * 201, [keys[0]]),
    ]
    content = [annotated(exported[0], *wrong, good), 17, {"data": {"task": 5}, "annotations": []}, {"data": []}]
    told = imported(project, tmp_path, content)
    assert (told.n_answers, told.n_added, len(told.refused)) == (16, 1, 15)
    assert told.refused["task 1, annotation 1"] == "it selects an image that is not in the task"
    assert told.refused["task 1, annotation 2"] == "it says both that some and that no image shows the class"
    assert told.refused["task 1, annotation 9"] == "it is empty"
    assert told.refused["task 1, annotation 4"] == "it doesn't say which worker answered"
    assert "no task with annotations" in told.refused["task 2"]


@pytest.mark.parametrize("content", ["", "{", "{}", "7", "[" * 100_000, "nothing"])
def test_other_files_are_told(project: Project, tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError, match="export from Label Studio as JSON"):
        imported(project, tmp_path, content)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["data", "task", "annotations", "result", "completed_by", "value", "choices", "from_name", "id"]
            )
            | st.just("was_cancelled"),
            inside,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.lists(JSON, max_size=3), st.lists(JSON, max_size=3))
def test_no_export_crashes_the_reader(
    tmp_path_factory: pytest.TempPathFactory, tasks: list[Any], annotations: list[Any]
) -> None:
    place = tmp_path_factory.mktemp("any") / "export.json"
    place.write_text(json.dumps([*tasks, {"data": {"task": "a"}, "annotations": annotations}]))
    for one in answers_in_export(str(place)):
        assert one.place.startswith("task ")


def test_hostile_classes_and_drawings(tmp_path: Path) -> None:
    classes = (ClassEntry("a", "<script>alert(1)</script>", "'\"&"), ClassEntry("b"))
    with made_project(tmp_path / "p", classes=classes, candidates=2, originals=2) as project:
        make_tasks(project, Layout(size=6, positive=1, negative=1))
        let_drawings_count(project)
        export_for_label_studio(project, tmp_path / "out", images_at=AT)
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text("utf-8"))
    # Label Studio shows these fields as text; what it shows as HTML has nothing of the classes in it.
    assert tasks[0]["data"]["question"].endswith("<script>alert(1)</script>")
    assert not [choice for choice in tasks[0]["data"]["images"] if "script" in choice["html"]]
    assert "Drawings, paintings" in (tmp_path / "out" / "labelling.xml").read_text("utf-8")
