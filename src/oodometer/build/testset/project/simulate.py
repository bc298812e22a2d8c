"""Simulated annotators answer the tasks of a project, to plan how many are needed and to try everything out.

They follow the Gaussian model of `simulated_annotators`: an image shows its class as plainly as its clearness says, and
a negative control as little as its own clearness says. A release of what they chose says so, or is refused.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from shlex import quote
from typing import Any

import numpy as np

from oodometer.build.testset.project.database import insert_or_leave, now
from oodometer.build.testset.project.pool import CANDIDATE, PoolImage, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, HANDED, SHOWN, TASK, WORKER, sa
from oodometer.build.testset.simulated_annotators import Annotators, draw_annotators, draw_clearness, says_yes
from oodometer.core.errors import DataError, UsageError
from oodometer.core.random import rng_for
from oodometer.data import addresses

SIMULATED = "simulated"
"""What they are called in a project."""

PREVALENCE = 0.6
"""The share of candidates that show their class, where nobody says how clear each is."""


@dataclass(frozen=True)
class Simulation:
    """Who answers, and what about.

    Args:
        n_workers: Of whom each task asks as many as it wants.
        n_spammers: Those of them who do not look.
        seed: Of every draw.
        clearness: By key of an image, or by the id that it had in its source: above 0 where it shows its class. Of
            images that are not named it is drawn; originals show their class.
    """

    n_workers: int = 30
    n_spammers: int = 0
    seed: int = 0
    clearness: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Simulated:
    """What was answered.

    Args:
        n_tasks: Tasks that were answered.
        n_answers: Whole tasks by a worker each.
        n_named: Images whose clearness was given.
    """

    n_tasks: int
    n_answers: int
    n_named: int

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"tasks": self.n_tasks, "answers": self.n_answers, "clearness_given": self.n_named}

    def __str__(self) -> str:
        if not self.n_tasks:
            return "nothing new to do: every task has its answers"
        return f"{self.n_answers} simulated answers to {self.n_tasks} tasks"


def simulate_answers(project: Project, how: Simulation | None = None) -> Simulated:
    """Let simulated annotators answer every task that wants more answers.

    The same seed gives the same answers about the same pool, whatever the tasks: what a worker says of an image depends
    on the two alone.
    """
    how = how or Simulation()
    images = {image.id: image for image in pool_images(project)}
    clearness, n_named = _clearness_of(images, how)
    annotators = draw_annotators(how.n_workers, n_spammers=how.n_spammers, seed=how.seed)
    if not project.database.rows(sa.select(TASK.c.id).limit(1)):
        raise UsageError(f"no tasks yet; make some first: oodometer testset tasks {quote(str(project.folder))}")
    tasks = _open_tasks(project)
    most = max((wanted for wanted, _ in tasks.values()), default=0)
    if most > how.n_workers:
        raise UsageError(f"--workers {how.n_workers}: a task wants {most}, and each answers once")
    workers = _simulated_workers(project, how.n_workers)
    n_answers = 0
    for task_id, (wanted, shown) in sorted(tasks.items()):
        asked = rng_for("simulated task", task_id, seed=how.seed).permutation(how.n_workers)[:wanted].tolist()
        rows = [_row(task_id, workers[at], _says(at, shown, images, clearness, annotators, how.seed)) for at in asked]
        n_answers += _write(project, rows)
    return Simulated(len(tasks), n_answers, n_named)


def n_simulated(project: Project) -> int:
    """How many answers of simulated annotators there are."""
    joined = ANSWER.join(WORKER, WORKER.c.id == ANSWER.c.worker_id)
    query = sa.select(sa.func.count()).select_from(joined).where(WORKER.c.name == SIMULATED)
    return int(project.database.rows(query)[0][0])


def read_clearness(address: str) -> dict[str, float]:
    """The clearness of images by id, of a table with the columns id and clearness, or of ``oodometer hardest --json``.

    Of the latter, an image is as clear as the share of networks that are right: from -0.2, where all miss it, to 1.8.
    """
    content = addresses.read_bytes(address)
    try:
        values = _of_hardest(content) if content.lstrip()[:1] == b"{" else _of_table(content)
    except (csv.Error, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{address}: expected the columns id and clearness, a number, or what 'oodometer hardest --json' prints "
            f"({error})"
        ) from error
    if not np.isfinite(list(values.values())).all():
        raise DataError(f"{address}: a clearness is a finite number")
    return values


def _of_table(content: bytes) -> dict[str, float]:
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    return {row["id"]: float(row["clearness"]) for row in rows}


def _of_hardest(content: bytes) -> dict[str, float]:
    """People see what networks miss, so the least clear of these images is not the opposite of the clearest."""
    images = json.loads(content)["images"]
    return {image["image"]: 1.8 - 2 * image["missed_by"] / image["models"] for image in images}


def _clearness_of(images: Mapping[int, PoolImage], how: Simulation) -> tuple[dict[int, float], int]:
    """How plainly each image shows its own class, and of how many that was given."""
    given = how.clearness or {}
    found: dict[int, float] = {}
    n_named = 0
    for image in images.values():
        for name in (image.key, image.columns.get("name", "")):
            if name in given:
                found[image.id] = float(given[name])
                n_named += 1
                break
        else:
            # Keyed by the image, not by its place: the same image is as clear in any pool.
            number = int(rng_for("clearness", image.key, seed=how.seed).integers(2**31))
            prevalence = PREVALENCE if image.role == CANDIDATE else 1.0
            found[image.id] = float(draw_clearness(1, prevalence=prevalence, seed=number)[0])
    if given and not n_named:
        raise DataError("none of the images whose clearness is given is in the project; do ids agree?")
    return found, n_named


def _open_tasks(project: Project) -> dict[int, tuple[int, list[tuple[int, bool]]]]:
    """By task how many answers it lacks, and at each position the image and whether it is of the class asked about."""
    answered = sa.select(ANSWER.c.task_id, sa.func.count().label("n")).group_by(ANSWER.c.task_id).subquery()
    n = sa.func.coalesce(answered.c.n, 0)
    query = (
        sa.select(TASK.c.id, (TASK.c.workers - n).label("wanted"), SHOWN.c.image_id, SHOWN.c.kind)
        .join(answered, answered.c.task_id == TASK.c.id, isouter=True)
        .join(SHOWN, SHOWN.c.task_id == TASK.c.id)
        .where(n < TASK.c.workers)
        .order_by(TASK.c.id, SHOWN.c.position)
    )
    found: dict[int, tuple[int, list[tuple[int, bool]]]] = {}
    for task_id, wanted, image_id, kind in project.database.rows(query):
        found.setdefault(task_id, (int(wanted), []))[1].append((image_id, kind != "negative"))
    return found


def _simulated_workers(project: Project, n: int) -> list[int]:
    """Their numbers in the database; those who are missing are added, with a token that nobody has."""
    tokens = [f"{SIMULATED}-{at}" for at in range(n)]
    rows = [{"token": token, "name": SIMULATED, "made": now(), "blocked": 0} for token in tokens]
    with project.database.writing() as connection:
        connection.execute(insert_or_leave(project.database, WORKER, rows))
        ids = dict(map(tuple, connection.execute(sa.select(WORKER.c.token, WORKER.c.id))))
    return [ids[token] for token in tokens]


def _says(
    worker: int,
    shown: list[tuple[int, bool]],
    images: Mapping[int, PoolImage],
    clearness: Mapping[int, float],
    annotators: Annotators,
    seed: int,
) -> str:
    """What a worker says of a task, a 1 or 0 for each position; an image of another class is as clearly not of this."""
    said = []
    for image_id, own in shown:
        clear = clearness[image_id] if own else -abs(clearness[image_id])
        # The number of an image that is the same in every project: the digest in its key, and the question.
        number = int(images[image_id].digest[:12], 16) * 2 + int(own)
        said.append(says_yes(clear, annotators, (number, worker), seed=seed))
    return "".join("1" if yes else "0" for yes in said)


def _row(task_id: int, worker_id: int, selected: str) -> dict[str, Any]:
    return {"task_id": task_id, "worker_id": worker_id, "selected": selected, "at": now(), "seconds": None}


def _write(project: Project, rows: list[dict[str, Any]]) -> int:
    until = (datetime.now(UTC) + timedelta(minutes=1)).isoformat(timespec="milliseconds")
    handed = [{"task_id": r["task_id"], "worker_id": r["worker_id"], "at": r["at"], "until": until} for r in rows]
    with project.database.writing() as connection:
        connection.execute(insert_or_leave(project.database, HANDED, handed))
        return int(connection.execute(insert_or_leave(project.database, ANSWER, rows)).rowcount)
