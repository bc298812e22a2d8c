"""What a store has measured, as shifts: what is compared with what, decided here for every command.

A pair comes from the store, where it was run as one; otherwise from the catalogue, which knows by name what a published
set is compared with; otherwise a condition is compared with the clean images over the same classes. Predictions and
columns of imported tables that mean the same shift meet in one.

    run as pairs        imagenet-c/fog/1 .. 5, clean     ─┐
    imported answers    clean, imagenet-a                 ├─►  MeasuredShift(name, kind, standards, members)
    columns of tables   val, imagenetv2-...              ─┘
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from oodometer.catalogue.marks import is_marked, marked
from oodometer.catalogue.names import ShiftEntry, family_of, find_shift
from oodometer.catalogue.shifts import clean_sides
from oodometer.core.condition import Family, Measure
from oodometer.core.errors import StoreError
from oodometer.core.records import ConditionRecord, ShiftRecord
from oodometer.store.images import Images
from oodometer.store.index import Index

CLEAN = "clean"
OTHER = "other"
"""The kind of a shift of which nobody says what changes."""
IMPORTED = "imported"
"""Behind the name of a shift of tables, where predictions have one of that name that it can't be joined with."""


@dataclass(frozen=True)
class Side:
    """A condition as predictions have it, as a column of tables has it, or as both do.

    Args:
        name: What to call it.
        family: Which member of a family of corruptions it is.
    """

    name: str
    condition: ConditionRecord | None = None
    column: str | None = None
    family: Family | None = None


@dataclass(frozen=True)
class MeasuredShift:
    """A shift of a store.

    Args:
        name: Its own in the store.
        kind: ``dataset``, ``corruption`` and so on; ``other`` where nobody says.
        natural: Whether its images are their own, not made from the clean ones.
        standards: The clean sides; one, unless the user names several.
        members: What it is the mean of; one, where it is no family.
        family: The name of the family, where it is one.
        entry: What the catalogue knows about it.
        of_other_images: Whether the shifted images are others, even where some are called the same.
    """

    name: str
    kind: str
    natural: bool
    standards: tuple[Side, ...]
    members: tuple[Side, ...]
    family: str | None = None
    entry: ShiftEntry | None = None
    measure: Measure = "top-1"
    of_other_images: bool = False

    @property
    def standard(self) -> Side:
        """The first clean side."""
        return self.standards[0]

    @property
    def has_predictions(self) -> bool:
        """Whether predictions are behind it, not tables alone."""
        return self.members[0].condition is not None

    @property
    def has_tables(self) -> bool:
        """Whether imported accuracies are behind it."""
        return self.members[0].column is not None


@dataclass(frozen=True)
class Measured:
    """The shifts of a store, and what can't be compared, in sentences."""

    shifts: tuple[MeasuredShift, ...]
    notes: tuple[str, ...]


@lru_cache(maxsize=4)
def measured_shifts(index: Index) -> Measured:
    """Every shift that a store has both sides of."""
    notes: list[str] = []
    groups = [*_run_as_pairs(index), *_by_catalogue(index, notes)]
    run = _named(index, [group for group in groups if not _run_twice(group, notes)])
    return Measured(tuple(_joined(run, list(_of_tables(index, notes)))), tuple(notes))


def members_apart(shift: MeasuredShift) -> list[MeasuredShift]:
    """The members of a family as shifts of their own."""
    return [replace(shift, name=side.name, members=(side,), family=None) for side in shift.members]


def same_clean(a: str, b: str) -> bool:
    """Whether two names of clean sides mean the same images: here they are ``clean``, in the testbed ``val``.

    >>> same_clean("clean", "val"), same_clean("val", "val-on-imagenet-a-classes")
    (True, False)
    """
    return _meaning(a) == _meaning(b)


def _meaning(name: str) -> str:
    side = clean_sides().get(name)
    return side.means or name if side else name


def is_clean(name: str) -> bool:
    """Whether a name is that of a clean side and of no shift.

    >>> is_clean("val-on-objectnet-classes"), is_clean("imagenet-vid-robust_pm0")
    (True, False)
    """
    entry = find_shift(name)
    return name == CLEAN or (entry is not None and entry.kind == CLEAN)


# Predictions


@dataclass(frozen=True)
class _Group:
    """Conditions that are one shift: a pair, or the members of a family on one data set."""

    base: str
    kind: str
    standard: ConditionRecord
    members: tuple[tuple[ConditionRecord, Family | None], ...]
    entry: ShiftEntry | None
    measure: Measure
    of_other_images: bool

    @property
    def family(self) -> str | None:
        return self.base if len(self.members) > 1 else None


def base_name(name: str, families: Sequence[Family | None]) -> str:
    """What to call members of a family together: by what they have in common.

    >>> fog, snow = [Family("imagenet-c", "fog", severity) for severity in (1, 2)], Family("imagenet-c", "snow", 1)
    >>> base_name("imagenet-c/fog/1", fog[:1]), base_name("", fog), base_name("", [*fog, snow])
    ('imagenet-c/fog/1', 'imagenet-c/fog', 'imagenet-c')
    """
    known = [family for family in families if family is not None]
    if len(known) < 2:
        return name
    corruptions = {family.corruption for family in known}
    return f"{known[0].name}/{known[0].corruption}" if len(corruptions) == 1 else known[0].name


def _labelled(index: Index) -> dict[str, ConditionRecord]:
    """The conditions on which some model has labelled rows, by key."""
    return {entry.cell.condition.key: entry.cell.condition for entry in index.entries if entry.n}


def _run_as_pairs(index: Index) -> Iterator[_Group]:
    """The pairs that were run, those of a family together."""
    there = _labelled(index)
    groups: dict[tuple[str, ...], list[ShiftRecord]] = {}
    for shift in index.shifts:
        if shift.standard.key in there and shift.shifted.key in there:
            groups.setdefault(_place(shift.name, shift.family, shift.standard, shift.shifted), []).append(shift)
    for pairs in groups.values():
        first = pairs[0]
        members = {pair.shifted.key: (pair.shifted, pair.family) for pair in pairs}
        yield _Group(
            base_name(first.name, [pair.family for pair in pairs]),
            first.kind,
            first.standard,
            tuple(members.values()),
            find_shift(first.shifted.name) or find_shift(first.name),
            first.measure,
            first.of_other_images,
        )


def _place(name: str, family: Family | None, standard: ConditionRecord, shifted: ConditionRecord) -> tuple[str, ...]:
    """What the pairs of one shift have in common."""
    if family is None:
        return name, standard.key, shifted.key
    return family.name, standard.key, shifted.data.source, str(shifted.label_map)


def _by_catalogue(index: Index, notes: list[str]) -> Iterator[_Group]:
    """Conditions that were not run as a side of a pair, with what they are compared with."""
    there = _labelled(index)
    standards = {shift.standard.key for shift in index.shifts}
    paired = {shift.shifted.key for shift in index.shifts if shift.standard.key in there}
    clean = [one for one in there.values() if one.key in standards or is_clean(one.name)]
    groups: dict[tuple[str, ...], list[tuple[ConditionRecord, Family | None, ConditionRecord]]] = {}
    for condition in there.values():
        if condition.key in paired or condition in clean:
            continue
        sides = _standards_of(index, condition, clean)
        if len({one.data.digest for one in sides}) != 1:
            notes.append(_without_standard(index, condition, sides))
            continue
        standard = sides[0]
        family = family_of(condition.name)
        groups.setdefault(_place(condition.name, family, standard, condition), []).append((condition, family, standard))
    for members in groups.values():
        condition, family, standard = members[0]
        entry = find_shift(condition.name)
        kind = entry.kind if entry else "adversarial" if condition.attack is not None else OTHER
        yield _Group(
            base_name(condition.name, [of for _, of, _ in members]),
            kind,
            standard,
            tuple((one, of) for one, of, _ in members),
            entry,
            entry.measure if entry else "top-1",
            kind in ("dataset", "adversarially filtered", "attribute"),
        )


def _standards_of(index: Index, shifted: ConditionRecord, clean: Sequence[ConditionRecord]) -> list[ConditionRecord]:
    """What a condition may be compared with: the catalogue's clean side, of the same photographs if there is one."""
    entry = find_shift(shifted.name)
    wanted = entry.clean if entry else CLEAN
    fit = [one for one in clean if one.label_map == shifted.label_map and one.key != shifted.key]
    fit = [one for one in fit if same_clean(one.name, wanted)] or fit
    same = [one for one in fit if one.data.digest == shifted.data.digest]
    if not same and len(fit) > 1:
        same = [one for one in fit if _of_same_photographs(index, one, shifted)]
    return same or fit


def _without_standard(index: Index, condition: ConditionRecord, standards: Sequence[ConditionRecord]) -> str:
    """Why there is nothing to compare a condition with."""
    if not standards:
        return f"no shift of {condition.name}: no clean set over its classes was run, to compare it with"
    names = " or ".join(sorted({_side_name(index, one) for one in standards}))
    return f"no shift of {condition.name}: it can be compared with {names}; say which with {condition.name}~CLEAN"


def _of_same_photographs(index: Index, a: ConditionRecord, b: ConditionRecord) -> bool:
    try:
        return same_photographs(index.images_of(a), index.images_of(b))
    except StoreError:  # the table of the images is lost, and the shift will tell so
        return False


def same_photographs(a: Images, b: Images) -> bool:
    """Whether all images of the smaller set are among those of the other, by id and label.

    So they are for a corruption made here, and for one read from disk whose files are named like the clean ones.
    """
    small, large = sorted((a, b), key=lambda images: len(images.ids))
    labels = dict(zip(large.ids.tolist(), large.labels.tolist(), strict=True))
    return all(
        labels.get(image) == label for image, label in zip(small.ids.tolist(), small.labels.tolist(), strict=True)
    )


def _run_twice(group: _Group, notes: list[str]) -> bool:
    """Whether a member of a family is there in several ways, so that none can be meant."""
    names = [condition.name for condition, _ in group.members]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        notes.append(f"no shift of {group.base}: {twice} was run with several seeds or strengths; keep each apart")
    return twice is not None


def _named(index: Index, groups: Sequence[_Group]) -> list[MeasuredShift]:
    """The shifts under names that are their own: with that of the data, or of the clean side, where they share one."""
    own = [_own_name(index, group) for group in groups]
    names = _told_apart(own, [group.members[0][0].data.source for group in groups], groups)
    names = [
        f"{name} against {_side_name(index, group.standard)}" if names.count(name) > 1 else name
        for name, group in zip(names, groups, strict=True)
    ]
    return [_measured(index, name, group) for name, group in zip(names, groups, strict=True)]


def _own_name(index: Index, group: _Group) -> str:
    return group.base if group.family else index.condition_name_of[group.members[0][0].key]


def _told_apart(names: Sequence[str], sources: Sequence[str], groups: Sequence[_Group]) -> list[str]:
    """Families of one name with what the user calls their data, and the digest where even that is one."""
    told = []
    for name, source, group in zip(names, sources, groups, strict=True):
        alike = {of: _data_title(other) for one, of, other in zip(names, sources, groups, strict=True) if one == name}
        if group.family is None or len(alike) == 1:
            told.append(name)
            continue
        title = _data_title(group)
        told.append(f"{name}@{title}" if list(alike.values()).count(title) == 1 else f"{name}@{title}@{source[:8]}")
    return told


def _data_title(group: _Group) -> str:
    data = group.members[0][0].data
    return replace(data, part="").title


def _side_name(index: Index, condition: ConditionRecord) -> str:
    return index.condition_name_of[condition.key]


def _measured(index: Index, name: str, group: _Group) -> MeasuredShift:
    natural = group.entry.natural if group.entry else group.kind in NATURAL
    # A style that is painted over the clean images is no photograph of its own, whatever it is called.
    painted = group.kind == "style" and group.standard.data.digest == group.members[0][0].data.digest
    return MeasuredShift(
        name,
        group.kind,
        natural and not painted,
        (Side(_side_name(index, group.standard), group.standard),),
        tuple(Side(_side_name(index, one), one, None, family) for one, family in group.members),
        group.family,
        group.entry,
        group.measure,
        group.of_other_images,
    )


NATURAL = ("dataset", "consistency", "adversarially filtered", "style", "attribute")


# Tables


def _of_tables(index: Index, notes: list[str]) -> Iterator[MeasuredShift]:
    """The shifts of imported tables: each column, or family of them, against its clean column."""
    columns = list(dict.fromkeys(row.condition for row in index.tables))
    groups: dict[str, list[str]] = {}
    for column in columns:
        if not is_clean(column):
            family = family_of(column)
            groups.setdefault(family.name if family else column, []).append(column)
    for members in groups.values():
        base = base_name(members[0], [family_of(column) for column in members])
        entry = find_shift(members[0])
        clean = clean_column(entry, columns)
        if clean is None:
            notes.append(f"no shift of {base}: the table has no column of clean images")
            continue
        kind = entry.kind if entry else OTHER
        yield MeasuredShift(
            base,
            kind,
            entry.natural if entry else False,
            (Side(clean, None, clean),),
            tuple(Side(one, None, one, family_of(one)) for one in members),
            base if len(members) > 1 else None,
            entry,
            entry.measure if entry else "top-1",
            kind in ("dataset", "adversarially filtered", "attribute"),
        )


def clean_column(entry: ShiftEntry | None, columns: Iterable[str]) -> str | None:
    """The column that a shift is compared with: the catalogue's, or that of all clean images."""
    known = list(columns)
    wanted = entry.clean if entry else CLEAN
    exact = [column for column in known if column == wanted] + [one for one in known if same_clean(one, wanted)]
    return next(iter(exact + [one for one in known if same_clean(one, CLEAN)]), None)


def _joined(run: Sequence[MeasuredShift], tables: Sequence[MeasuredShift]) -> Iterator[MeasuredShift]:
    """Predictions and tables of the same shift as one; others under names of their own."""
    partner: dict[str, MeasuredShift] = {}
    for table in tables:
        same = [shift for shift in run if _is_same_shift(shift, table)]
        # The published table was measured in the testbed's own way.
        fit = [shift for shift in same if is_marked(_canonical(shift))] or same
        if len(fit) == 1:
            partner[fit[0].name] = table
    for shift in run:
        yield _with_columns(shift, partner[shift.name]) if shift.name in partner else shift
    met, taken = {id(table) for table in partner.values()}, {shift.name for shift in run}
    for table in tables:
        if id(table) not in met:
            yield replace(table, name=f"{table.name}@{IMPORTED}") if table.name in taken else table


def _is_same_shift(run: MeasuredShift, table: MeasuredShift) -> bool:
    """Whether predictions and a table tell of the same shift: by name, clean side, and members of a family."""
    return (
        _canonical(run) in (_canonical(table), marked(_canonical(table)))
        and same_clean(_plain(run.standard), table.standard.name)
        and _members(run).keys() == _members(table).keys()
    )


def _canonical(shift: MeasuredShift) -> str:
    if shift.family is not None:
        return shift.family
    return shift.entry.name if shift.entry else _plain(shift.members[0])


def _plain(side: Side) -> str:
    return side.condition.name if side.condition else side.name


def _members(shift: MeasuredShift) -> Mapping[tuple[str, int] | None, Side]:
    return {(side.family.corruption, side.family.severity) if side.family else None: side for side in shift.members}


def _with_columns(run: MeasuredShift, table: MeasuredShift) -> MeasuredShift:
    columns = _members(table)
    of_run = _members(run)
    return replace(
        run,
        standards=(replace(run.standard, column=table.standard.column),),
        members=tuple(replace(side, column=columns[place].column) for place, side in of_run.items()),
    )
