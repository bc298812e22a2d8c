"""Labels that are given elsewhere: in Label Studio, and on the page of a test set in the making."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from numbered_images import Knowing, numbered_images
from oodometer.build import testset
from oodometer.build.testset.project.annotated import answers_of
from oodometer.build.testset.project.pool import pool_images
from oodometer.build.testset.project.schema import ANSWER, SHOWN, TASK, WORKER, sa
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import numbered
from oodometer.document.comma_separated import FORMULA, safe
from oodometer.few_labels.annotation_page import write_for_testset
from oodometer.few_labels.image_paths import image_paths
from oodometer.few_labels.label_studio import read_export, write_for_label_studio
from oodometer.few_labels.label_table import NONE
from oodometer.few_labels.write import write_chosen
from street_store import Streets

AT = "https://example.org/street/"


@pytest.fixture
def chosen(streets: Streets) -> odo.ChosenImages:
    return odo.choose_images_to_label(streets.store, "street", 120)


# Label Studio


def answered(tasks: Path, said: list[list[dict]]) -> str:
    """The tasks as Label Studio exports them, with what each person said about each."""
    entries = json.loads(tasks.read_text("utf-8"))
    for entry, of_image in zip(entries, said, strict=True):
        entry["annotations"] = of_image
    place = tasks.parent / "export.json"
    place.write_text(json.dumps(entries), "utf-8")
    return str(place)


def choosing(name: str, **more: object) -> dict:
    choice = {"from_name": "label", "to_name": "image", "type": "choices", "value": {"choices": [name]}}
    return {"result": [choice], "was_cancelled": False, **more}


def writing(name: str) -> dict:
    text = {"from_name": "another", "to_name": "image", "type": "textarea", "value": {"text": [name]}}
    return {"result": [text], "was_cancelled": False}


def test_there_and_back_through_label_studio(streets: Streets, chosen: odo.ChosenImages, tmp_path: Path):
    tasks, config = write_for_label_studio(chosen, tmp_path / "out", images_at=AT, paths={chosen.ids[0]: "a b.jpg"})
    first = json.loads(tasks.read_text("utf-8"))[0]["data"]
    assert first["image"] == "https://example.org/street/a%20b.jpg"
    assert first["choices"][-1] == {"value": NONE}
    names = {node.get("name") for node in ElementTree.fromstring(config.read_text("utf-8")).iter()}
    assert {"image", "label", "another"} <= names
    labels = [streets.name_of(one) for one in chosen.ids]
    export = answered(tasks, [[choosing(name)] for name in labels])
    read = odo.read_few_labels(export)
    assert (read.ids, read.labels) == (chosen.ids, tuple(labels))
    assert read.probabilities == pytest.approx(chosen.probabilities)
    assert read.design == chosen.design
    found = odo.estimate_from_labels(streets.store, "street", export)
    assert found.n == 120


def test_what_a_task_offers_is_what_models_answered_in_no_telling_order(chosen: odo.ChosenImages, tmp_path: Path):
    tasks, _ = write_for_label_studio(chosen, tmp_path / "out", images_at=AT)
    for at, entry in enumerate(json.loads(tasks.read_text("utf-8"))):
        offered = [one["value"] for one in entry["data"]["choices"]]
        assert offered == [*sorted(chosen.answered[at]), NONE]


def test_what_people_say_in_label_studio(chosen: odo.ChosenImages, tmp_path: Path):
    tasks, _ = write_for_label_studio(chosen, tmp_path / "out", images_at=AT)
    said = [
        [choosing("kind 1"), choosing("kind 1"), choosing("kind 2")],  # most say kind 1
        [choosing("kind 1"), choosing("kind 2")],  # nobody knows
        [choosing("kind 1", was_cancelled=True)],
        [writing("kind 7")],
        [choosing(NONE)],
        [],
    ]
    read = read_export(answered(tasks, [*said, *[[] for _ in range(114)]]))
    assert read.labels == ("kind 1", "kind 7", NONE)
    assert read.ids == (chosen.ids[0], chosen.ids[3], chosen.ids[4])
    assert read.n_chosen == 120


@pytest.mark.parametrize("path", ["../../etc/x", "a/../../x", "..", "a\\..\\..\\x"])
def test_no_address_leads_out_of_where_images_are_served(chosen: odo.ChosenImages, tmp_path: Path, path: str):
    with pytest.raises(UsageError, match="leads out of the folder of the images"):
        write_for_label_studio(chosen, tmp_path / "out", images_at=AT, paths={chosen.ids[3]: path})
    write_for_label_studio(chosen, tmp_path / "out", images_at=AT, paths={chosen.ids[3]: "a..b/..c.jpg"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a readable export of Label Studio"),
        ("[]", "no tasks in it"),
        ('[{"data": {}}]', "task 1 is none that"),
        ("[3]", "task 1 is none"),
    ],
)
def test_exports_that_mean_nothing_are_errors(tmp_path: Path, text: str, said: str):
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(DataError, match=said):
        read_export(tmp_path / "export.json")


# The page of a test set in the making


@pytest.fixture
def pictures(chosen: odo.ChosenImages, tmp_path: Path) -> Path:
    """The images that were chosen, each of a colour of its own."""
    for at, one in enumerate(chosen.ids):
        place = tmp_path / "pictures" / f"{one}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((16, 16, 3), (at, 255 - at, 77), dtype=np.uint8)).save(place)
    return tmp_path / "pictures"


def answer_truly(folder: Path, truth: dict[str, str]) -> None:
    """One worker says of every image whether it shows the class that is asked about."""
    with testset.open_project(str(folder)) as project:
        testset.make_tasks(project, testset.Layout(size=40, positive=0, negative=0, workers=1))
        asked = project.database.rows(
            sa.select(SHOWN.c.task_id, SHOWN.c.position, SHOWN.c.image_id, TASK.c.class_id)
            .join(TASK, TASK.c.id == SHOWN.c.task_id)
            .order_by(SHOWN.c.task_id, SHOWN.c.position)
        )
        names = {number: entry.name for number, entry in project.classes().items()}
        called = {one.id: one.columns["name"] for one in pool_images(project)}
        said: dict[int, str] = {}
        for row in asked:
            shows = truth[called[row.image_id]] == names[row.class_id]
            said[row.task_id] = said.get(row.task_id, "") + ("1" if shows else "0")
        with project.database.writing() as connection:
            worker = connection.execute(
                sa.insert(WORKER).values(token="t", name="", made="2020").returning(WORKER.c.id)
            ).scalar_one()
            for task, selected in said.items():
                row = {"task_id": task, "worker_id": worker, "selected": selected, "at": "2020", "seconds": 1.0}
                connection.execute(sa.insert(ANSWER).values(**row))
        assert len(answers_of(project).images) == len(asked)


def test_there_and_back_through_the_annotation_page(streets: Streets, chosen: odo.ChosenImages, pictures: Path):
    place = pictures.parent
    lines = write_chosen(chosen, "testset", str(place / "lab"), data=str(pictures))
    assert any("oodometer testset add PROJECT" in line for line in lines)
    with testset.new_project(str(place / "project"), classes=str(place / "lab" / "classes.csv")) as project:
        _, offered = testset.offered_by(str(pictures), manifest=str(place / "lab" / "candidates.csv"))
        added = testset.add_images(project, offered, testset.Provenance(str(pictures), "manifest"))
        assert added.n_added == sum(len(one) for one in chosen.answered)
    with pytest.raises(DataError, match="no image has a label yet"):
        odo.read_few_labels(str(place / "project"))
    truth = {one: streets.name_of(one) for one in chosen.ids}
    answer_truly(place / "project", truth)
    read = odo.read_few_labels(str(place / "project"))
    offered_to = dict(zip(chosen.ids, chosen.answered, strict=True))
    assert dict(zip(read.ids, read.labels, strict=True)) == {
        one: name if name in offered_to[one] else NONE for one, name in truth.items()
    }
    assert (read.design, read.n_chosen) == (chosen.design, 120)
    # the same numbers as from the table with the true labels: what no model answered is wrong for all
    told = odo.FewLabels("few.csv", chosen.ids, tuple(truth.values()), chosen.probabilities, chosen.design, 120)
    of_page, of_table = (odo.estimate_from_labels(streets.store, "street", one) for one in (read, told))
    for one, other in zip(of_page.models, of_table.models, strict=True):
        assert one.accuracy.estimate.value == pytest.approx(other.accuracy.estimate.value)


def test_what_strangers_named_is_no_formula_in_the_tables_and_comes_back(chosen: odo.ChosenImages, tmp_path: Path):
    ids, names = ("=1+1", "@a"), (("=HYPERLINK(A2)", "duck"), ("duck", "-1"))
    chosen = replace(chosen, ids=ids, probabilities=(0.5, 0.5), labels=("", ""), answered=names)
    for at, one in enumerate(ids):
        place = tmp_path / "in" / f"{one}.png"
        place.parent.mkdir(exist_ok=True)
        Image.fromarray(np.full((16, 16, 3), 100 * at, dtype=np.uint8)).save(place)
    tables = write_for_testset(chosen, tmp_path / "lab", paths={one: f"{one}.png" for one in ids})
    fields = [field for table in tables for row in csv.reader(table.read_text("utf-8").splitlines()) for field in row]
    assert not [field for field in fields if field.startswith(FORMULA)]
    with testset.new_project(str(tmp_path / "project"), classes=str(tables[1])) as project:
        _, offered = testset.offered_by(str(tmp_path / "in"), manifest=str(tables[0]))
        assert testset.add_images(project, offered, testset.Provenance("in", "manifest")).n_added == 4
    answer_truly(tmp_path / "project", dict(zip(map(safe, ids), map(safe, ("=HYPERLINK(A2)", "-1")), strict=True)))
    read = odo.read_few_labels(str(tmp_path / "project"))
    assert dict(zip(read.ids, read.labels, strict=True)) == {"=1+1": "=HYPERLINK(A2)", "@a": "-1"}


def test_another_project_is_refused(tmp_path: Path):
    (tmp_path / "classes.csv").write_text("name\nduck\n")
    (tmp_path / "in" / "duck").mkdir(parents=True)
    Image.fromarray(np.zeros((8, 8, 3), dtype=np.uint8)).save(tmp_path / "in" / "duck" / "a.png")
    with testset.new_project(str(tmp_path / "p"), classes=str(tmp_path / "classes.csv")) as project:
        kind, offered = testset.offered_by(str(tmp_path / "in"))
        testset.add_images(project, offered, testset.Provenance("in", kind))
    with pytest.raises(DataError, match="was not added from a table that 'oodometer label' wrote"):
        odo.read_few_labels(str(tmp_path / "p"))


# Where to


def test_paths_are_known_by_the_ids(chosen: odo.ChosenImages, pictures: Path):
    found = image_paths(str(pictures))
    assert {one: f"{one}.png" for one in chosen.ids} == found


@pytest.mark.parametrize(
    ("form", "out", "more", "said"),
    [
        ("label-studio", None, {}, "say where with --out FOLDER"),
        ("label-studio", "o", {}, "needs the address of the images"),
        ("label-studio", "o", {"images_at": "here"}, "expected an address such as"),
        ("testset", "o", {}, "needs the files of the images"),
        ("excel", "o", {}, "no form 'excel'"),
    ],
)
def test_what_is_lacking_is_said(chosen: odo.ChosenImages, tmp_path: Path, form, out, more, said):
    with pytest.raises(UsageError, match=said):
        write_chosen(chosen, form, out and str(tmp_path / out), **more)


def test_images_that_the_data_lack_are_an_error(chosen: odo.ChosenImages, tmp_path: Path):
    Image.fromarray(np.zeros((8, 8, 3), dtype=np.uint8)).save(tmp_path / "a.png")
    with pytest.raises(UsageError, match="no image of this id in the data"):
        write_chosen(chosen, "testset", str(tmp_path / "o"), data=str(tmp_path))


def test_classes_without_names_are_read_back_as_they_are_offered(tmp_path: Path):
    # images without labels, answered by models that know their classes by number alone
    data = numbered_images(150)
    unlabelled = np.full(150, -1, dtype=np.int64)
    street = replace(data, name="street", labels=unlabelled, space=numbered(1))
    run = odo.run([Knowing(name, 0.7).model for name in "ab"], [odo.clean(street)], store=str(tmp_path / "runs"))
    chosen = odo.choose_images_to_label(run, "street", 20)
    assert chosen.classes == ("class 0", "class 1", "class 2", "class 3")
    named = [{"id": one, "label": "class 0"} for one in chosen.ids]
    (tmp_path / "few.csv").write_text("\n".join(["id,label", *(f"{row['id']},{row['label']}" for row in named)]))
    assert odo.estimate_from_labels(run, "street", str(tmp_path / "few.csv")).n == 20
