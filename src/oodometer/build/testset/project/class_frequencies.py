"""Selection frequencies for pages that somebody waits for: means of all classes, and the images of one class.

The same numbers as in `annotated`, which reads every image and answer of a project.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from oodometer.build.testset.frequencies import INTERVAL
from oodometer.build.testset.project.annotated import ORDINARY, POSITIVE
from oodometer.build.testset.project.pool import CANDIDATE
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, IMAGE, SHOWN, TASK, WORKER, sa
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import mean_of, share_of


def mean_frequencies(project: Project) -> dict[int, Estimate]:
    """By number of a class, the mean selection frequency of its candidates with answers."""
    counts, n_answers = _counts_by_task(project)
    if not counts:
        return {}
    shown = project.database.rows(
        sa.select(SHOWN.c.task_id, SHOWN.c.position, TASK.c.class_id)
        .join(TASK, TASK.c.id == SHOWN.c.task_id)
        .where(SHOWN.c.kind == CANDIDATE, SHOWN.c.task_id.in_(sa.select(ANSWER.c.task_id)))
    )
    by_class: dict[int, list[float]] = defaultdict(list)
    for task_id, position, class_id in shown:
        if task_id in counts:  # else those who answered are blocked
            by_class[class_id].append(counts[task_id][position] / n_answers[task_id])
    return {number: mean_of(np.array(values), bounds=(0.0, 1.0)) for number, values in by_class.items()}


def frequencies_in_class(project: Project, class_id: int) -> dict[str, Estimate]:
    """By key, the selection frequency of the candidates and originals of a class that were asked about."""
    shown: dict[int, dict[int, str]] = defaultdict(dict)
    kinds = (CANDIDATE, POSITIVE, ORDINARY)
    for row in project.database.rows(
        sa.select(SHOWN.c.task_id, SHOWN.c.position, IMAGE.c.key)
        .join(TASK, TASK.c.id == SHOWN.c.task_id)
        .join(IMAGE, IMAGE.c.id == SHOWN.c.image_id)
        .where(TASK.c.class_id == class_id, SHOWN.c.kind.in_(kinds))
    ):
        shown[row.task_id][row.position] = row.key
    said: dict[tuple[str, int], bool] = {}  # the first answer of a worker about an image counts
    for row in project.database.rows(_answers().where(TASK.c.class_id == class_id)):
        for position, key in shown[row.task_id].items():
            said.setdefault((key, row.worker_id), row.selected[position] == "1")
    counted: dict[str, list[bool]] = defaultdict(list)
    for (key, _), selected in said.items():
        counted[key].append(selected)
    return {key: share_of(sum(all_), len(all_), interval=INTERVAL) for key, all_ in counted.items()}


def _counts_by_task(project: Project) -> tuple[dict[int, list[int]], dict[int, int]]:
    """By task, how often each position was selected, and how many answered."""
    texts: dict[int, list[str]] = defaultdict(list)
    for row in project.database.rows(_answers()):
        texts[row.task_id].append(row.selected)
    counts = {task: _sums(some) for task, some in texts.items()}
    return counts, {task: len(some) for task, some in texts.items()}


def _sums(texts: list[str]) -> list[int]:
    """How many of these have a 1 at each place.

    >>> _sums(["101", "100"])
    [2, 0, 1]
    """
    signs = np.frombuffer("".join(texts).encode("ascii"), dtype=np.uint8).reshape(len(texts), -1)
    sums: list[int] = (signs == ord("1")).sum(axis=0).tolist()
    return sums


def _answers() -> Any:
    """Those that count, the earliest first."""
    return (
        sa.select(ANSWER.c.task_id, ANSWER.c.worker_id, ANSWER.c.selected)
        .join(WORKER, WORKER.c.id == ANSWER.c.worker_id)
        .join(TASK, TASK.c.id == ANSWER.c.task_id)
        .where(WORKER.c.blocked == 0)
        .order_by(ANSWER.c.at, ANSWER.c.task_id)
    )
