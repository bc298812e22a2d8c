"""Near-duplicates of candidates: in the pool, among the original images, and in any other set, such as a training set.

Every close pair is a row of a table, with the distance by each metric that finds it. A person says of each whether it
is one picture; a verdict is about two images, whatever the metric that brought them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oodometer.build.testset.likeness import (
    DEFAULT_METRICS,
    DUPLICATE_WITHIN,
    Found,
    Reach,
    check_metrics,
    close_between,
    close_inside,
    within_of,
)
from oodometer.build.testset.pairs import Pairs
from oodometer.build.testset.project.database import as_text, from_text, insert_or_leave, now, settings_in
from oodometer.build.testset.project.image_files import keep
from oodometer.build.testset.project.kept_pictures import KeptPictures
from oodometer.build.testset.project.offered import content_of
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, PoolImage, images_by_key, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import IMAGE, PAIR, SETTING, sa
from oodometer.build.testset.project.searched import note_search
from oodometer.core.dataset import Dataset, Progress, silent
from oodometer.core.errors import DataError, UsageError
from oodometer.data.load import load_data

POOL, ORIGINALS = "", "original"
"""What pairs of the table are against; any other is an address."""
DUPLICATE, DIFFERENT, OPEN = "duplicate", "different", ""
VERDICTS = (DUPLICATE, DIFFERENT, OPEN)
BY_EYE = "by eye"
"""The metric of a pair that a person found."""

ROWS_AT_ONCE = 500
NOT_LOOKED = {"verdict": OPEN, "at": "", "by": ""}
WHOLE_REACH = Reach()
THRESHOLDS = "duplicate thresholds"


@dataclass(frozen=True)
class DuplicateSearch:
    """What a search added to the table.

    Args:
        n_found: Pairs, by what they are against and by metric.
        n_added: Those of them that were not in the table.
        unreadable: Images that can't be read, with the reason; they are in no pair.
    """

    n_found: Mapping[str, Mapping[str, int]]
    n_added: int
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        found = {against or "pool": dict(counts) for against, counts in self.n_found.items()}
        return {"found": found, "added": self.n_added, "unreadable": dict(self.unreadable)}


def find_duplicates(
    project: Project,
    against: Sequence[str] = (),
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    reach: Reach = WHOLE_REACH,
    progress: Progress = silent,
) -> DuplicateSearch:
    """Look for near-duplicates of the candidates: in the pool, among the originals, and in the sets at these addresses.

    A second call adds nothing twice, and leaves what people said as it is. The other image of a pair with another set
    is copied into the project, so that it can be looked at.

    Args:
        against: Addresses of other data, for example of a training set.
        metrics: ``pixels``, ``structure``, ``crops``, ``soft-pixels``, ``features:MODEL``.
        reach: How many neighbours of each image, and how far apart at most.
    """
    names = check_metrics(metrics)
    others = {address: load_data(address) for address in against}  # a wrong address is told before the work begins
    candidates = pool_images(project, role=CANDIDATE)
    if not candidates:
        raise DataError(f"{project.folder}: no candidates yet; add some with: oodometer testset add")
    pictures = _pictures(project, candidates)
    writer = _Writer(project, candidates)
    writer.write(POOL, close_inside(pictures, names, reach, progress=progress), _of_pool(candidates))
    originals = pool_images(project, role=ORIGINAL)
    if originals:
        found = close_between(pictures, _pictures(project, originals), names, reach, progress=progress)
        writer.write(ORIGINALS, found, _of_pool(originals))
    for address, data in others.items():
        found = close_between(pictures, data, names, reach, progress=progress)
        writer.write(address, found, _copied(project, data))
    note_search(project)
    return DuplicateSearch(writer.n_found, writer.n_added, writer.unreadable)


def judge_pair(project: Project, pair: int, verdict: str, *, by: str) -> None:
    """Say of a pair whether it is one picture (``duplicate``), two (``different``), or open again (empty).

    Rows of other metrics about the same two images get the same verdict.
    """
    judge_pairs(project, {pair: verdict}, by=by)


def judge_pairs(project: Project, said: Mapping[int, str], *, by: str) -> None:
    """Say it of several, by their numbers: of all, or, where one is wrong, of none. ``open`` opens one again."""
    meant = {pair: OPEN if verdict == "open" else verdict for pair, verdict in said.items()}
    for pair, verdict in meant.items():
        if verdict not in VERDICTS:
            raise UsageError(
                f"pair {pair}: no verdict {verdict!r}: say {DUPLICATE}, {DIFFERENT}, or open it again, with open"
            )
    with project.database.writing() as connection:
        for pair, verdict in meant.items():
            row = connection.execute(sa.select(PAIR).where(PAIR.c.id == pair)).first()
            if row is None:
                raise UsageError(f"pair {pair}: there is no such pair")
            same = (PAIR.c.image_id == row.image_id) & (PAIR.c.against == row.against) & (PAIR.c.other == row.other)
            values = {"verdict": verdict, "at": now() if verdict else "", "by": by if verdict else ""}
            connection.execute(sa.update(PAIR).where(same).values(**values))


def mark_duplicates(project: Project, keys: Iterable[str], *, by: str) -> int:
    """Say of images that a person found that they are one picture; gives how many pairs that makes.

    One of them is a candidate, or more; originals may be among them.
    """
    images = sorted(images_by_key(project, keys).values(), key=lambda one: (one.role, one.key))
    if len(images) < 2 or images[0].role != CANDIDATE:
        raise UsageError("near-duplicates are two images or more, of which one is a candidate")
    first, others = images[0], images[1:]
    with project.database.writing() as connection:
        for one in others:
            connection.execute(insert_or_leave(project.database, PAIR, _by_eye(first, one)))
            against = ORIGINALS if one.role == ORIGINAL else POOL
            same = (PAIR.c.image_id == first.id) & (PAIR.c.against == against) & (PAIR.c.other == one.key)
            connection.execute(sa.update(PAIR).where(same).values(verdict=DUPLICATE, at=now(), by=by))
    return len(others)


def thresholds_of(project: Project) -> dict[str, float]:
    """By metric, how close a pair must be to count as one picture as long as nobody has looked at it."""
    kept = project.database.settings().get(THRESHOLDS, "")
    return {**DUPLICATE_WITHIN, **from_text(kept)}


def counting_within(radii: Mapping[str, float], metric: str) -> float:
    """Up to which distance a pair counts as one picture as long as nobody has looked; below 0 where none does.

    >>> counting_within({"pixels": 0.05, "crops": 0.0}, "pixels"), counting_within({"crops": 0.0}, "crops")
    (0.05, -1.0)
    """
    radius = within_of(radii, metric)
    return radius if radius > 0 and metric != BY_EYE else -1.0


def set_thresholds(project: Project, thresholds: Mapping[str, float]) -> None:
    """Change some thresholds; 0 leaves a metric's pairs in, however close, until somebody has looked."""
    for metric, radius in thresholds.items():
        if metric != "features":
            check_metrics([metric])
        if not 0 <= radius < float("inf"):
            raise UsageError(f"--threshold {metric}={radius}: a distance is a number of at least 0")
    with project.database.writing() as connection:
        text = as_text({**from_text(settings_in(connection).get(THRESHOLDS, "")), **thresholds})
        connection.execute(insert_or_leave(project.database, SETTING, {"key": THRESHOLDS, "value": text}))
        connection.execute(sa.update(SETTING).where(SETTING.c.key == THRESHOLDS).values(value=text))


def verdicts(project: Project, *, verdict: str | None = None) -> list[tuple[str, str, str, str]]:
    """What people said: the key of the candidate, what the pair is against, the other image, and the verdict."""
    query = (
        sa.select(IMAGE.c.key, PAIR.c.against, PAIR.c.other, PAIR.c.verdict)
        .join(IMAGE, IMAGE.c.id == PAIR.c.image_id)
        .where(PAIR.c.verdict != OPEN if verdict is None else PAIR.c.verdict == verdict)
        .distinct()
    )
    return sorted(tuple(row) for row in project.database.rows(query))


class _Writer:
    """Puts pairs into the table."""

    def __init__(self, project: Project, candidates: Sequence[PoolImage]) -> None:
        self.project, self.candidates = project, candidates
        self.n_found: dict[str, dict[str, int]] = {}
        self.n_added = 0
        self.unreadable: dict[str, str] = {}

    def write(self, against: str, found: Found, other: Callable[[int], tuple[str, str]]) -> None:
        """Add these, where ``other`` gives the name and the file of the second image of a pair by its position."""
        self.n_found[against] = {metric: len(pairs) for metric, pairs in found.pairs.items()}
        self.unreadable |= {f"{against or 'pool'}: {at}": why for at, why in found.unreadable.items()}
        for metric, pairs in found.pairs.items():
            self._write_metric(against, metric, pairs, other)

    def _write_metric(self, against: str, metric: str, pairs: Pairs, other: Callable[[int], tuple[str, str]]) -> None:
        values = list(zip(*(column.tolist() for column in _columns(pairs)), strict=True))
        for start in range(0, len(values), ROWS_AT_ONCE):
            rows = []
            for first, second, distance, mirrored in values[start : start + ROWS_AT_ONCE]:
                image, (name, file) = self.candidates[first], other(second)
                rows.append(
                    {
                        "image_id": image.id,
                        "against": against,
                        "other": name,
                        "other_file": file,
                        "metric": metric,
                        "distance": distance,
                        "mirrored": int(mirrored),
                    }
                )
            self._add(rows)

    def _add(self, rows: Sequence[dict[str, Any]]) -> None:
        with self.project.database.writing() as connection:
            known = _known_verdicts(connection, {row["image_id"] for row in rows})  # maybe said during the search
            judged = [row | known.get((row["image_id"], row["against"], row["other"]), NOT_LOOKED) for row in rows]
            self.n_added += connection.execute(insert_or_leave(self.project.database, PAIR, judged)).rowcount


def _known_verdicts(connection: Any, images: Iterable[int]) -> dict[tuple[int, str, str], dict[str, str]]:
    """What people said of two images by one metric holds for a pair that another metric finds."""
    query = sa.select(PAIR).where(PAIR.c.verdict != OPEN, PAIR.c.image_id.in_(images))
    return {
        (row.image_id, row.against, row.other): {"verdict": row.verdict, "at": row.at, "by": row.by}
        for row in connection.execute(query)
    }


def _columns(pairs: Pairs) -> tuple[Any, ...]:
    return pairs.first, pairs.second, pairs.distance, pairs.mirrored


def _pictures(project: Project, images: Sequence[PoolImage]) -> KeptPictures:
    return KeptPictures(project.folder, tuple(one.file for one in images))


def _of_pool(images: Sequence[PoolImage]) -> Callable[[int], tuple[str, str]]:
    return lambda at: (images[at].key, images[at].file)


def _copied(project: Project, data: Dataset) -> Callable[[int], tuple[str, str]]:
    files: dict[int, str] = {}

    def other(at: int) -> tuple[str, str]:
        if at not in files:
            files[at] = keep(project.folder, content_of(data, at)).file
        return data.ids[at], files[at]

    return other


def _by_eye(first: PoolImage, other: PoolImage) -> dict[str, Any]:
    return {
        "image_id": first.id,
        "against": ORIGINALS if other.role == ORIGINAL else POOL,
        "other": other.key,
        "other_file": other.file,
        "metric": BY_EYE,
        "distance": 0.0,
        "mirrored": 0,
        "verdict": DUPLICATE,
        "at": "",
        "by": "",
    }
