"""A study: all models of a store on all that they were asked about, and every shift with its line.

Computed once; the report, the figures, the tables and the pages of the explorer are drawn from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oodometer.core.errors import OodometerError, StoreError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.report.points import Origin, Points
from oodometer.report.robustness import DEFAULT_OPTIONS, Robustness, RobustnessOptions, robustness_of
from oodometer.report.stored_points import CLEAN, clean_side, models_by_name, origin_of, points_of_store
from oodometer.stats.intervals import DEFAULT_INTERVAL, clopper_pearson_bounds
from oodometer.store.cells import Cell
from oodometer.store.queries import counts
from oodometer.store.shifts import StoredShift, shifts_in
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, read_tables

Picture = Callable[[Cell, str], np.ndarray | None]
"""What a model was shown in a cell as the image of that id, corrupted or not: uint8 (H, W, 3), before it was cut and
scaled for the model; None where it can't be had."""

CLEAN_NAMES = (CLEAN, "val")
"""What a clean set is called, here and in the testbed's table."""

CLEAN_OF_TABLE = {
    "imagenet-a": "val-on-imagenet-a-classes",
    "imagenet-r": "val-on-imagenet-r-classes",
    "objectnet-1.0-beta": "val-on-objectnet-classes",
    "imagenet-vid-robust_pm0": "val-on-vid-robust-classes",
    "imagenet-vid-robust_pm10": "imagenet-vid-robust_pm0",
    "ytbb-robust_pm0": "val-on-ytbb-robust-classes",
    "ytbb-robust_pm10": "ytbb-robust_pm0",
}
"""The testbed's clean sets over the same classes; the others are compared with ``val``."""

KINDS = (
    "dataset", "consistency", "adversarially filtered", "style", "attribute", "corruption", "adversarial", "other"
)  # fmt: skip
"""Natural ones first."""

KIND_OF_NAMES = (
    ("imagenet-a", "adversarially filtered"),
    ("imagenet-c", "corruption"),
    ("cifar10-c", "corruption"),
    ("greyscale", "corruption"),
    ("imagenet-vid-robust_pm10", "consistency"),
    ("ytbb-robust_pm10", "consistency"),
    ("imagenet", "dataset"),
    ("objectnet", "dataset"),
    ("ytbb", "dataset"),
    ("stylized", "style"),
    ("pgd", "adversarial"),
    ("fgsm", "adversarial"),
)
"""How names begin, and the kind that they mean where a table or a plain run does not say."""

INTERVAL = f"{DEFAULT_INTERVAL} 95%"


@dataclass(frozen=True)
class StudyModel:
    """One model; without cells where a table alone knows it."""

    name: str
    origin: Origin
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class StudyCondition:
    """What models were asked about: one column of the grid.

    Args:
        name: Its own in the study: ``fog/3``, or ``clean@DATA`` where several data sets have one of that name.
        condition, data: What the store calls it, and the images.
        accuracies: Top-1 of each model that was measured.
    """

    name: str
    condition: str
    data: str
    accuracies: Mapping[str, Estimate]

    @property
    def family(self) -> str | None:
        """The family of corruptions that it is one of."""
        return self.condition.partition("/")[0] if "/" in self.condition else None


@dataclass(frozen=True)
class StudyShift:
    """A shift: every model on both sides, and the line where there is one.

    Args:
        name: Of its shifted side; of a family, whose mean it is, the family's.
        kind: ``dataset``, ``corruption`` and so on; ``other`` where nobody says.
        points: The models that were measured on both sides.
        robustness: The line, and ρ and τ of every model; None where no line can be drawn, and ``why`` says it.
    """

    name: str
    kind: str
    points: Points
    robustness: Robustness | None
    why: str = ""


@dataclass(frozen=True)
class Study:
    """Everything that is measured.

    Args:
        models: The best on the first condition first.
        conditions: The clean sets first.
        shifts: Natural ones first.
        notes: What a reader should know: what was left out, and why.
        options: How the lines were drawn.
        picture: The images behind the predictions, where they are on disk.
    """

    store: Store
    models: tuple[StudyModel, ...]
    conditions: tuple[StudyCondition, ...]
    shifts: tuple[StudyShift, ...]
    notes: tuple[str, ...] = ()
    options: RobustnessOptions = field(default=DEFAULT_OPTIONS)
    picture: Picture | None = None

    def shift(self, name: str) -> StudyShift:
        """The shift of that name."""
        found = {one.name: one for one in self.shifts}
        if name not in found:
            raise UsageError(f"{self.store}: no shift named {name!r}{did_you_mean(name, found)}")
        return found[name]


def study_of(
    store: str | Store,
    *,
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT_OPTIONS,
    only: Sequence[str] | None = None,
) -> Study:
    """All that a store knows.

    Args:
        origins: Category and parent of models whose cards do not say.
        only: The shifts that are wanted, since each takes a while; a condition, a family, a pattern, and any of them
            with its clean set as ``SHIFT~CLEAN``. An error, where one of them can't be had.
    """
    opened = store if isinstance(store, Store) else open_store(str(store))
    said = origins or {}
    cells, tables = opened.cells(), read_tables(opened)
    if not cells and not tables:
        raise StoreError(f"{opened}: nothing in it yet; 'oodometer run' or 'oodometer import' makes it")
    named = models_by_name([cell for cell in cells if opened.row_files(cell)])
    models = [StudyModel(name, origin_of(group[0], name, said), tuple(group)) for name, group in named.items()]
    known = {model.name for model in models}
    imported = dict.fromkeys(row.model for row in tables if row.model not in known)
    models += [StudyModel(name, said.get(name, Origin())) for name in imported]
    conditions = [*_measured(opened, named), *_imported(tables, known)]
    if only is None:
        shifts, notes = _shifts(opened, conditions, said, options)
    else:
        shifts, notes = [_asked(opened, name, conditions, said, options) for name in dict.fromkeys(only)], []
    clean = {name for shift in shifts for name in shift.points.x}
    conditions.sort(key=lambda one: (one.condition not in clean, one.condition not in CLEAN_NAMES))
    first = conditions[0].accuracies
    models.sort(key=lambda one: -first[one.name].value if one.name in first else 1)
    return Study(opened, tuple(models), tuple(conditions), tuple(shifts), tuple(notes), options)


def _measured(store: Store, named: Mapping[str, Sequence[Cell]]) -> list[StudyCondition]:
    """What was run, the accuracies counted in one query."""
    names = {cell.key: name for name, group in named.items() for cell in group}
    found = [one for one in counts(store) if one.n]
    right, n = np.array([one.top1 for one in found]), np.array([one.n for one in found])
    low, high = clopper_pearson_bounds(right, n, 0.95)
    by_condition: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for place, one in enumerate(found):
        kind = (one.cell.condition_name, one.cell.data, str(one.cell.condition["data"]))
        estimate = Estimate(one.top1 / one.n, float(low[place]), float(high[place]), one.n, INTERVAL)
        by_condition.setdefault(kind, {})[names[one.cell.key]] = estimate
    return [
        StudyCondition(own, condition, data, accuracies)
        for own, ((condition, data, _), accuracies) in zip(_own_names(by_condition), by_condition.items(), strict=True)
    ]


def _own_names(kinds: Mapping[tuple[str, str, str], Any]) -> list[str]:
    """A name for each: the condition's, with that of the data where several have it, and their digest likewise."""
    keys = list(kinds)
    names = []
    for condition, data, digest in keys:
        alike = [key for key in keys if key[0] == condition]
        same_data = [key for key in alike if key[1] == data]
        end = "" if len(alike) == 1 else f"@{data}" if len(same_data) == 1 else f"@{data}@{digest[:8]}"
        names.append(f"{condition}{end}")
    return names


def _imported(tables: Sequence[Accuracy], known: set[str]) -> list[StudyCondition]:
    """The conditions of imported tables, about the models that were not run."""
    rows = [row for row in tables if row.model not in known]
    sized = [row for row in rows if row.n is not None]
    n = np.array([row.n for row in sized], dtype=np.int64)
    right = np.rint(np.array([row.accuracy for row in sized]) * n).astype(np.int64)
    low, high = clopper_pearson_bounds(right, n, 0.95)
    bounds = {(row.model, row.condition): (float(a), float(b)) for row, a, b in zip(sized, low, high, strict=True)}
    found: dict[str, dict[str, Estimate]] = {}
    for row in rows:
        ends = bounds.get((row.model, row.condition))
        estimate = (
            Estimate(row.accuracy, *ends, row.n, INTERVAL)
            if ends
            else Estimate(row.accuracy, None, None, None, "none: n is not known")
        )
        found.setdefault(row.condition, {})[row.model] = estimate
    return [StudyCondition(name, name, "imported", accuracies) for name, accuracies in found.items()]


def _shifts(
    store: Store, conditions: Sequence[StudyCondition], origins: Mapping[str, Origin], options: RobustnessOptions
) -> tuple[list[StudyShift], list[str]]:
    """Every shift, and what was left out."""
    pairs = shifts_in(store)
    standard = {str(one.standard["name"]) for one in pairs} | {*CLEAN_NAMES, *CLEAN_OF_TABLE.values()}
    names = dict.fromkeys(one.family or one.condition for one in conditions)
    found: list[StudyShift] = []
    notes: list[str] = []
    for name in names:
        if name in standard and name not in CLEAN_OF_TABLE:
            continue
        try:
            x = _clean_side(store, name, conditions, pairs)
            points = points_of_store(store, x, name, origins=origins, level=options.resampling.level)
        except OodometerError as error:
            notes.append(f"no shift of {name}: {error}")
            continue
        found.append(_with_line(name, _kind(name, pairs), points, options))
    return sorted(found, key=lambda one: KINDS.index(one.kind)), notes


def _asked(
    store: Store,
    text: str,
    conditions: Sequence[StudyCondition],
    origins: Mapping[str, Origin],
    options: RobustnessOptions,
) -> StudyShift:
    """The shift that is asked for by name, a pattern among them, with its clean set or without."""
    name, _, clean = text.partition("~")
    pairs = shifts_in(store)
    x = (clean,) if clean else _clean_side(store, name, conditions, pairs)
    points = points_of_store(store, x, name, origins=origins, level=options.resampling.level)
    return _with_line(text, _kind(name, pairs), points, options)


def _clean_side(
    store: Store, name: str, conditions: Sequence[StudyCondition], pairs: Sequence[StoredShift]
) -> tuple[str, ...]:
    """What the shift is compared with: its other side, the clean set, or the only standard side that there is."""
    known = {one.condition for one in conditions}
    sides = (CLEAN_OF_TABLE.get(name, ""),) if name in CLEAN_OF_TABLE else clean_side(store, name)
    if sides[0] in known:
        return sides
    others = [one for one in CLEAN_NAMES if one in known] or sorted({str(one.standard["name"]) for one in pairs})
    return (others[0],) if others else sides


def _with_line(name: str, kind: str, points: Points, options: RobustnessOptions) -> StudyShift:
    try:
        return StudyShift(name, kind, points, robustness_of(points, options))
    except OodometerError as error:
        return StudyShift(name, kind, points, None, str(error))


def _kind(name: str, pairs: Sequence[StoredShift]) -> str:
    """What sort of shift it is: as it was run, or by its name."""
    run = next((one.kind for one in pairs if name in (one.name, one.shifted["name"])), None)
    return run or next((kind for start, kind in KIND_OF_NAMES if name.startswith(start)), "other")
