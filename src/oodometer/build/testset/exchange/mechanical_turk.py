"""Tasks as a template and a table for Amazon's Mechanical Turk, and answers from the table of its results.

What workers see is one page, `static/mechanical_turk.html`, in which Mechanical Turk puts the values of a row of the
table for ``${task}``, ``${title}``, ``${gloss}``, ``${link}`` and ``${images}``. Whether it escapes them is not said
anywhere, so that all texts are percent-encoded: nothing in them is HTML then, a formula for a spreadsheet, or a sign
that its tables may not have. An answer is a ``y`` or ``n`` for each image, which no spreadsheet takes for a number.
"""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, unquote

from oodometer.build.testset.exchange.incoming import Damaged, Imported, Said, number_in, take_answers
from oodometer.build.testset.exchange.open_tasks import (
    IMAGES,
    Exported,
    OpenTask,
    base_of,
    instructions,
    new_folder,
    notes_on,
    shown_of,
    tasks_in_need,
    write_images,
)
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.tasks import MOST_IMAGES, drawings_count
from oodometer.core.dataset import Progress, silent
from oodometer.core.errors import DataError
from oodometer.data import addresses

PLATFORM = "mechanical-turk"
TEMPLATE, TABLE = "template.html", "tasks.csv"
COLUMNS = ("task", "title", "gloss", "link", "images")
NEEDED = ("Input.task", "WorkerId", "AssignmentId", "AssignmentStatus")
"""Columns of every table of results of ours."""

ANSWERS = ("Answer.selected", "Answer.taskAnswers")
"""Where the answer is: a column for each field of the form, or JSON of all."""

TAKEN, REJECTED = ("Submitted", "Approved"), "Rejected"


def export_for_mechanical_turk(
    project: Project, folder: str | Path, *, images_at: str, progress: Progress = silent
) -> Exported:
    """Write the template, the table of all tasks that need answers, and the images to upload.

    Args:
        folder: New or empty.
        images_at: The address at which the images will be.
    """
    base = base_of(images_at)
    tasks = tasks_in_need(project)
    place = new_folder(folder)
    shown = shown_of(project, tasks)
    (place / TEMPLATE).write_text(template(drawings=drawings_count(project)), "utf-8")
    with (place / TABLE).open("w", encoding="ascii", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(_row(task, [key for key, _ in shown[task.id]], base) for task in tasks)
    n_images = write_images(project, shown, place, progress=progress)
    needed = max((task.needed for task in tasks), default=0)
    return Exported((TEMPLATE, TABLE, f"{IMAGES}/"), len(tasks), n_images, needed, notes_on(base))


def import_from_mechanical_turk(project: Project, address: str) -> Imported:
    """Take the answers of a table of results; assignments that were rejected, or are marked to be, do not count."""
    return take_answers(project, PLATFORM, answers_in_results(address))


def answers_in_results(address: str) -> Iterator[Said | Damaged]:
    """The answers in a table of results, row by row."""
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig", "replace")
    except DataError as error:
        raise DataError(f"{address}: can't be read ({error})") from error
    reader = csv.reader(io.StringIO(text, newline=""))
    header = _header(reader, address)
    at = 1
    while True:
        at += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Damaged(f"row {at}", f"not a row of a table ({error})")
            continue
        if cells:
            yield _answer(f"row {at}", cells, header)


def template(*, drawings: bool) -> str:
    """The page that workers see, with its script and what it tells them in it."""
    folder = files("oodometer.build.testset.exchange").joinpath("static")
    page = folder.joinpath("mechanical_turk.html").read_text("utf-8")
    how = "\n".join(f"      <li>{html.escape(line)}</li>" for line in instructions(drawings=drawings))
    script = folder.joinpath("mechanical_turk.js").read_text("utf-8")
    return page.replace("<!-- how -->", how.strip()).replace("/* script */", script.strip())


def encoded(text: str) -> str:
    """A text that means nothing to HTML, to a spreadsheet or to a table that may not have all signs.

    >>> encoded('-1 <b>"owl"</b>')
    '%2D1%20%3Cb%3E%22owl%22%3C%2Fb%3E'
    """
    return quote(text, safe="", errors="replace").replace("-", "%2D")


def _row(task: OpenTask, keys: list[str], base: str) -> tuple[str, ...]:
    about = task.about
    images = " ".join(f"{base}/{key}.jpg" for key in keys)
    return encoded(task.key), encoded(about.title), encoded(about.gloss), encoded(about.link), images


def _header(reader: Iterator[list[str]], address: str) -> dict[str, int]:
    try:
        names = [name.strip() for name in next(reader)]
    except (StopIteration, csv.Error) as error:
        raise DataError(f"{address}: no table of results; download it from Mechanical Turk as a CSV") from error
    missing = [name for name in NEEDED if name not in names]
    if missing or not set(ANSWERS) & set(names):
        lacking = ", ".join(missing) or " or ".join(ANSWERS)
        raise DataError(f"{address}: not the results of tasks that were exported from here: no column {lacking}")
    return {name: at for at, name in reversed(list(enumerate(names)))}


def _answer(place: str, cells: list[str], header: Mapping[str, int]) -> Said | Damaged:
    row = {name: cells[at].strip() if at < len(cells) else "" for name, at in header.items()}
    status = row["AssignmentStatus"]
    if status not in (*TAKEN, REJECTED):
        return Damaged(place, f"its status is none of {', '.join((*TAKEN, REJECTED))}")
    if not row["AssignmentId"]:
        return Damaged(place, "it has no assignment")
    form = _form(row)
    signs = form.get("selected", "")
    if not isinstance(signs, str) or not signs or set(signs) - {"y", "n"} or len(signs) > MOST_IMAGES:
        return Damaged(place, "its answer is not a y or n for each image")
    return Said(
        place,
        row["WorkerId"],
        unquote(row["Input.task"]),
        tuple(sign == "y" for sign in signs),
        number_in(form.get("seconds")),
        counts=status != REJECTED and not row.get("Reject"),
    )


def _form(row: Mapping[str, str]) -> Mapping[str, object]:
    """The fields of the form by name."""
    if row.get("Answer.selected"):
        return {"selected": row["Answer.selected"], "seconds": row.get("Answer.seconds")}
    try:
        said = json.loads(row.get("Answer.taskAnswers") or "null")
    except (ValueError, RecursionError):
        return {}
    first = said[0] if isinstance(said, list) and said else said
    return first if isinstance(first, dict) else {}
