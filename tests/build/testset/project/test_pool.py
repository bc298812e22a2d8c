"""A project, its database and its pool: what comes in, what is refused, and that nothing comes in twice."""

from __future__ import annotations

import csv
import io
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from made_testset import CLASSES, made_project
from oodometer.build.testset.project.database import open_database
from oodometer.build.testset.project.image_files import SMALL_SIDE, keep, read_kept, small_copy
from oodometer.build.testset.project.offered import offered_by
from oodometer.build.testset.project.pool import (
    CANDIDATE,
    ORIGINAL,
    Added,
    Provenance,
    add_images,
    candidates_of,
    counts_by_class,
    images_by_key,
    pool_images,
)
from oodometer.build.testset.project.project import PLACE, Project, new_project, open_project
from oodometer.build.testset.project.schema import SETTING, sa
from oodometer.core.errors import DataError, UsageError


def picture(shade: int, *, kind: str = "PNG", size: tuple[int, int] = (20, 12)) -> bytes:
    noise = np.random.default_rng(shade).integers(0, 40, (size[1], size[0], 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise + np.uint8(shade % 200)).save(out, kind)
    return out.getvalue()


@pytest.fixture
def original(tmp_path: Path) -> Path:
    folder = tmp_path / "val"
    for at, name in enumerate(["crow", "duck"]):
        (folder / name).mkdir(parents=True)
        for number in range(3):
            (folder / name / f"{number}.png").write_bytes(picture(10 * at + number))
    return folder


@pytest.fixture
def project(tmp_path: Path, original: Path) -> Project:
    return new_project(tmp_path / "birds", original=str(original))


def export(folder: Path, rows: list[dict[str, str]]) -> str:
    table = folder / "manifest.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, sorted({key for row in rows for key in row}))
        writer.writeheader()
        writer.writerows(rows)
    return str(table)


def added(project: Project, address: Path, manifest: str | None = None, licence: str = "") -> Added:
    kind, offered = offered_by(str(address), manifest=manifest)
    return add_images(project, offered, Provenance(str(address), kind, licence))


def test_the_original_set_comes_in_with_its_classes(project: Project, original: Path) -> None:
    assert {name: dict(found) for name, found in counts_by_class(project).items()} == {
        "crow": {ORIGINAL: 3},
        "duck": {ORIGINAL: 3},
    }
    assert (project.name, project.original) == ("birds", str(original))
    assert [one.title for one in project.classes().values()] == ["crow", "duck"]


def test_a_project_is_opened_again(project: Project) -> None:
    project.close()
    with open_project(project.folder) as again:
        assert again.name == "birds"
        assert len(pool_images(again, role=ORIGINAL)) == 6


def test_classes_of_a_table_have_gloss_link_and_synonyms(tmp_path: Path) -> None:
    table = tmp_path / "classes.csv"
    table.write_text(
        'name,title,gloss,link,synonyms\nn01,crow,"black, and clever",https://example.org/crow,crow|raven\n'
    )
    with new_project(tmp_path / "p", classes=str(table)) as project:
        (entry,) = project.classes().values()
    assert (entry.gloss, entry.link, entry.synonyms) == (
        "black, and clever",
        "https://example.org/crow",
        ("crow", "raven"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title\ncrow\n", "expected a column 'name'"),
        ("name\na\na\n", "two classes are named 'a'"),
        ("name,link\na,javascript:alert(1)\n", "no address of the web"),
        ("name\n", "a row for each class"),
    ],
)
def test_a_wrong_table_of_classes_is_told(tmp_path: Path, text: str, said: str) -> None:
    table = tmp_path / "classes.csv"
    table.write_text(text)
    with pytest.raises(DataError, match=said):
        new_project(tmp_path / "p", classes=str(table))
    assert not (tmp_path / "p").exists()


def test_what_a_table_says_of_an_image_stays_with_it(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "a.png").write_bytes(picture(50))
    (folder / "b.png").write_bytes(picture(51))
    rows = [
        {
            "path": "a.png",
            "label": "duck",
            "license": "CC-BY",
            "author": "A",
            "url": "https://example.org/a",
            "year": "2014",
        },
        {"path": "b.png", "label": "duck", "license": "", "author": "", "url": "", "year": "2015"},
    ]
    assert added(project, folder, export(folder, rows), "CC0").n_added == 2
    first, second = sorted(pool_images(project, role=CANDIDATE), key=lambda one: one.columns["name"])
    assert (first.licence, first.author, first.url, first.columns["year"]) == (
        "CC-BY",
        "A",
        "https://example.org/a",
        "2014",
    )
    assert (second.licence, second.class_name) == ("CC0", "duck")


def test_a_second_call_adds_nothing_and_keys_do_not_depend_on_the_order(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "more"
    (folder / "crow").mkdir(parents=True)
    for number in range(4):
        (folder / "crow" / f"{number}.png").write_bytes(picture(60 + number))
    assert str(added(project, folder)) == "4 of 4 images added"
    assert str(added(project, folder)) == "0 of 4 images added; 4 were there already"
    kind, offered = offered_by(str(folder))
    with new_project(tmp_path / "again", original=project.original) as other:
        add_images(other, offered[::-1], Provenance("", kind))
        assert [one.key for one in pool_images(other)] == [one.key for one in pool_images(project)]


def test_shards_are_taken_too(project: Project, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "s.tar", "w") as tar:
        for name, content in {
            "x.png": picture(70),
            "x.json": b'{"label": "crow", "url": "https://example.org/x"}',
        }.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    assert added(project, tmp_path / "s.tar").n_added == 1
    (found,) = pool_images(project, role=CANDIDATE)
    assert (found.class_name, found.url) == ("crow", "https://example.org/x")


def test_what_is_no_image_is_refused_and_the_others_come_in(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    (folder / "crow").mkdir(parents=True)
    (folder / "crow" / "good.png").write_bytes(picture(80))
    (folder / "crow" / "cut.png").write_bytes(picture(81)[:60])
    (folder / "crow" / "page.png").write_bytes(b"<html><script>alert(1)</script>")
    found = added(project, folder)
    assert (found.n_added, set(found.refused)) == (1, {"crow/cut", "crow/page"})
    assert found.refused["crow/page"] == "not an image that can be read"
    assert "2 refused, such as" in str(found)


@pytest.mark.parametrize(
    "path", ["../secret.png", "/etc/hostname", "a/../../secret.png", "s3://bucket/a.png", "link.png"]
)
def test_a_path_outside_the_folder_is_refused_and_the_others_come_in(
    project: Project, tmp_path: Path, path: str
) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(picture(90))
    (folder / "good.png").write_bytes(picture(91))
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    rows = [{"path": "good.png", "label": "duck"}, {"path": path, "label": "duck"}]
    found = added(project, folder, export(folder, rows))
    assert (found.n_added, len(found.refused)) == (1, 1)
    assert "only images below the folder are taken" in found.refused[path]
    assert [image.columns["name"] for image in pool_images(project, role=CANDIDATE)] == ["good.png"]


def test_a_class_that_the_project_does_not_have_is_told(project: Project, tmp_path: Path) -> None:
    (tmp_path / "more" / "dukc").mkdir(parents=True)
    (tmp_path / "more" / "dukc" / "0.png").write_bytes(picture(100))
    with pytest.raises(DataError, match="'dukc', are not of this project; did you mean duck"):
        added(project, tmp_path / "more")


def test_small_copies_look_alike_whatever_an_image_was(tmp_path: Path) -> None:
    kinds = [("PNG", (20, 12)), ("JPEG", (300, 700)), ("BMP", (900, 400))]
    kept = [keep(tmp_path, picture(at, kind=kind, size=size)) for at, (kind, size) in enumerate(kinds)]
    copies = [Image.open(io.BytesIO(small_copy(tmp_path, one.file))) for one in kept]
    assert {(one.format, one.size, one.mode) for one in copies} == {("JPEG", (SMALL_SIDE, SMALL_SIDE), "RGB")}
    assert all(not one.getexif() for one in copies)
    assert [(one.width, one.height) for one in kept] == [size for _, size in kinds]
    assert read_kept(tmp_path, kept[0].file) == picture(0)


def test_candidates_have_the_columns_of_the_pool(project: Project) -> None:
    images = pool_images(project, role=ORIGINAL)
    found = candidates_of(images, np.full(6, np.nan), np.zeros(6, dtype=np.int64))
    assert found.ids == tuple(one.key for one in images)
    assert [found.labels.tolist().count(one) for one in found.classes] == [3, 3]


def test_an_unknown_key_is_told(project: Project) -> None:
    with pytest.raises(UsageError, match="no image of that id in the pool"):
        images_by_key(project, ["c1-nothing"])


def test_a_project_does_not_begin_in_a_full_folder(tmp_path: Path, original: Path) -> None:
    with pytest.raises(UsageError, match="not empty"):
        new_project(original, original=str(original))
    with pytest.raises(UsageError, match="needs classes"):
        new_project(tmp_path / "p")


def test_a_folder_without_a_project_says_how_to_begin_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="oodometer testset new"):
        open_project(tmp_path)


def test_others_cannot_read_where_the_database_is(project: Project) -> None:
    assert os.stat(project.folder / PLACE).st_mode & 0o077 == 0


def test_a_database_of_a_newer_version_is_left_alone(project: Project) -> None:
    with project.database.writing() as connection:
        connection.execute(sa.update(SETTING).where(SETTING.c.key == "version").values(value="99"))
    project.close()
    with pytest.raises(DataError, match="made by a newer oodometer"):
        open_project(project.folder)


def test_a_transaction_that_fails_leaves_nothing(project: Project) -> None:
    def fail() -> None:
        with project.database.writing() as connection:
            connection.execute(sa.insert(SETTING).values(key="half", value="x"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert "half" not in project.database.settings()


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(DataError, match="not a database"):
        open_database(str(tmp_path / "x.db"))


def test_a_project_that_could_not_begin_leaves_nothing(tmp_path: Path, either_database: str | None) -> None:
    folder = tmp_path / "val" / "crow"
    folder.mkdir(parents=True)
    (folder / "1.png").write_bytes(picture(0))
    original = str(tmp_path / "val")
    with pytest.raises(DataError, match="none of its classes is in the table of classes"):
        new_project(tmp_path / "p", classes=CLASSES, original=original, database=either_database)
    (tmp_path / "val" / "owl").mkdir()
    (tmp_path / "val" / "owl" / "2.png").write_bytes(picture(1))
    with new_project(tmp_path / "p", classes=CLASSES, original=original, database=either_database) as project:
        assert counts_by_class(project)["owl"] == {"original": 1}


def test_a_project_that_was_killed_while_it_began_says_so(tmp_path: Path) -> None:
    made_project(tmp_path / "p").close()
    (tmp_path / "p" / "testset.json").unlink()  # it is written last
    with pytest.raises(UsageError, match="begun here and not finished; delete the folder"):
        new_project(tmp_path / "p", classes=CLASSES)
