"""What annotators said in a project: their answers, and the images with their selection frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.build.testset.answers import CANDIDATE as UNKNOWN
from oodometer.build.testset.answers import NEAR_CLASS, SHOWS_CLASS, Answers, without_workers
from oodometer.build.testset.candidates import Candidates
from oodometer.build.testset.frequencies import Frequencies, selection_frequencies
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, PoolImage, candidates_of, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, SHOWN, TASK, WORKER, sa
from oodometer.build.testset.workers import spammers, worker_qualities
from oodometer.core.errors import DataError

POSITIVE, NEGATIVE, ORDINARY = "positive", "negative", "original"
"""Kinds of shown originals: controls that show the class or do not, and such as are there for their frequency alone."""

KNOWN = {POSITIVE: SHOWS_CLASS, NEGATIVE: NEAR_CLASS}


@dataclass(frozen=True, eq=False)
class Asked:
    """Questions, each whether an image shows a class, and what was answered.

    Args:
        images: Of each question; a negative control is of another class than it asks about.
        classes: The number of the class that is asked about, (Q,).
        answers: Its images are the questions, by number.
        workers: The number in the database of each worker of the answers, (W,).
    """

    images: tuple[PoolImage, ...]
    classes: np.ndarray
    answers: Answers
    workers: np.ndarray

    @property
    def own_class(self) -> np.ndarray:
        """Which questions ask about the class that the image is in the pool for, (Q,) bool."""
        return np.asarray(np.array([one.class_id for one in self.images], dtype=np.int64) == self.classes)


def answers_of(project: Project) -> Asked:
    """All that was asked and answered, but by workers who are blocked.

    A control is shown in many tasks, so that one worker may meet it twice: their first answer counts.
    """
    shown = _shown(project)
    numbers, known = _questions(shown)
    by_task = _positions(shown, numbers)
    rows = project.database.rows(
        sa.select(ANSWER.c.task_id, ANSWER.c.worker_id, ANSWER.c.selected)
        .join(WORKER, WORKER.c.id == ANSWER.c.worker_id)
        .where(WORKER.c.blocked == 0)
        .order_by(ANSWER.c.at, ANSWER.c.task_id)
    )
    workers = np.unique(np.array([row.worker_id for row in rows], dtype=np.int64))
    images = {one.id: one for one in pool_images(project)}
    return Asked(
        tuple(images[image_id] for image_id, _ in numbers),
        np.array([class_id for _, class_id in numbers], dtype=np.int64),
        _first_answers(rows, by_task, workers, known),
        workers,
    )


def spammers_of(asked: Asked) -> np.ndarray:
    """Which workers the controls show to be spammers, (W,) bool."""
    if len(asked.workers) == 0:
        return np.zeros(0, dtype=bool)
    return spammers(worker_qualities(asked.answers))


def frequencies_of(asked: Asked, *, without_spammers: bool = False, level: float = 0.95) -> Frequencies:
    """The selection frequency of each question, maybe without the answers of spammers."""
    answers = without_workers(asked.answers, spammers_of(asked)) if without_spammers else asked.answers
    return selection_frequencies(answers, level=level)


def candidates_with_frequencies(
    project: Project, *, least_answers: int = 1, without_spammers: bool = False
) -> tuple[Candidates, dict[int, np.ndarray]]:
    """All candidates for samplers, and by number of a class the frequencies of its annotated originals.

    Args:
        least_answers: Originals with fewer are not in the frequencies; candidates stay, whatever they have.
        without_spammers: Whether to leave the answers of spammers out.
    """
    asked = answers_of(project)
    found = frequencies_of(asked, without_spammers=without_spammers)
    own_class = asked.own_class
    row_of = {one.id: at for at, one in enumerate(asked.images) if own_class[at]}
    images = pool_images(project, role=CANDIDATE)
    rows = np.array([row_of.get(one.id, -1) for one in images], dtype=np.int64)
    frequency, n_answers = np.full(len(images), np.nan), np.zeros(len(images), dtype=np.int64)
    frequency[rows >= 0] = found.frequency[rows[rows >= 0]]
    n_answers[rows >= 0] = found.n_answers[rows[rows >= 0]]
    return candidates_of(images, frequency, n_answers), _of_originals(asked, found, max(least_answers, 1))


def _of_originals(asked: Asked, found: Frequencies, least: int) -> dict[int, np.ndarray]:
    original = np.array([one.role == ORIGINAL for one in asked.images], dtype=bool)
    enough = original & asked.own_class & (found.n_answers >= least)
    return {int(code): found.frequency[enough & (asked.classes == code)] for code in np.unique(asked.classes[enough])}


def _shown(project: Project) -> list[tuple[int, int, int, int, str]]:
    """Task, position, image, class that is asked about, and kind."""
    query = sa.select(SHOWN.c.task_id, SHOWN.c.position, SHOWN.c.image_id, TASK.c.class_id, SHOWN.c.kind)
    query = query.join(TASK, TASK.c.id == SHOWN.c.task_id).order_by(SHOWN.c.task_id, SHOWN.c.position)
    return [tuple(row) for row in project.database.rows(query)]


def _questions(shown: list[tuple[int, int, int, int, str]]) -> tuple[dict[tuple[int, int], int], np.ndarray]:
    """The number of each (image, class), and what is known of it: what was a control once is one."""
    known: dict[tuple[int, int], int] = {}
    for _, _, image_id, class_id, kind in shown:
        key = (image_id, class_id)
        known[key] = max(known.get(key, UNKNOWN), KNOWN.get(kind, UNKNOWN))
    return {key: at for at, key in enumerate(known)}, np.array(list(known.values()), dtype=np.int8)


def _positions(
    shown: list[tuple[int, int, int, int, str]], numbers: dict[tuple[int, int], int]
) -> dict[int, np.ndarray]:
    """By task the question at each position."""
    found: dict[int, list[int]] = {}
    for task_id, _, image_id, class_id, _ in shown:
        found.setdefault(task_id, []).append(numbers[image_id, class_id])
    return {task_id: np.array(questions, dtype=np.int64) for task_id, questions in found.items()}


def _first_answers(rows: list[Any], by_task: dict[int, np.ndarray], workers: np.ndarray, known: np.ndarray) -> Answers:
    empty = np.zeros(0, dtype=np.int64)
    images, people, said = [empty], [empty], [empty]
    for row in rows:
        selected = np.frombuffer(row.selected.encode("ascii"), dtype=np.uint8).astype(np.int64) - ord("0")
        if len(selected) != len(by_task[row.task_id]):
            raise DataError(f"an answer to task {row.task_id} has {len(selected)} places: the database is damaged")
        images.append(by_task[row.task_id])
        people.append(np.full(len(selected), np.searchsorted(workers, row.worker_id), dtype=np.int64))
        said.append(selected)
    image, worker, selected = (np.concatenate(parts) for parts in (images, people, said))
    _, first = np.unique(image * max(len(workers), 1) + worker, return_index=True)
    return Answers(image[first], worker[first], selected[first] == 1, len(known), len(workers), known)
