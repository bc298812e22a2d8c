"""A project: a folder with the images of a test set in the making, and the database that knows about them."""

from __future__ import annotations

import getpass
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oodometer.build.testset.project.classes import ClassEntry, classes_of, read_classes
from oodometer.build.testset.project.database import FILE, POSTGRES, Database, as_text, from_text, now, open_database
from oodometer.build.testset.project.place import PLACE
from oodometer.build.testset.project.schema import CLASS, METADATA, SETTING, sa
from oodometer.core.errors import DataError, UsageError
from oodometer.data.load import load_data


@dataclass(frozen=True)
class Project:
    """A test set in the making.

    Args:
        folder: Its images and its files.
        database: What is known about them.
        name: Of the test set.
        original: The address of the set that it is made anew; empty: there is none.
    """

    folder: Path
    database: Database
    name: str
    original: str

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the database."""
        self.database.close()

    def class_numbers(self) -> dict[str, int]:
        """The number of each class in the database, by name."""
        return {
            row.name: row.id for row in self.database.rows(sa.select(CLASS.c.name, CLASS.c.id).order_by(CLASS.c.id))
        }

    def classes(self) -> dict[int, ClassEntry]:
        """The classes by number."""
        rows = self.database.rows(sa.select(CLASS).order_by(CLASS.c.id))
        return {row.id: _entry(row) for row in rows}


def new_project(
    folder: str | Path,
    *,
    classes: str | Sequence[ClassEntry] | None = None,
    original: str | None = None,
    database: str | None = None,
    name: str | None = None,
) -> Project:
    """Make a project in a new or empty folder, and take in the original set, if there is one.

    Args:
        classes: A table (`read_classes`), or the classes; by default those of the original set.
        original: The address of the set that this is to be a new test set for: its images are controls, and examples.
        database: The address of a PostgreSQL database; by default SQLite in the folder.
        name: Of the test set; by default the folder's.
    """
    place = Path(folder)
    _check_free(place)
    if database is not None and "://" in database and not database.startswith(POSTGRES):
        kind = database.partition("://")[0]
        raise UsageError(f"--database {kind}://...: only PostgreSQL's, postgresql://...; without it, SQLite")
    data = None if original is None else load_data(original)
    entries = _given(classes) or (() if data is None else classes_of(data.space))
    if not entries:
        raise UsageError("a test set needs classes: give --classes TABLE, or --original DATA that has them")
    offered = [] if data is None else _offered_originals(data, {entry.name for entry in entries}, original or "")
    place.mkdir(parents=True, exist_ok=True)
    made = open_database(database or str(place / FILE), new=True)
    try:
        return _begun(place, made, database, entries, (name or place.resolve().name, original or ""), offered)
    except BaseException:  # so that the same command can be given again
        METADATA.drop_all(made.engine)
        made.close()
        shutil.rmtree(place, ignore_errors=True)
        raise


def _begun(
    place: Path,
    made: Database,
    database: str | None,
    entries: Sequence[ClassEntry],
    names: tuple[str, str],
    offered: list[Any],
) -> Project:
    from oodometer.build.testset.project.pool import ORIGINAL, Provenance, add_images

    with made.writing() as connection:
        connection.execute(sa.insert(CLASS), [_values(one) for one in entries])
        said = {"name": names[0], "original": names[1], "made": now()}
        connection.execute(sa.insert(SETTING), [{"key": key, "value": value} for key, value in said.items()])
    project = Project(place, made, *names)
    if offered:
        add_images(project, offered, Provenance(names[1], "original"), role=ORIGINAL)
    _write_place(place, database)  # the last: without it there is no project
    return project


def open_project(folder: str | Path) -> Project:
    """The project in a folder."""
    place = Path(folder)
    try:
        said = json.loads((place / PLACE).read_text("utf-8"))
    except FileNotFoundError:
        raise DataError(f"{place}: no test set in the making; begin one with: oodometer testset new {place}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{place / PLACE}: can't be read ({error})") from error
    address = said.get("database") if isinstance(said, dict) else None
    database = open_database(str(address) if address else str(place / FILE))
    settings = database.settings()
    return Project(place, database, settings.get("name", place.name), settings.get("original", ""))


def whoever() -> str:
    """Who does something at the command line, for the history of a project."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def _check_free(place: Path) -> None:
    if place.is_dir() and (place / FILE).exists() and not (place / PLACE).exists():
        raise UsageError(f"{place}: a project was begun here and not finished; delete the folder and begin again")
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{place}: is there already and not empty; a project begins in a new folder")


def _offered_originals(data: Any, known: set[str], address: str) -> list[Any]:
    from oodometer.build.testset.project.offered import images_of

    offered = [image for image in images_of(data) if image.class_name in known]
    if not offered:
        raise DataError(f"{address}: none of its classes is in the table of classes; do names agree?")
    return offered


def _given(classes: str | Sequence[ClassEntry] | None) -> tuple[ClassEntry, ...]:
    if classes is None:
        return ()
    return read_classes(classes) if isinstance(classes, str) else tuple(classes)


def _values(entry: ClassEntry) -> dict[str, str]:
    return {
        "name": entry.name,
        "title": entry.title,
        "gloss": entry.gloss,
        "link": entry.link,
        "synonyms": as_text(list(entry.synonyms)),
    }


def _entry(row: Any) -> ClassEntry:
    return ClassEntry(row.name, row.title, row.gloss, row.link, tuple(from_text(row.synonyms)))


def _write_place(folder: Path, database: str | None) -> None:
    file = folder / PLACE
    file.touch(mode=0o600)
    file.write_text(json.dumps({"database": database}) + "\n", "utf-8")
