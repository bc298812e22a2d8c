"""A release: what lies in it, that it is whole and the same each time, and that it is a shift like any other."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from made_testset import made_project
from oodometer.build.testset.project.annotators import add_workers, block_worker
from oodometer.build.testset.project.exclusions import exclude
from oodometer.build.testset.project.handing_out import next_task, submit
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import chosen_of, sample_again, take_sample
from oodometer.build.testset.project.sample_request import SampleRequest
from oodometer.build.testset.project.schema import FILTER, WORKER, sa
from oodometer.build.testset.project.simulate import SIMULATED, Simulation, simulate_answers
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.build.testset.release.tables import Format, folder_name
from oodometer.build.testset.release.verify import verify_release
from oodometer.build.testset.release.write import ReleaseOptions, write_release
from oodometer.core.errors import DataError, UsageError

SIMULATED_ALLOWED = ReleaseOptions(allow_simulated=True)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a sample of four images of each class, after a first one."""
    made = made_project(tmp_path / "project")
    make_tasks(made, Layout(size=16, positive=2, negative=2, workers=5, originals=8))
    simulate_answers(made, Simulation(n_workers=8, seed=1))
    take_sample(made, SampleRequest("matched-frequency", per_class=4, seed=2), by="me")
    exclude(made, [chosen_of(made, 1)[0].key], "blurry", by="me")
    sample_again(made, by="me")
    return made


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_a_release_has_its_images_and_says_how_they_came_to_be(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "birds-v1"
    written = write_release(project, folder, SIMULATED_ALLOWED)
    chosen = {image.key: image for image in chosen_of(project, 2)}
    rows = rows_of(folder / "manifest.csv")
    assert {row["id"] for row in rows} == set(chosen)
    assert Counter(row["label"] for row in rows) == {"owl": 4, "duck": 4, "cat": 4}
    for row in rows:
        original = (project.folder / "images" / chosen[row["id"]].file).read_bytes()
        assert (folder / row["path"]).read_bytes() == original
        assert 0 <= float(row["frequency"]) <= 1
        assert int(row["n_answers"]) == 5
    recipe = json.loads((folder / "recipe.json").read_text())
    assert [step["revision"] for step in recipe["steps"]] == [1, 2]
    assert recipe["steps"][1]["counts"]["out"] == {"blurry": 1}
    assert (written.as_json()["images"], written.as_json()["classes"], written.revision.number) == (12, 3, 2)
    card = (folder / "CARD.md").read_text()
    assert "which carries over from 1" in card
    assert "- blurry: 1" in card
    assert "are simulated, not people's" in card


def test_simulated_answers_are_not_released_by_mistake(project: Project, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="answers are simulated, not people's; say --simulated"):
        write_release(project, tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_a_release_says_what_held_when_it_was_sampled(project: Project, tmp_path: Path) -> None:
    write_release(project, tmp_path / "before", SIMULATED_ALLOWED)
    block_worker(project, int(project.database.rows(sa.select(WORKER.c.id))[0].id), blocked=True)
    with project.database.writing() as connection:
        row = {"rule": "imagenet-a", "arguments": "{}", "funnel": "[]", "at": "", "by": ""}
        connection.execute(sa.insert(FILTER).values(row))
    write_release(project, tmp_path / "after", ReleaseOptions(allow_simulated=True, as_sampled=True))
    for file in ("manifest.csv", "recipe.json"):
        assert (tmp_path / "before" / file).read_text() == (tmp_path / "after" / file).read_text()


def test_what_was_taken_out_since_is_not_released_by_mistake(project: Project, tmp_path: Path) -> None:
    gone, *others = chosen_of(project, 2)
    exclude(project, [gone.key], "severely occluded", by="me")
    with pytest.raises(DataError, match=f"1 of the images of revision 2 are out since.*{gone.key}: severely occluded"):
        write_release(project, tmp_path / "r", SIMULATED_ALLOWED)
    write_release(project, tmp_path / "r", ReleaseOptions(allow_simulated=True, as_sampled=True))
    assert len(rows_of(tmp_path / "r" / "manifest.csv")) == len(others) + 1
    assert "severely occluded" not in (tmp_path / "r" / "CARD.md").read_text(), "the card is of when it was sampled"
    again = sample_again(project, by="me").revision
    write_release(project, tmp_path / "s", SIMULATED_ALLOWED)
    assert gone.key not in {row["id"] for row in rows_of(tmp_path / "s" / "manifest.csv")}
    assert f"revision {again.number}" in (tmp_path / "s" / "CARD.md").read_text()
    assert "- severely occluded: 1" in (tmp_path / "s" / "CARD.md").read_text()


def test_the_same_revision_gives_the_same_bytes(project: Project, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_release(project, tmp_path / name, SIMULATED_ALLOWED)
        write_release(project, tmp_path / f"{name}-tar", ReleaseOptions(format="webdataset", allow_simulated=True))
    for kind in ("", "-tar"):
        sums = [(tmp_path / f"{name}{kind}" / "SHA256SUMS").read_text() for name in "ab"]
        assert sums[0] == sums[1]


def test_sums_are_what_sha256sum_checks(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    written = write_release(project, folder, SIMULATED_ALLOWED)
    # reference: GNU coreutils
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    assert verify_release(folder).is_whole
    assert written.n_files == sum(file.is_file() for file in folder.rglob("*"))
    (folder / "CARD.md").write_text("something else")
    (folder / "classes.txt").unlink()
    (folder / "more.txt").write_text("more")
    found = verify_release(folder)
    assert (found.changed, found.missing, found.more) == (("CARD.md",), ("classes.txt",), ("more.txt",))
    assert (
        str(found)
        == "1 changed, such as CARD.md; 1 missing, such as classes.txt; 1 that nobody released, such as more.txt"
    )
    (folder / "SHA256SUMS").write_text("00  ../../etc/passwd\n")
    with pytest.raises(DataError, match="is not in"):
        verify_release(folder)


def test_it_is_read_as_data_in_both_formats(project: Project, tmp_path: Path) -> None:
    for kind in ("folder", "webdataset"):
        folder = tmp_path / kind
        write_release(project, folder, ReleaseOptions(format=kind, allow_simulated=True))  # type: ignore[arg-type]
        data = odo.load_data(folder)
        names = [data.space.classes[label] for label in data.labels]
        assert Counter(names) == {"owl": 4, "duck": 4, "cat": 4}
        assert data.image(0).shape == (48, 64, 3)
    with tarfile.open(tmp_path / "webdataset" / "shard-00000.tar") as tar:
        assert {(info.mtime, info.uid, info.uname) for info in tar} == {(0, 0, "")}


def test_nothing_says_who_annotated(project: Project, tmp_path: Path) -> None:
    tokens = add_workers(project, 2)
    make_tasks(project, Layout(size=16, positive=2, negative=2, workers=2))
    write_release(project, tmp_path / "r", SIMULATED_ALLOWED)
    everything = b"".join(
        file.read_bytes() for file in sorted((tmp_path / "r").rglob("*")) if file.suffix != ".png" and file.is_file()
    )
    for secret in (*tokens, "worker", SIMULATED + "-", "annotator_id", str(project.folder), '"by"', "me,"):
        assert secret.encode() not in everything, secret


def test_people_s_answers_are_released_without_a_word(tmp_path: Path) -> None:
    with made_project(tmp_path / "p", candidates=6) as project:
        make_tasks(project, Layout(size=12, positive=1, negative=1, workers=1))
        add_workers(project, 1)
        while (task := next_task(project, 1)) is not None:
            submit(project, 1, task.key, [True] * len(task.shown))
        take_sample(project, SampleRequest("top-images", per_class=2), by="me")
        write_release(project, tmp_path / "r")
    assert "simulated" not in (tmp_path / "r" / "CARD.md").read_text()


def test_a_licence_may_be_required(project: Project, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"12 images, such as .*, say no licence"):
        write_release(project, tmp_path / "r", ReleaseOptions(allow_simulated=True, licence_required=True))


def test_a_place_that_is_taken_and_a_name_that_can_not_be(project: Project, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is there already and not empty"):
        write_release(project, tmp_path / "there", SIMULATED_ALLOWED)
    assert (tmp_path / "there" / "mine.txt").read_text() == "mine"
    with pytest.raises(UsageError, match="without a /"):
        ReleaseOptions(name="a/b")


def test_a_release_that_is_cut_short_leaves_nothing(project: Project, tmp_path: Path) -> None:
    image = chosen_of(project, 2)[5]
    (project.folder / "images" / image.file).unlink()
    with pytest.raises(DataError, match="was it taken out of the project"):
        write_release(project, tmp_path / "r", SIMULATED_ALLOWED)
    assert [file.name for file in tmp_path.iterdir()] == ["project"]


@pytest.mark.parametrize("name", ["../up", "a/b", "CON", ".hidden", "ü" * 300, "<b>x</b>", "x\ny", "a"])
def test_folders_of_classes_are_safe_and_differ(name: str, tmp_path: Path) -> None:
    folder = folder_name(name)
    (tmp_path / folder).mkdir()  # any file system takes it
    assert (tmp_path / folder).parent == tmp_path
    assert (folder == name) == (name == "a")
    assert folder_name(name + "x") != folder


def test_it_is_a_shift_like_any_other(project: Project, tmp_path: Path) -> None:
    original_files(project, tmp_path / "original")
    options = ReleaseOptions(original="../original", allow_simulated=True, name="birds")
    write_release(project, tmp_path / "birds-v1", options)
    (shift,) = odo.load_shifts("birds", data=tmp_path / "birds-v1")
    assert (shift.name, shift.kind) == ("birds", "dataset")
    standard, shifted = shift.standard.dataset, shift.shifted.dataset
    assert (len(standard), len(shifted)) == (24, 12)
    assert standard.space == shifted.space
    assert set(np.unique(standard.labels)) == set(np.unique(shifted.labels))
    drawn = odo.sheet(tmp_path / "birds-v1", tmp_path / "birds.png", on=["birds"])
    assert drawn.columns == ("clean", "birds")
    with pytest.raises(UsageError, match="no condition named 'birds'"):  # the name is the release's alone
        odo.load_shifts("birds", data=tmp_path / "original")


def test_a_release_may_not_take_the_name_of_a_published_shift(project: Project, tmp_path: Path) -> None:
    write_release(project, tmp_path / "v1", ReleaseOptions(allow_simulated=True, name="imagenet-a"))
    with pytest.raises(UsageError, match=r"v1/testset.toml: there is a shift named 'imagenet-a' already"):
        odo.load_shifts("imagenet-a", data=tmp_path / "v1")


def original_files(project: Project, folder: Path) -> None:
    """The original images in class folders."""
    for image in project.database.rows(odo_images()):
        place = folder / image.name / f"{image.key}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((project.folder / "images" / image.file).read_bytes())


def odo_images() -> object:
    from oodometer.build.testset.project.schema import CLASS, IMAGE, sa

    query = sa.select(IMAGE.c.key, IMAGE.c.file, CLASS.c.name).join(CLASS, CLASS.c.id == IMAGE.c.class_id)
    return query.where(IMAGE.c.role == "original")


def test_paths_name_what_is_in_the_release(project: Project, tmp_path: Path) -> None:
    write_release(project, tmp_path / "shards", ReleaseOptions(format="webdataset", allow_simulated=True))
    with tarfile.open(tmp_path / "shards" / "shard-00000.tar") as tar:
        members = {f"shard-00000.tar/{name}" for name in tar.getnames() if not name.endswith(".json")}
    write_release(project, tmp_path / "folder", SIMULATED_ALLOWED)
    files = {str(file.relative_to(tmp_path / "folder")) for file in (tmp_path / "folder").glob("*/*")}
    for table in ("images.csv", "LICENCES.csv"):
        assert {row["path"] for row in rows_of(tmp_path / "shards" / table)} == members
    for table in ("manifest.csv", "LICENCES.csv"):
        assert {row["path"] for row in rows_of(tmp_path / "folder" / table)} == files


def test_the_folder_that_one_is_in(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "here"
    place.mkdir()
    inode = place.stat().st_ino
    monkeypatch.chdir(place)
    write_release(project, ".", SIMULATED_ALLOWED)
    assert verify_release(place).is_whole
    assert place.stat().st_ino == inode, "whoever is in it stays in it"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["here", "project"]


@pytest.mark.parametrize(
    ("original", "told"),
    [
        ("{}/icons/iid.csv", "../icons/iid.csv"),
        ("{}/val", "../val"),
        ("icons/iid.csv", "../icons/iid.csv"),  # from where the project was begun
        ("gone/val", "val"),
        ("/somewhere/else/val/", "val"),
        ("s3://somebody/private/val", "val"),
        ("https://example.org/val.csv", "https://example.org/val.csv"),
        ("imagenet", "imagenet"),
        ("", ""),
    ],
)
def test_where_the_original_is_told(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, original: str, told: str
) -> None:
    (tmp_path / "icons").mkdir()
    (tmp_path / "icons" / "iid.csv").touch()
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")  # the project was begun in the folder above
    there = replace(project, original=original.format(tmp_path))
    write_release(there, tmp_path / "v1", SIMULATED_ALLOWED)
    text = (tmp_path / "v1" / "testset.toml").read_text()
    assert tomllib.loads(text)["original"] == told
    assert ("write its address before you compare" in text) == (told == "val")
    assert str(tmp_path) not in text
    given = ReleaseOptions(original="/data/val", allow_simulated=True)
    write_release(there, tmp_path / "v2", given)
    assert tomllib.loads((tmp_path / "v2" / "testset.toml").read_text())["original"] == "/data/val"


def test_an_original_beside_the_release_is_compared_with_it_at_once(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original_files(project, tmp_path / "val")
    monkeypatch.chdir(tmp_path)
    write_release(replace(project, original="val"), "v1", SIMULATED_ALLOWED)
    monkeypatch.chdir("/")
    (shift,) = odo.load_shifts("birds", data=tmp_path / "v1")
    assert (len(shift.standard.dataset), len(shift.shifted.dataset)) == (24, 12)
    (tmp_path / "val").rename(tmp_path / "moved")
    with pytest.raises(DataError, match=r"its original is not at ../val; write where it is into .*testset.toml"):
        odo.load_shifts("birds", data=tmp_path / "v1")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "webdataset"])
def test_the_metadata_are_croissant(project: Project, tmp_path: Path, kind: Format) -> None:
    pytest.importorskip("mlcroissant")
    write_release(project, tmp_path / "r", ReleaseOptions(format=kind, allow_simulated=True))
    # reference: mlcroissant, MLCommons' own reader, in a process of its own since it warns of its own dependencies
    code = (
        "import sys, json, mlcroissant; data = mlcroissant.Dataset(jsonld=sys.argv[1]);"
        "issues = data.metadata.issues; assert not issues.errors, issues.errors;"
        "rows = [[row[f'images/{one}'].decode() for one in ('id', 'label', 'path')] for row in data.records('images')];"
        "files = [[row['files/path'].decode(), row['files/image'].size] for row in data.records('files')];"
        "print(json.dumps([rows, files]))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "r" / "croissant.json")],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "CROISSANT_CACHE": str(tmp_path / "cache")},
    )
    chosen = {image.key: image.class_name for image in chosen_of(project, 2)}
    rows, files = json.loads(done.stdout)
    assert {one: label for one, label, _ in rows} == chosen
    paths = {path.removeprefix("shard-00000.tar/") for *_, path in rows}
    assert {path: tuple(size) for path, size in files} == dict.fromkeys(paths, (64, 48)), "the images are read"


def test_the_card_corrects_for_the_selection(project: Project, tmp_path: Path) -> None:
    write_release(project, tmp_path / "matched", SIMULATED_ALLOWED)
    card = (tmp_path / "matched" / "CARD.md").read_text()
    assert "Corrected for the selection: 0." in card
    assert "(Engstrom et al. 2020)" in card
    take_sample(project, SampleRequest("uniform", per_class=4), by="me")
    write_release(project, tmp_path / "uniform", SIMULATED_ALLOWED)
    card = (tmp_path / "uniform" / "CARD.md").read_text()
    assert "Mean selection frequency reached" in card
    assert "Corrected" not in card  # nothing was chosen by answers
