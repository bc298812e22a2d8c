"""Tasks for Label Studio, with the configuration of its page, and answers from its JSON.

The images of a task are the choices of one question, each under the key that it is shown by: their order in an answer
means nothing, and one that is not of the task is seen. Somebody to whom no image shows the class says so.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

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
from oodometer.build.testset.project.tasks import drawings_count
from oodometer.core.dataset import Progress, silent
from oodometer.core.errors import DataError
from oodometer.data import addresses

PLATFORM = "label-studio"
TASKS, CONFIG = "tasks.json", "labelling.xml"
QUESTION = "shows"
"""What the configuration calls the choices."""

NONE = "none"
"""The choice that no image shows the class; keys of images are longer."""

SIDE = 160
"""Of an image on the page, in pixels."""

STYLE = ".ant-checkbox-wrapper-checked img { outline: 5px solid #1a5fb4; outline-offset: -5px; }"
"""A selected image is seen to be one: the box beside it is small."""


def export_for_label_studio(
    project: Project, folder: str | Path, *, images_at: str, progress: Progress = silent
) -> Exported:
    """Write the configuration, all tasks that need answers, and the images to upload.

    Args:
        folder: New or empty.
        images_at: The address at which the images will be.
    """
    base = base_of(images_at)
    tasks = tasks_in_need(project)
    place = new_folder(folder)
    shown = shown_of(project, tasks)
    (place / CONFIG).write_text(labelling_config(drawings=drawings_count(project)), "utf-8")
    entries = [{"data": _data(task, [key for key, _ in shown[task.id]], base)} for task in tasks]
    (place / TASKS).write_text(json.dumps(entries, indent=1) + "\n", "utf-8")
    n_images = write_images(project, shown, place, progress=progress)
    needed = max((task.needed for task in tasks), default=0)
    return Exported((CONFIG, TASKS, f"{IMAGES}/"), len(tasks), n_images, needed, notes_on(base))


def import_from_label_studio(project: Project, address: str) -> Imported:
    """Take the answers of an export as JSON; annotations that were cancelled do not count."""
    return take_answers(project, PLATFORM, answers_in_export(address))


def labelling_config(*, drawings: bool) -> str:
    """What Label Studio makes its page by."""
    told = "\n".join(
        f"  <Text name='how{at}' value={quoteattr(line)}/>" for at, line in enumerate(instructions(drawings=drawings))
    )
    return (
        "<View>\n"
        f"  <Style>{STYLE}</Style>\n"
        "  <Header value='$question'/>\n"
        "  <Text name='about' value='$about'/>\n"
        f"{told}\n"
        f"  <Choices name='{QUESTION}' toName='about' choice='multiple' layout='inline' value='$images'\n"
        "    required='true' requiredMessage='Select the images that show it, or say that none does.'/>\n"
        "</View>\n"
    )


def answers_in_export(address: str) -> Iterator[Said | Damaged]:
    """The answers in an export as JSON, annotation by annotation."""
    try:
        tasks = json.loads(addresses.read_bytes(address).decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{address}: not JSON; export from Label Studio as JSON") from error
    if not isinstance(tasks, list):
        raise DataError(f"{address}: not a list of tasks; export from Label Studio as JSON")
    for number, task in enumerate(tasks, start=1):
        yield from _of_task(f"task {number}", task)


def _data(task: OpenTask, keys: list[str], base: str) -> dict[str, Any]:
    about = task.about
    choices = [{"value": key, "html": _picture(f"{base}/{key}.jpg")} for key in keys]
    return {
        "task": task.key,
        "question": f"Select every image that shows: {about.title}",
        "about": " ".join(part for part in (about.gloss, about.link) if part) or about.title,
        "images": [*choices, {"value": NONE, "html": "None of them shows it"}],
    }


def _picture(address: str) -> str:
    return f'<img src="{html.escape(address)}" alt="" width="{SIDE}" height="{SIDE}">'


def _of_task(place: str, task: object) -> Iterator[Said | Damaged]:
    data = task.get("data") if isinstance(task, dict) else None
    key = data.get("task") if isinstance(data, dict) else None
    annotations = task.get("annotations") if isinstance(task, dict) else None
    if not isinstance(key, str) or not isinstance(annotations, list):
        yield Damaged(place, "it is no task with annotations that was exported from here")
        return
    for number, annotation in enumerate(annotations, start=1):
        yield _answer(f"{place}, annotation {number}", key, annotation)


def _answer(place: str, key: str, annotation: object) -> Said | Damaged:
    if not isinstance(annotation, dict):
        return Damaged(place, "it is no annotation")
    counts = annotation.get("was_cancelled") in (False, None)
    chosen = _choices(annotation.get("result")) if counts else frozenset({NONE})
    if chosen is None:
        return Damaged(place, f"its answer is not one list of choices for {QUESTION!r}")
    if not chosen or (NONE in chosen and len(chosen) > 1):
        return Damaged(place, "it says both that some and that no image shows the class" if chosen else "it is empty")
    seconds = number_in(annotation.get("lead_time"))
    return Said(place, _worker(annotation.get("completed_by")), key, chosen - {NONE}, seconds, counts=counts)


def _choices(result: object) -> frozenset[str] | None:
    """What was chosen; None where that can't be told."""
    if not isinstance(result, list):
        return None
    if not result:
        return frozenset()
    values = [one.get("value") for one in result if isinstance(one, Mapping) and one.get("from_name") == QUESTION]
    chosen = values[0].get("choices") if len(values) == 1 and isinstance(values[0], Mapping) else None
    if not isinstance(chosen, list) or not all(isinstance(one, str) for one in chosen):
        return None
    return frozenset(chosen)


def _worker(who: object) -> str:
    """The number of a user, whether it stands alone or among what else is known of them."""
    number = who.get("id") if isinstance(who, Mapping) else who
    if isinstance(number, bool) or not isinstance(number, int | str):
        return ""
    return number.strip() if isinstance(number, str) else _digits(number)


def _digits(number: int) -> str:
    try:
        return str(number)
    except ValueError:  # it has thousands of digits
        return ""
