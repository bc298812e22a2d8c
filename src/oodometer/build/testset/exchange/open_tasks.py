"""The tasks that go elsewhere: those that need answers still, with copies of their images to be uploaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit

from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.image_files import small_copy
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, CLASS, IMAGE, SHOWN, TASK, WORKER, sa
from oodometer.core.dataset import Progress, silent
from oodometer.core.errors import UsageError

IMAGES = "images"
"""The folder of an export that is to be uploaded."""

HOW = (
    "Select an image if it shows at least one, however small, partly hidden or cut off, and whatever else is in the "
    "picture: other things, clutter, text.",
    "{drawings}",
    "Leave an image out if you can't tell. If you don't know what this is, read about it first.",
    "Look at all the images. It may be that many show it, or none.",
)
"""What annotators are told, as on our own page; after Recht et al. (2019, appendix C.1.1)."""

NO_DRAWINGS = "Leave out drawings and paintings: only photographs count."
DRAWINGS_TOO = "Drawings, paintings and other likenesses count as photographs do."


@dataclass(frozen=True)
class OpenTask:
    """A task that needs answers.

    Args:
        id: Its number in the database.
        key: What answers name it by.
        about: The class.
        needed: How many answers it lacks.
    """

    id: int
    key: str
    about: ClassEntry
    needed: int


@dataclass(frozen=True)
class Exported:
    """What was written.

    Args:
        files: Names in the folder, that of the images last.
        n_tasks: How many tasks.
        n_images: How many images are to be uploaded.
        needed: How many answers the task lacks that lacks most.
        notes: What somebody should know.
    """

    files: tuple[str, ...]
    n_tasks: int
    n_images: int
    needed: int
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "files": list(self.files),
            "tasks": self.n_tasks,
            "images": self.n_images,
            "needed": self.needed,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lacking = f"the one that lacks most needs {self.needed} answers" if self.n_tasks else "none needs answers"
        return f"{self.n_tasks} tasks with {self.n_images} images: {', '.join(self.files)}; {lacking}"


def tasks_in_need(project: Project) -> list[OpenTask]:
    """The tasks with fewer answers than they are to have, in the order in which they were made."""
    if not project.database.rows(sa.select(TASK.c.id).limit(1)):
        raise UsageError(f"no tasks yet; make some first: oodometer testset tasks {quote(str(project.folder))}")
    given = (
        sa.select(ANSWER.c.task_id, sa.func.count().label("n"))
        .join(WORKER, WORKER.c.id == ANSWER.c.worker_id)
        .where(WORKER.c.blocked == 0)
        .group_by(ANSWER.c.task_id)
        .subquery()
    )
    needed = TASK.c.workers - sa.func.coalesce(given.c.n, 0)
    query = (
        sa.select(TASK.c.id, TASK.c.key, CLASS, needed.label("needed"))
        .join(CLASS, CLASS.c.id == TASK.c.class_id)
        .join(given, given.c.task_id == TASK.c.id, isouter=True)
        .where(needed > 0)
        .order_by(TASK.c.id)
    )
    return [
        OpenTask(row.id, row.key, ClassEntry(row.name, row.title, row.gloss, row.link), int(row.needed))
        for row in project.database.rows(query)
    ]


def shown_of(project: Project, tasks: list[OpenTask]) -> dict[int, list[tuple[str, str]]]:
    """By number of a task what each of its images is called, and its file, in the order of their positions."""
    query = sa.select(SHOWN.c.task_id, SHOWN.c.key, IMAGE.c.file).join(IMAGE, IMAGE.c.id == SHOWN.c.image_id)
    found: dict[int, list[tuple[str, str]]] = {task.id: [] for task in tasks}
    for task_id, key, file in project.database.rows(query.order_by(SHOWN.c.task_id, SHOWN.c.position)):
        if task_id in found:
            found[task_id].append((key, file))
    return found


def write_images(
    project: Project, shown: dict[int, list[tuple[str, str]]], folder: Path, *, progress: Progress = silent
) -> int:
    """Small square copies of all images, under names that tell nothing; gives how many."""
    place = folder / IMAGES
    place.mkdir(parents=True, exist_ok=True)
    images = [image for some in shown.values() for image in some]
    for done, (key, file) in enumerate(images, start=1):
        (place / f"{key}.jpg").write_bytes(small_copy(project.folder, file))
        progress(done, len(images))
    return len(images)


def new_folder(address: str | Path) -> Path:
    """The folder of an export, which must be new or empty: an old one may name tasks that are done."""
    place = Path(address)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{place}: is there already and not empty; export into a new folder")
    place.mkdir(parents=True, exist_ok=True)
    return place


def base_of(address: str) -> str:
    """The address below which the images will be, without a slash at its end.

    >>> base_of("https://example.org/birds/")
    'https://example.org/birds'
    """
    parts = urlsplit(address)
    strange = any(sign in address for sign in "\"'<>\\`?#&${}") or any(
        sign.isspace() or not sign.isprintable() for sign in address
    )
    if parts.scheme not in ("http", "https") or not parts.netloc or strange or not address.isascii():
        raise UsageError(
            f"--images-at {address!r}: not the address of a folder on the web, such as https://example.org/birds"
        )
    return address.rstrip("/")


def notes_on(base: str) -> tuple[str, ...]:
    """What somebody should know about where the images will be."""
    if base.startswith("https://"):
        return ()
    return (f"{base} is not https: browsers may not show its images on pages that are",)


def instructions(*, drawings: bool) -> Iterator[str]:
    """What annotators are told, line by line."""
    for line in HOW:
        yield line.format(drawings=DRAWINGS_TOO if drawings else NO_DRAWINGS)
