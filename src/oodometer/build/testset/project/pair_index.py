"""All close pairs of a project as numbers in memory, so that a page finds its place among many without reading them.

What two images look like by a metric never changes, so this is read once, and again when a search has added rows. What
people say changes all the time: that alone is read each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from oodometer.build.testset.likeness import within_of
from oodometer.build.testset.project.close_pairs import OPEN, VERDICTS, counting_within, thresholds_of
from oodometer.build.testset.project.database import Database
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import PAIR, sa


@dataclass(frozen=True, eq=False)
class PairIndex:
    """Every row of the table of pairs, in the order of their numbers.

    Args:
        ids: Their numbers, (R,).
        group: Which two images, (R,); two images have a row for each metric that found them.
        metrics: The names of all metrics.
        metric: The place of each row's metric among them, (R,).
        distance: By it, (R,).
    """

    ids: np.ndarray
    group: np.ndarray
    metrics: tuple[str, ...]
    metric: np.ndarray
    distance: np.ndarray

    @property
    def mark(self) -> tuple[int, int]:
        """What tells whether there are other rows by now: how many there are, and the last number."""
        return len(self.ids), int(self.ids[-1]) if len(self.ids) else 0

    def images_of(self, rows: np.ndarray) -> np.ndarray:
        """For each two images whether any of these rows is about them, (G,)."""
        wanted = np.zeros(int(self.group.max(initial=-1)) + 1, dtype=bool)
        wanted[self.group[rows]] = True
        return wanted

    def closeness(self, radii: Mapping[str, float]) -> np.ndarray:
        """The distances in thresholds, so that metrics can be compared, (R,)."""
        per_metric = np.array([within_of(radii, metric) or 1.0 for metric in self.metrics])
        return np.asarray(self.distance / per_metric[self.metric])

    def counts(self, radii: Mapping[str, float]) -> np.ndarray:
        """Whether each row makes one picture of two images as long as nobody has looked, (R,)."""
        per_metric = np.array([counting_within(radii, metric) for metric in self.metrics])
        return np.asarray(self.distance <= per_metric[self.metric])


@dataclass(frozen=True, eq=False)
class PairsNow:
    """The pairs with what people say of them at this moment.

    Args:
        index: All of them.
        said: The place of each row's verdict in ``VERDICTS``, (R,).
        radii: The thresholds that hold until somebody has looked.
    """

    index: PairIndex
    said: np.ndarray
    radii: Mapping[str, float]

    def is_said(self, verdict: str) -> np.ndarray:
        """Whether this is the verdict of each row, (R,)."""
        return np.asarray(self.said == VERDICTS.index(verdict))


def pairs_now(project: Project) -> PairsNow:
    """The pairs as things are."""
    index = pair_index(project.database)
    return PairsNow(index, _said(project.database, index), thresholds_of(project))


def _said(database: Database, index: PairIndex) -> np.ndarray:
    said = np.full(len(index.ids), VERDICTS.index(OPEN), dtype=np.int8)
    numbers = sa.func.aggregate_strings(sa.cast(PAIR.c.id, sa.Text), " ")  # one text is read faster than many rows
    query = sa.select(PAIR.c.verdict, numbers).where(PAIR.c.verdict != OPEN, PAIR.c.id <= index.mark[1])
    for verdict, text in database.rows(query.group_by(PAIR.c.verdict)):
        said[np.isin(index.ids, np.array(text.split(), dtype=np.int64))] = VERDICTS.index(verdict)
    return said


def pair_index(database: Database) -> PairIndex:
    """The pairs of a project."""
    n, last = database.rows(sa.select(sa.func.count(), sa.func.max(PAIR.c.id)).select_from(PAIR))[0]
    kept = _KEPT.get(database)
    if kept is None or kept.mark != (n, last or 0):
        kept = _KEPT[database] = _read(database)
    return kept


def _read(database: Database) -> PairIndex:
    columns = (PAIR.c.id, PAIR.c.image_id, PAIR.c.against, PAIR.c.other, PAIR.c.metric, PAIR.c.distance)
    rows = database.rows(sa.select(*columns).order_by(PAIR.c.id))
    groups: dict[tuple[Any, ...], int] = {}
    metrics: dict[str, int] = {}
    return PairIndex(
        ids=np.array([row[0] for row in rows], dtype=np.int64),
        group=np.array([groups.setdefault(tuple(row[1:4]), len(groups)) for row in rows], dtype=np.int64),
        metric=np.array([metrics.setdefault(row[4], len(metrics)) for row in rows], dtype=np.int64),
        metrics=tuple(metrics),
        distance=np.array([row[5] for row in rows], dtype=np.float64),
    )


_KEPT: WeakKeyDictionary[Database, PairIndex] = WeakKeyDictionary()
