"""Close pairs as a person looks at them: filtered, the closest first, with both images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.build.testset.likeness import within_of
from oodometer.build.testset.pair_table import PairRow
from oodometer.build.testset.project.close_pairs import OPEN, ROWS_AT_ONCE, VERDICTS, thresholds_of
from oodometer.build.testset.project.pair_index import PairIndex, PairsNow, pair_index, pairs_now
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import CLASS, IMAGE, PAIR, sa
from oodometer.core.errors import UsageError

STATES = {"open": OPEN, "duplicate": VERDICTS[0], "different": VERDICTS[1]}
MOST = 200


@dataclass(frozen=True)
class ClosePair:
    """A pair.

    Args:
        id: Its number in the table.
        key: Of the candidate; ``class_name`` what it is a candidate for.
        file: Of the candidate.
        against: The set that the other image is of; empty: the pool.
        other: The key of the other image in the project, or its id in the other set.
        distances: By metric.
        mirrored: Whether one looks like the other in a mirror.
        verdict: What a person said; empty: nobody has looked.
    """

    id: int
    key: str
    class_name: str
    file: str
    against: str
    other: str
    other_file: str
    distances: Mapping[str, float]
    mirrored: bool
    verdict: str

    def as_json(self) -> dict[str, Any]:
        """For programs; without the places of files."""
        return {
            "id": self.id,
            "key": self.key,
            "class": self.class_name,
            "against": self.against or "pool",
            "other": self.other,
            "distances": dict(self.distances),
            "mirrored": self.mirrored,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class PairFilter:
    """Which pairs.

    Args:
        metric: Found by this one; empty: by any.
        state: open, duplicate, different; empty: all.
        within: At most so far apart by the metric; None: the threshold of the project for each metric, or, infinite,
            however far.
    """

    metric: str = ""
    state: str = ""
    within: float | None = None

    def __post_init__(self) -> None:
        if self.state and self.state not in STATES:
            raise UsageError(f"no state {self.state!r}: there are {', '.join(STATES)}")
        if self.within is not None and not self.within >= 0:
            raise UsageError("within: a distance is a number of at least 0")


def listed_pairs(project: Project, asked: PairFilter | None = None, *, most: int = MOST) -> tuple[list[ClosePair], int]:
    """The first pairs of images, the closest first compared with their metric's threshold, and how many there are.

    Two images are one pair however many metrics find them close.
    """
    numbers = pair_numbers(project, asked)
    return pairs_of(project, numbers[:most]), len(numbers)


def pair_numbers(project: Project, asked: PairFilter | None = None, now: PairsNow | None = None) -> list[int]:
    """The number of each pair of images that `listed_pairs` has, in its order.

    Args:
        now: What was read already.
    """
    asked, now = asked or PairFilter(), now or pairs_now(project)
    index = now.index
    of_state = now.is_said(STATES[asked.state]) if asked.state else np.ones(len(index.ids), dtype=bool)
    wanted = index.images_of(of_state & _counts(now, asked))
    rows = np.flatnonzero(of_state & wanted[index.group])
    order = rows[np.lexsort((index.ids[rows], index.closeness(now.radii)[rows]))]
    _, first = np.unique(index.group[order], return_index=True)  # of each two images the closest row
    return [*map(int, index.ids[order[np.sort(first)]].tolist())]


def pairs_of(project: Project, numbers: Sequence[int]) -> list[ClosePair]:
    """The pairs of images of these numbers, in their order, each with all metrics that find it close."""
    index, radii = pair_index(project.database), thresholds_of(project)
    rows = {row.id: row for row in _rows(project, index.ids[_beside(index, numbers)].tolist())}
    groups: dict[tuple[int, str, str], list[Any]] = {}
    for row in rows.values():
        groups.setdefault((row.image_id, row.against, row.other), []).append(row)
    of_number = {row.id: group for group in groups.values() for row in group}
    return [_pair(of_number[number], radii) for number in numbers if number in of_number]


def number_beside(project: Project, pair: int, numbers: Sequence[int]) -> int | None:
    """The one of these numbers that is of the same two images."""
    index = pair_index(project.database)
    return next(iter(set(index.ids[_beside(index, [pair])].tolist()) & set(numbers)), None)


def counts_of_pairs(project: Project, now: PairsNow | None = None) -> dict[str, Counter[str]]:
    """By metric, how many pairs there are of each verdict; those that nobody has looked at as ``open``."""
    now = now or pairs_now(project)
    metrics = now.index.metrics
    counts = {
        state: np.bincount(now.index.metric[now.is_said(verdict)], minlength=len(metrics)).tolist()
        for state, verdict in STATES.items()
    }
    return {
        metric: Counter({state: n[metrics.index(metric)] for state, n in counts.items() if n[metrics.index(metric)]})
        for metric in sorted(metrics)
    }


def n_to_look_at(project: Project, now: PairsNow | None = None) -> tuple[int, int]:
    """How many pairs of images are below the threshold of one metric or more: nobody has looked at, and all."""
    now = now or pairs_now(project)
    judged = ~now.is_said(OPEN)
    wanted = now.index.images_of(judged | now.index.counts(now.radii))
    return int(np.sum(wanted & ~now.index.images_of(judged))), int(np.sum(wanted))


def pair_files(project: Project, pair: int) -> tuple[str, str]:
    """The files of the two images of a pair."""
    query = sa.select(IMAGE.c.file, PAIR.c.other_file).join(IMAGE, IMAGE.c.id == PAIR.c.image_id)
    for row in project.database.rows(query.where(PAIR.c.id == pair)):
        return row.file, row.other_file
    raise UsageError(f"pair {pair}: there is no such pair")


def pair_rows(project: Project) -> list[PairRow]:
    """All pairs as rows of a table, the closest first as `listed_pairs` has them; one row for each metric."""
    radii = thresholds_of(project)
    rows = project.database.rows(_query())
    rows = sorted(rows, key=lambda row: (_closeness(row, radii), row.id))
    return [
        PairRow(
            str(row.id),
            row.key,
            row.other,
            row.against or "pool",
            row.metric,
            row.distance,
            bool(row.mirrored),
            row.verdict,
        )
        for row in rows
    ]


def _query() -> Any:
    return (
        sa.select(PAIR, IMAGE.c.key, IMAGE.c.file, CLASS.c.name)
        .join(IMAGE, IMAGE.c.id == PAIR.c.image_id)
        .join(CLASS, CLASS.c.id == IMAGE.c.class_id)
    )


def _rows(project: Project, numbers: Sequence[int]) -> list[Any]:
    parts = (numbers[start : start + ROWS_AT_ONCE] for start in range(0, len(numbers), ROWS_AT_ONCE))
    return [row for part in parts for row in project.database.rows(_query().where(PAIR.c.id.in_(part)))]


def _beside(index: PairIndex, numbers: Sequence[int]) -> np.ndarray:
    """The places of all rows about the same two images as these, (B,)."""
    return np.flatnonzero(index.images_of(np.isin(index.ids, np.array(numbers, dtype=np.int64)))[index.group])


def _counts(now: PairsNow, asked: PairFilter) -> np.ndarray:
    index = now.index
    if asked.within is not None:
        counts = index.distance <= asked.within
    else:
        counts = ~now.is_said(OPEN) | index.counts(now.radii)
    if asked.metric:
        counts = counts & np.array([metric == asked.metric for metric in index.metrics], dtype=bool)[index.metric]
    return np.asarray(counts)


def _closeness(row: Any, radii: Mapping[str, float]) -> float:
    """The distance in thresholds, so that metrics can be compared."""
    radius = within_of(radii, row.metric)
    return float(row.distance / radius) if radius else float(row.distance)


def _pair(rows: list[Any], radii: Mapping[str, float]) -> ClosePair:
    first = min(rows, key=lambda row: _closeness(row, radii))
    return ClosePair(
        id=first.id,
        key=first.key,
        class_name=first.name,
        file=first.file,
        against=first.against,
        other=first.other,
        other_file=first.other_file,
        distances={row.metric: row.distance for row in sorted(rows, key=lambda row: row.metric)},
        mirrored=bool(first.mirrored),
        verdict=first.verdict,
    )
