"""The shifts of a study: what is compared with what, and the line of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from oodometer.analysis.accuracy_pairs import Origin, Points, points_of_table
from oodometer.analysis.corruption_scores import data_of
from oodometer.analysis.families import family_of
from oodometer.analysis.robustness import RobustnessOptions, robustness_of
from oodometer.analysis.stored_pairs import points_of_models, same_photographs
from oodometer.core.digests import digest_of
from oodometer.core.errors import OodometerError, StoreError
from oodometer.store.cells import Cell
from oodometer.store.images import images_of
from oodometer.store.shifts import StoredShift, shifts_in
from oodometer.store.store import Store
from oodometer.store.tables import Accuracy
from oodometer.study.grid import IMPORTED, Grid
from oodometer.study.kinds import CLEAN_NAMES, KINDS, clean_of, is_clean, kind_of
from oodometer.study.study import StudyShift

FILTERED = "adversarially filtered"
FILTERED_BY = "resnet50"
"""The model by whose mistakes ImageNet-A was chosen: there the published line has its knee."""


@dataclass(frozen=True)
class Found:
    """The shifts that there are, and why others are not."""

    shifts: tuple[StudyShift, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Sides:
    """The cells of a shift.

    Args:
        name: Of the shifted condition, or of the family.
        mark: Behind the name, where others have it too: their data, or what they are compared with.
        standard, shifted: Of all models.
    """

    name: str
    kind: str
    mark: str
    standard: tuple[Cell, ...]
    shifted: tuple[Cell, ...]

    @property
    def first_cells(self) -> tuple[Cell, ...]:
        """One cell of the standard side, and all of the other."""
        return self.standard[0], *self.shifted


def stored_shifts(store: Store, grid: Grid, origins: Mapping[str, Origin], options: RobustnessOptions) -> Found:
    """The shifts among predictions: pairs that were run, and corruptions of a clean set."""
    found: list[StudyShift] = []
    notes: list[str] = []
    for sides in _all_sides(store, [cell for cells in grid.cells.values() for cell in cells], notes):
        try:
            points = _points(store, sides, grid.cells, origins, options.resampling.level)
        except OodometerError as error:
            notes.append(f"no shift of {sides.name}: {error}")
            continue
        standard, *shifted = grid.names_of(sides.first_cells)
        own = sides.name if family_of(sides.shifted[0].condition_name) else shifted[0]
        drawn = with_line(f"{own}{sides.mark}", sides.kind, points, options)
        found.append(replace(drawn, standard=standard, shifted=tuple(shifted)))
    return Found(in_order(found), tuple(notes))


def table_shifts(
    rows: Sequence[Accuracy], taken: set[str], origins: Mapping[str, Origin], options: RobustnessOptions
) -> Found:
    """The shifts of imported tables: each condition, or family of them, against its clean set.

    Args:
        taken: Names of the conditions and shifts among predictions.
    """

    def own(name: str) -> str:
        return f"{name}@{IMPORTED}" if name in taken else name

    by_condition: dict[str, list[Accuracy]] = {}
    for row in rows:
        by_condition.setdefault(row.condition, []).append(row)
    found: list[StudyShift] = []
    notes: list[str] = []
    for name, conditions in _shifted_of_table(by_condition).items():
        clean = clean_of(name) or next((one for one in CLEAN_NAMES if one in by_condition), CLEAN_NAMES[0])
        some = [row for one in (clean, *conditions) for row in by_condition.get(one, ())]
        try:
            points = points_of_table(some, (clean,), name, origins=origins, level=options.resampling.level)
        except OodometerError as error:
            notes.append(f"no shift of {name}: {error}")
            continue
        drawn = with_line(own(name), kind_of(name), points, options)
        found.append(replace(drawn, standard=own(clean), shifted=tuple(own(one) for one in conditions)))
    return Found(in_order(found), tuple(notes))


def in_order(shifts: Sequence[StudyShift]) -> tuple[StudyShift, ...]:
    """Natural ones first, each kind together."""
    return tuple(sorted(shifts, key=lambda one: (not one.natural, KINDS.index(one.kind))))


def with_line(name: str, kind: str, points: Points, options: RobustnessOptions) -> StudyShift:
    """The shift with its line where one can be drawn; with a knee where a model's mistakes chose the images."""
    if kind != FILTERED:
        return with_line_as_said(name, kind, points, replace(options, knee=None))
    bent = options.knee if options.knee is not None else _filtering(points)
    found = with_line_as_said(name, kind, points, replace(options, knee=bent))
    if found.robustness or bent is None or options.knee is not None:
        return found
    straight = with_line_as_said(name, kind, points, options)
    return replace(straight, why=f"no knee at {bent}: {found.why}")


def with_line_as_said(name: str, kind: str, points: Points, options: RobustnessOptions) -> StudyShift:
    """The shift with the line that the options ask for, where it can be drawn."""
    try:
        return StudyShift(name, kind, points, robustness_of(points, options))
    except OodometerError as error:
        return StudyShift(name, kind, points, None, str(error))


def _filtering(points: Points) -> str | None:
    """The model that chose the images of ImageNet-A, if it is among these."""
    known = points.y.startswith("imagenet-a") and any(one.model == FILTERED_BY for one in points.models)
    return FILTERED_BY if known else None


def _shifted_of_table(known: Mapping[str, Sequence[Accuracy]]) -> dict[str, list[str]]:
    """Every shift of a table, and the conditions that it is the mean of."""
    found: dict[str, list[str]] = {}
    for name in known:
        if not is_clean(name):
            found.setdefault(family_of(name) or name, []).append(name)
    return found


def _all_sides(store: Store, cells: Sequence[Cell], notes: list[str]) -> Iterator[Sides]:
    """Every shift with its cells; what can't be compared is noted."""
    pairs = _pairs(store, notes)
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(_group(cell), []).append(cell)
    standards = {key: group for key, group in groups.items() if _is_standard(group[0], pairs)}
    shifted = {
        key: group
        for key, group in groups.items()
        if key not in standards or any(pair.is_shifted(group[0]) for pair in pairs)
    }
    marks = _marks([group[0] for group in shifted.values()])
    for (name, *_), group, mark in zip(shifted, shifted.values(), marks, strict=True):
        if twice := _run_twice(group):
            notes.append(f"no shift of {name}: {twice} was run with several seeds or strengths; keep each apart")
            continue
        kind, sides = _standard_sides(store, group, pairs, standards)
        if not sides:
            notes.append(f"no shift of {name}: no clean set over its classes was run, to compare it with")
        for standard in sides:
            against = f" against {standard[0].condition_name}" if len(sides) > 1 else ""
            yield Sides(name, kind, f"{mark}{against}", tuple(standard), tuple(group))


def _marks(cells: Sequence[Cell]) -> list[str]:
    """What tells the families of these cells apart where they share a name; conditions have names of their own."""
    data = [(family_of(cell.condition_name), _data_name(cell), data_of(cell)) for cell in cells]
    marks = []
    for family, name, digest in data:
        alike = [one for one in data if one[0] == family]
        same = len({one[2] for one in alike if one[1] == name}) > 1
        marks.append("" if family is None or len(alike) == 1 else f"@{name}@{digest[:8]}" if same else f"@{name}")
    return marks


def _run_twice(group: Sequence[Cell]) -> str | None:
    """A condition of a family that there is in several ways."""
    ways: dict[str, set[str]] = {}
    for cell in group:
        ways.setdefault(cell.condition_name, set()).add(digest_of(cell.condition))
    return next((name for name, found in ways.items() if len(found) > 1), None)


def _pairs(store: Store, notes: list[str]) -> list[StoredShift]:
    try:
        return shifts_in(store)
    except StoreError as error:
        notes.append(f"the pairs that were run can't be read: {error}")
        return []


def _group(cell: Cell) -> tuple[str, ...]:
    """What the cells of one shifted side have in common, over all models: the condition, or a family on its data."""
    family = family_of(cell.condition_name)
    if family is None:
        return cell.condition_name, digest_of(cell.condition)
    return family, data_of(cell), str(cell.condition["label_map"])


def _is_standard(cell: Cell, pairs: Sequence[StoredShift]) -> bool:
    return is_clean(cell.condition_name) or any(pair.is_standard(cell) for pair in pairs)


def _standard_sides(
    store: Store,
    shifted: Sequence[Cell],
    pairs: Sequence[StoredShift],
    standards: Mapping[tuple[str, ...], list[Cell]],
) -> tuple[str, list[list[Cell]]]:
    """The kind of the shift, and what it is compared with: its other side where it was run as a pair."""
    run = [pair for pair in pairs if pair.is_shifted(shifted[0])]
    if run:
        sides = [group for group in standards.values() if any(pair.is_standard(group[0]) for pair in run)]
        if sides:
            return run[0].kind, sides
    kind = "adversarial" if "attack" in shifted[0].condition else kind_of(shifted[0].condition_name)
    label_map = shifted[0].condition["label_map"]
    fit = [group for group in standards.values() if group[0].condition["label_map"] == label_map]
    return (run[0].kind if run else kind), _nearest(store, shifted[0], fit)


def _nearest(store: Store, shifted: Cell, standards: Sequence[list[Cell]]) -> list[list[Cell]]:
    """The clean set of the same data; else the one that has these photographs; else the first."""
    same = [group for group in standards if group[0].condition["data"] == shifted.condition["data"]]
    if not same and len(standards) > 1:
        same = [group for group in standards if _of_same_photographs(store, group[0], shifted)]
    return (same or list(standards))[:1]


def _of_same_photographs(store: Store, a: Cell, b: Cell) -> bool:
    try:
        return same_photographs(images_of(store, a), images_of(store, b))
    except StoreError:  # the table of the images is lost, and the shift will tell so
        return False


def _data_name(cell: Cell) -> str:
    part = cell.condition_name.partition("/")[2]
    return cell.data.removesuffix(f"/{part}") if part else cell.data


def _points(
    store: Store, sides: Sides, models: Mapping[str, Sequence[Cell]], origins: Mapping[str, Origin], level: float
) -> Points:
    wanted = {cell.key for cell in (*sides.standard, *sides.shifted)}
    some = {name: [cell for cell in cells if cell.key in wanted] for name, cells in models.items()}
    clean = sides.standard[0].condition_name
    return points_of_models(store, some, (clean,), sides.name, origins=origins, level=level)
