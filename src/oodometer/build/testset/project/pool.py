"""Images come into a project: candidates from outside, originals from the set that it is a new test set for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oodometer.build.testset.candidates import Candidates
from oodometer.build.testset.project.database import as_text, from_text, insert_or_leave, is_storable, now
from oodometer.build.testset.project.image_files import keep
from oodometer.build.testset.project.offered import PROVENANCE, Offered
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import CLASS, IMAGE, SOURCE, sa
from oodometer.core.dataset import Progress, silent
from oodometer.core.errors import DataError, UsageError, did_you_mean

CANDIDATE, ORIGINAL = "candidate", "original"
AT_ONCE = 500
"""Rows of a transaction: what a kill loses of a long import is added by the same command again."""


@dataclass(frozen=True)
class Added:
    """What became of the images that were offered.

    Args:
        n_offered: All of them.
        n_added: Those that are in the pool now and were not before.
        n_there: Those that were there: the same file for the same class.
        refused: By image why it is not in the pool.
    """

    n_offered: int
    n_added: int
    n_there: int
    refused: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "offered": self.n_offered,
            "added": self.n_added,
            "there_already": self.n_there,
            "refused": dict(self.refused),
        }

    def __str__(self) -> str:
        parts = [f"{self.n_added} of {self.n_offered} images added"]
        if self.n_there:
            parts.append(f"{self.n_there} were there already")
        if self.refused:
            first, why = next(iter(self.refused.items()))
            parts.append(f"{len(self.refused)} refused, such as {first}: {why}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Provenance:
    """Where a batch of images is from.

    Args:
        address: As the user gave it.
        kind: folder, manifest, webdataset...
        licence: Of images that do not say their own.
        note: Whatever somebody should know.
    """

    address: str
    kind: str
    licence: str = ""
    note: str = ""


def add_images(
    project: Project,
    offered: Sequence[Offered],
    provenance: Provenance,
    *,
    role: str = CANDIDATE,
    skip_unknown: bool = False,
    progress: Progress = silent,
) -> Added:
    """Put images into the pool; one that can't be taken is counted with its reason, the others come in.

    A second call with the same images changes nothing.

    Args:
        skip_unknown: Whether images of classes that the project has not are refused one by one; else they are an error
            before anything comes in, since a name may be misspelled.
    """
    classes = project.class_numbers()
    unknown = sorted({one.class_name for one in offered} - set(classes))
    if unknown and not skip_unknown:
        raise DataError(
            f"{provenance.address}: {len(unknown)} classes, such as {unknown[0]!r}, are not of this project"
            f"{did_you_mean(unknown[0], classes) or '; leave them out with --skip-unknown'}"
        )
    with project.database.writing() as connection:
        source_id = connection.execute(
            sa.insert(SOURCE)
            .values(
                address=provenance.address,
                kind=provenance.kind,
                licence=provenance.licence,
                note=provenance.note,
                added=now(),
            )
            .returning(SOURCE.c.id)
        ).scalar_one()
    taken = _Taken(project, role, source_id, provenance.licence, classes)
    for start in range(0, len(offered), AT_ONCE):
        taken.take(offered[start : start + AT_ONCE])
        progress(min(start + AT_ONCE, len(offered)), len(offered))
    return Added(len(offered), taken.n_added, taken.n_there, taken.refused)


class _Taken:
    """Images on their way into the pool."""

    def __init__(self, project: Project, role: str, source_id: int, licence: str, classes: dict[str, int]) -> None:
        self.project, self.role, self.source_id = project, role, source_id
        self.licence, self.classes = licence, classes
        self.n_added = self.n_there = 0
        self.refused: dict[str, str] = {}

    def take(self, some: Sequence[Offered]) -> None:
        """Put these into the pool, together."""
        rows = []
        for one in some:
            try:
                rows.append(self._row(one))
            except DataError as error:
                self.refused[one.name] = str(error)
        with self.project.database.writing() as connection:
            for row in rows:
                added = connection.execute(insert_or_leave(self.project.database, IMAGE, row)).rowcount
                self.n_added += added
                self.n_there += 1 - added

    def _row(self, one: Offered) -> dict[str, Any]:
        if one.class_name not in self.classes:
            raise DataError(f"its class {one.class_name!r} is not of this project")
        kept = keep(self.project.folder, one.read())
        facts = dict(one.facts)
        own = {name: facts.pop(name, "") for name in PROVENANCE}
        for name, value in own.items():
            if not is_storable(value):
                raise DataError(f"its {name} has characters that no database keeps: {value!r}")
        class_id = self.classes[one.class_name]
        return {
            # The same for the same image wherever it is added: a sample must not depend on the order of the pool.
            "key": f"{self.role[0]}{class_id}-{kept.digest[:24]}",
            "role": self.role,
            "class_id": class_id,
            "source_id": self.source_id,
            "digest": kept.digest,
            "file": kept.file,
            "width": kept.width,
            "height": kept.height,
            **own,
            "licence": own["licence"] or self.licence,
            "columns": as_text({"name": one.name, **facts}),
        }


@dataclass(frozen=True)
class PoolImage:
    """An image of the pool, as the database knows it."""

    id: int
    key: str
    role: str
    class_id: int
    class_name: str
    digest: str
    file: str
    licence: str
    author: str
    url: str
    keyword: str
    columns: dict[str, str]


def pool_images(project: Project, *, role: str | None = None, class_id: int | None = None) -> list[PoolImage]:
    """The images of the pool by key, maybe of one role or class."""
    asked = ((IMAGE.c.role, role), (IMAGE.c.class_id, class_id))
    return images_where(project, *(column == value for column, value in asked if value is not None))


def images_where(project: Project, *conditions: Any) -> list[PoolImage]:
    """The images of the pool by key that fulfil conditions on their rows."""
    query = sa.select(IMAGE, CLASS.c.name.label("class_name")).join(CLASS, CLASS.c.id == IMAGE.c.class_id)
    return [_image(row) for row in project.database.rows(query.where(*conditions).order_by(IMAGE.c.key))]


def images_by_key(project: Project, keys: Iterable[str]) -> dict[str, PoolImage]:
    """These images; an error where one is not in the pool."""
    wanted = sorted(set(keys))
    storable = [key for key in wanted if is_storable(key)]
    found: dict[str, PoolImage] = {}
    for start in range(0, len(storable), AT_ONCE):
        some = images_where(project, IMAGE.c.key.in_(storable[start : start + AT_ONCE]))
        found |= {one.key: one for one in some}
    if missing := set(wanted) - set(found):
        raise UsageError(f"{_shown(min(missing))}: no image of that id in the pool of {project.folder}")
    return found


def _shown(key: str) -> str:
    return key if key.isprintable() else repr(key)


def counts_by_class(project: Project) -> dict[str, Counter[str]]:
    """By class, how many candidates and originals there are."""
    query = (
        sa.select(CLASS.c.name, IMAGE.c.role, sa.func.count())
        .join(IMAGE, IMAGE.c.class_id == CLASS.c.id, isouter=True)
        .group_by(CLASS.c.id, CLASS.c.name, IMAGE.c.role)
        .order_by(CLASS.c.id)
    )
    found: dict[str, Counter[str]] = {}
    for name, role, n in project.database.rows(query):
        found.setdefault(name, Counter())
        if role:
            found[name][role] += n
    return found


def candidates_of(images: Sequence[PoolImage], frequency: np.ndarray, n_answers: np.ndarray) -> Candidates:
    """Images of a pool as what samplers choose from, under their keys; classes by their numbers in the database."""
    names = sorted({name for one in images for name in one.columns} - {"name"})
    columns = {name: np.array([one.columns.get(name, "") for one in images], dtype=object) for name in names}
    columns["keyword"] = np.array([one.keyword for one in images], dtype=object)
    return Candidates(
        ids=tuple(one.key for one in images),
        labels=np.array([one.class_id for one in images], dtype=np.int64),
        frequency=frequency,
        n_answers=n_answers,
        columns=columns,
    )


def _image(row: Any) -> PoolImage:
    return PoolImage(
        row.id, row.key, row.role, row.class_id, row.class_name, row.digest, row.file, row.licence, row.author,
        row.url, row.keyword, from_text(row.columns),
    )  # fmt: skip
