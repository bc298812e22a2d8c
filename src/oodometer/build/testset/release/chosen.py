"""What a revision consists of: its images, what was known of each when it was sampled, and how they were chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oodometer.build.testset.project.database import from_text
from oodometer.build.testset.project.pool import CANDIDATE, PoolImage, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import FILTERS, ORIGINALS, OUT, POOL
from oodometer.build.testset.project.schema import CHOSEN, REVISION, sa
from oodometer.build.testset.project.simulate import n_simulated
from oodometer.core.errors import DataError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import mean_of


@dataclass(frozen=True)
class ChosenImage:
    """An image of a revision, with its selection frequency; None where nobody was asked."""

    image: PoolImage
    frequency: float | None
    n_answers: int


@dataclass(frozen=True)
class Step:
    """One revision on the way to the released one: what was sampled how."""

    revision: int
    parent: int | None
    sampler: str
    arguments: Mapping[str, Any]
    seed: int
    counts: Mapping[str, Any]
    at: str
    note: str


@dataclass(frozen=True)
class Revision:
    """A revision, whole.

    Args:
        steps: From the first revision to this one.
        images: By class and key.
        funnel: What was left after each step when it was sampled, in order: (what, how many).
        excluded: By reason, how many candidates could not be chosen then.
        filters: Rules of filtration that were applied: rule, arguments, funnel.
        reached: The mean selection frequency of the images; None without answers.
        original: That of the annotated original images; None without answers.
        classes: Their names by number.
        n_simulated: Answers of simulated annotators among those behind it.
    """

    steps: tuple[Step, ...]
    images: tuple[ChosenImage, ...]
    funnel: tuple[tuple[str, int], ...]
    excluded: Mapping[str, int]
    filters: tuple[Mapping[str, Any], ...]
    reached: Estimate | None
    original: Estimate | None
    classes: Mapping[int, str] = field(default_factory=dict)
    n_simulated: int = 0

    @property
    def number(self) -> int:
        """Of the revision."""
        return self.steps[-1].revision


def revision_of(project: Project, number: int | None = None) -> Revision:
    """A revision of a project; by default the latest."""
    steps = _steps(project, number)
    rows = project.database.rows(sa.select(CHOSEN).where(CHOSEN.c.revision_id == steps[-1].revision))
    if not rows:
        raise DataError(f"revision {steps[-1].revision} has no images: there is nothing to release")
    said = {row.image_id: row for row in rows}
    images = [
        ChosenImage(image, said[image.id].frequency, said[image.id].n_answers)
        for image in sorted(pool_images(project, role=CANDIDATE), key=lambda image: (image.class_name, image.key))
        if image.id in said
    ]
    counts = steps[-1].counts
    return Revision(
        steps=steps,
        images=tuple(images),
        funnel=_funnel(counts, len(images)),
        excluded=dict(counts[OUT]),
        filters=tuple(counts[FILTERS]),
        reached=_mean(np.array([one.frequency for one in images if one.frequency is not None])),
        original=None if counts[ORIGINALS] is None else Estimate(**counts[ORIGINALS]),
        classes={number: entry.name for number, entry in project.classes().items()},
        n_simulated=n_simulated(project),
    )


def _mean(values: np.ndarray) -> Estimate | None:
    return mean_of(values, bounds=(0.0, 1.0)) if len(values) else None


def _steps(project: Project, number: int | None) -> tuple[Step, ...]:
    rows = {row.id: row for row in project.database.rows(sa.select(REVISION))}
    if not rows:
        raise UsageError(f"{project.folder}: nothing is sampled yet; first: oodometer testset sample {project.folder}")
    at: int | None = max(rows) if number is None else number
    if at not in rows:
        raise UsageError(f"no revision {number}; there are {', '.join(map(str, sorted(rows)))}")
    found: list[Step] = []
    while at is not None:
        row = rows[at]
        arguments, counts = from_text(row.arguments), from_text(row.counts)
        found.append(Step(row.id, row.parent_id, row.sampler, arguments, row.seed, counts, row.at, row.note))
        at = row.parent_id
    return tuple(reversed(found))


def _funnel(counts: Mapping[str, Any], n_chosen: int) -> tuple[tuple[str, int], ...]:
    n_out = sum(counts[OUT].values())
    pool = counts[POOL]
    return (
        ("candidates", pool["candidates"]),
        ("annotated", pool["annotated"]),
        ("left to choose from", pool["candidates"] - n_out),
        ("chosen", n_chosen),
    )
