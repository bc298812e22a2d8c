"""Annotation tasks: grids of images of one class, with hidden controls of the original set at random places.

As in Recht et al. (2019), section 3 and appendix C: 48 images of one class, among them at least three original images
of the class and three of a near one; at least ten workers answer each.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oodometer.build.testset.project.annotated import NEGATIVE, ORDINARY, POSITIVE
from oodometer.build.testset.project.database import now
from oodometer.build.testset.project.near_classes import Near
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import EXCLUSION, IMAGE, SETTING, SHOWN, TASK, sa
from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for

MOST_IMAGES = 500
"""Of a task."""

DRAWINGS = "drawings"
"""A setting of the project."""


@dataclass(frozen=True)
class Layout:
    """What a task looks like.

    Args:
        size: Images of a task at most; the tasks of a class differ by one at most.
        positive: Hidden original images of the class.
        negative: Hidden original images of a near class.
        workers: How many are to answer.
        originals: So many original images of each class, or all, are shown in some task, where the controls do not
            suffice as ordinary entries: a matched sample needs their frequencies.
    """

    size: int = 48
    positive: int = 3
    negative: int = 3
    workers: int = 10
    originals: int = 0

    def __post_init__(self) -> None:
        if min(self.positive, self.negative, self.originals) < 0 or self.workers < 1:
            raise UsageError("controls and originals must be 0 or more, and workers 1 or more")
        if self.per_task < 1 or self.size > MOST_IMAGES:
            raise UsageError(
                f"a task of {self.size} images with {self.positive} + {self.negative} controls: "
                f"it needs room for a candidate, and at most {MOST_IMAGES} images"
            )

    @property
    def per_task(self) -> int:
        """Images of a task that are no controls, at most."""
        return self.size - self.positive - self.negative


@dataclass(frozen=True)
class MadeTasks:
    """What was made.

    Args:
        tasks: By class how many.
        kinds: How many images are shown, by kind.
        notes: What somebody should know, such as where the negative controls are from.
    """

    tasks: dict[str, int]
    kinds: dict[str, int]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"tasks": dict(self.tasks), "shown": dict(self.kinds), "notes": list(self.notes)}


@dataclass(frozen=True)
class _Image:
    id: int
    key: str


@dataclass(frozen=True)
class _Pool:
    """What tasks are made of, by number of the class and in the order of keys.

    Args:
        fresh: Candidates that are in no task.
        originals: All of them.
        times: How often each original was shown for its own class.
        n_tasks: That a class has already.
    """

    fresh: dict[int, list[_Image]]
    originals: dict[int, list[_Image]]
    times: Counter[int]
    n_tasks: Counter[int]


@dataclass
class _Notes:
    """Classes for which something was not as one would wish, by what it was."""

    said: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, name: str) -> None:
        self.said.setdefault(what, []).append(name)

    def lines(self) -> tuple[str, ...]:
        return tuple(f"{what}: {len(names)} classes, such as {names[0]}" for what, names in self.said.items())


Grid = list[tuple[int, str]]
"""An image and its kind for each position."""


def make_tasks(project: Project, layout: Layout | None = None, *, near: Near | None = None, seed: int = 0) -> MadeTasks:
    """Put every candidate that is in no task yet into one.

    The images of a task and their places depend on the pool, the layout and the seed alone. What pages call them is
    drawn anew each time, so that nobody can work it out.

    Args:
        near: By class name those that its negative controls are taken from (`read_near`).
    """
    layout = layout or Layout()
    classes = project.class_numbers()
    notes, made, kinds = _Notes(), Counter[str](), Counter[str]()
    with project.database.writing() as connection:
        pool = _pool(connection)
        for name, number in classes.items():
            others = _near_numbers(name, classes, near, notes) if layout.negative else []
            rng = rng_for("tasks", name, pool.n_tasks[number], seed=seed)
            for grid in _grids(name, number, others, pool, layout, rng, notes):
                _write(connection, number, grid, layout.workers)
                made[name] += 1
                kinds.update(kind for _, kind in grid)
    return MadeTasks(dict(made), dict(kinds), notes.lines())


def drawings_count(project: Project) -> bool:
    """Whether annotators are told to select drawings and paintings, which the papers' are not."""
    return project.database.settings().get(DRAWINGS) == "yes"


def let_drawings_count(project: Project, *, count: bool = True) -> None:
    """Tell annotators to select drawings and paintings as well, as for a test set of renditions."""
    with project.database.writing() as connection:
        connection.execute(sa.delete(SETTING).where(SETTING.c.key == DRAWINGS))
        connection.execute(sa.insert(SETTING).values(key=DRAWINGS, value="yes" if count else "no"))


def _pool(connection: Any) -> _Pool:
    shown = sa.select(SHOWN.c.image_id)
    gone = sa.select(EXCLUSION.c.image_id).where(EXCLUSION.c.revoked == "")
    columns = sa.select(IMAGE.c.id, IMAGE.c.key, IMAGE.c.class_id).order_by(IMAGE.c.key)
    candidates = columns.where(IMAGE.c.role == CANDIDATE, IMAGE.c.id.not_in(shown), IMAGE.c.id.not_in(gone))
    times = (
        sa.select(SHOWN.c.image_id, sa.func.count())
        .where(SHOWN.c.kind.in_((POSITIVE, ORDINARY)))
        .group_by(SHOWN.c.image_id)
    )
    n_tasks = sa.select(TASK.c.class_id, sa.func.count()).group_by(TASK.c.class_id)
    return _Pool(
        _by_class(connection.execute(candidates)),
        _by_class(connection.execute(columns.where(IMAGE.c.role == ORIGINAL))),
        Counter(dict(map(tuple, connection.execute(times)))),
        Counter(dict(map(tuple, connection.execute(n_tasks)))),
    )


def _by_class(rows: Any) -> dict[int, list[_Image]]:
    found: dict[int, list[_Image]] = {}
    for row in rows:
        found.setdefault(row.class_id, []).append(_Image(row.id, row.key))
    return found


def _near_numbers(name: str, classes: dict[str, int], near: Near | None, notes: _Notes) -> list[int]:
    """The classes that negative controls of this one are from."""
    given = (near or {}).get(name, ())
    if given:
        return [classes[one] for one in given]
    why = "no table of near classes" if near is None else "not in the table of near classes"
    notes.add(f"{why}, so negative controls are of any other class", name)
    return [number for other, number in classes.items() if other != name]


def _grids(
    name: str, number: int, near: list[int], pool: _Pool, layout: Layout, rng: np.random.Generator, notes: _Notes
) -> list[Grid]:
    """The new tasks of a class."""
    originals = pool.originals.get(number, [])
    entries: Grid = [(one.id, CANDIDATE) for one in pool.fresh.get(number, [])]
    entries += [(one.id, ORDINARY) for one in _extra(originals, len(entries), pool, layout, rng)]
    if not entries:
        return []
    if len(originals) < layout.positive:
        notes.add(f"fewer than {layout.positive} original images for positive controls", name)
    strangers = [one for other in near for one in pool.originals.get(other, [])]
    if len(strangers) < layout.negative:
        notes.add(f"fewer than {layout.negative} original images of other classes for negative controls", name)
    n = -(-len(entries) // layout.per_task)
    shares = np.array_split(rng.permutation(len(entries)), n)
    return [_grid([entries[at] for at in share], originals, strangers, pool.times, layout, rng) for share in shares]


def _grid(
    entries: Grid,
    originals: Sequence[_Image],
    strangers: Sequence[_Image],
    times: Counter[int],
    layout: Layout,
    rng: np.random.Generator,
) -> Grid:
    """Entries and controls at random places. Positive controls go round: the originals that were shown least."""
    there = {image_id for image_id, _ in entries}
    times.update(image_id for image_id, kind in entries if kind == ORDINARY)
    mine = _least_shown([one for one in originals if one.id not in there], times, layout.positive, rng)
    times.update(one.id for one in mine)
    others = [strangers[at] for at in rng.permutation(len(strangers))[: layout.negative]]
    whole = entries + [(one.id, POSITIVE) for one in mine] + [(one.id, NEGATIVE) for one in others]
    return [whole[at] for at in rng.permutation(len(whole))]


def _extra(
    originals: Sequence[_Image], n_fresh: int, pool: _Pool, layout: Layout, rng: np.random.Generator
) -> list[_Image]:
    """Originals that have to be ordinary entries, because too few would be shown otherwise."""
    unseen = [one for one in originals if not pool.times[one.id]]
    n_controls = -(-n_fresh // layout.per_task) * layout.positive
    wanted = min(layout.originals, len(originals)) - (len(originals) - len(unseen))
    return _least_shown(unseen, pool.times, max(wanted - n_controls, 0), rng)


def _least_shown(images: Sequence[_Image], times: Counter[int], n: int, rng: np.random.Generator) -> list[_Image]:
    drawn = [images[at] for at in rng.permutation(len(images))]
    return sorted(drawn, key=lambda one: times[one.id])[:n]  # a stable sort: equals stay in drawn order


def _write(connection: Any, number: int, grid: Grid, workers: int) -> None:
    values = {"key": secrets.token_urlsafe(12), "class_id": number, "made": now(), "workers": workers}
    task_id = connection.execute(sa.insert(TASK).values(values).returning(TASK.c.id)).scalar_one()
    rows = [
        {"task_id": task_id, "position": at, "image_id": image_id, "kind": kind, "key": secrets.token_urlsafe(12)}
        for at, (image_id, kind) in enumerate(grid)
    ]
    connection.execute(sa.insert(SHOWN), rows)
