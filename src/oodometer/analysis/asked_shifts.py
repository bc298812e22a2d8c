"""The shift that a user asks for by name: one of the store's, a part of one, or two sides that the user names."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import replace

from oodometer.analysis.measured_shifts import (
    CLEAN,
    OTHER,
    MeasuredShift,
    Side,
    clean_column,
    is_clean,
    measured_shifts,
)
from oodometer.catalogue.names import family_of, find_shift
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.core.records import ConditionRecord
from oodometer.store.index import Index


def asked_shift(index: Index, text: str, x: Sequence[str] = ()) -> MeasuredShift:
    """The shift that a text means.

    Args:
        text: A shift, a family or a part of one, a condition, a data set or a pattern; with ``SHIFT~CLEAN`` its clean
            side too.
        x: The clean sides, where the user names them.
    """
    if not index.answered and not index.tables:
        raise StoreError(f"{index}: nothing in it yet; 'oodometer run' or 'oodometer import' makes it")
    name, tilde, clean = text.partition("~")
    if not name or (tilde and not clean):
        raise UsageError(f"{text!r}: expected SHIFT or SHIFT~CLEAN, for example objectnet~val-on-objectnet-classes")
    sides = (clean,) if clean else tuple(x)
    found = _with_sides(index, name, sides) if sides else _of_store(index, name)
    return replace(found, name=text if tilde else found.name)


# One of the store's


def _of_store(index: Index, name: str) -> MeasuredShift:
    every = measured_shifts(index).shifts
    wanted = [shift for shift in every if shift.name == name] or [shift for shift in every if _is_called(shift, name)]
    if len(wanted) == 1:
        return wanted[0]
    parts = {} if wanted else {shift.name: part for shift in every if (part := _part_of(shift, name)) is not None}
    if parts and _go_together(list(parts.values())):
        first = next(iter(parts.values()))
        family = first.family if len(parts) == 1 else None
        return replace(first, members=tuple(side for part in parts.values() for side in part.members), family=family)
    several = [shift.name for shift in wanted] or list(parts)
    if several:
        raise UsageError(f"{index}: {name} stands for several shifts; say which: {', '.join(several)}")
    return _with_sides(index, name, ())


def _go_together(parts: Sequence[MeasuredShift]) -> bool:
    """Whether a pattern takes members of families that have one clean side, so that there is a mean of all."""
    sides = {(part.standards, part.kind, part.measure, part.of_other_images) for part in parts}
    # What is joined with predictions has their images, which the others need not have.
    return len(parts) == 1 or (len(sides) == 1 and not any(part.has_predictions for part in parts))


def _is_called(shift: MeasuredShift, name: str) -> bool:
    """Whether a name is another one of the shift: an alias, or what it is called without its data."""
    entry = find_shift(name)
    plain = shift.family or (shift.members[0].condition.name if shift.members[0].condition else shift.members[0].name)
    known = {plain, *(side.name for side in shift.members if len(shift.members) == 1)}
    if shift.entry is not None and len(shift.members) == 1:
        known.add(shift.entry.name)
    return name in known or (entry is not None and not entry.family and entry.name in known)


def _part_of(shift: MeasuredShift, name: str) -> MeasuredShift | None:
    """The members of a family whose names begin so, or fit a pattern."""
    entry = find_shift(name)
    names = {name, entry.name} if entry else {name}
    kept = tuple(side for side in shift.members if any(_fits(_plain(side), one) for one in names))
    return replace(shift, name=name, members=kept) if kept and len(shift.members) > 1 else None


def _fits(condition: str, name: str) -> bool:
    return condition == name or condition.startswith(f"{name}/") or fnmatch.fnmatchcase(condition, name)


def _plain(side: Side) -> str:
    return side.condition.name if side.condition else side.name


# Sides that the user names


def _with_sides(index: Index, name: str, x: Sequence[str]) -> MeasuredShift:
    """The shift from sides that are named: conditions, data sets that were seen as they are, or columns of a table."""
    there = {entry.cell.condition.key: entry.cell.condition for entry in index.entries if entry.n}
    columns = dict.fromkeys(row.condition for row in index.tables)
    conditions = list(there.values())
    known = (
        {one.name for one in conditions} | {one.data.title for one in conditions if one.name == CLEAN} | set(columns)
    )
    members = _conditions_named(name, conditions)
    of_table = _columns_named(name, columns)
    if not members and not of_table:
        unlabelled = [entry for entry in index.answered if not entry.n and entry.cell.condition_name == name]
        if unlabelled:
            raise StoreError(
                f"{index}: the images of {name} have no labels, so there is no accuracy on them; "
                f"'score --ood {name}' tells how well they are told apart"
            )
        if any(not entry.n and entry.cell.data.title == name for entry in index.answered):
            raise StoreError(
                f"{index}: the images of {name} have no labels; "
                f"'estimate --shifted {name}' estimates the accuracy on them"
            )
        hint = did_you_mean(name, {*known, *(family.name for one in known if (family := family_of(one)))})
        raise UsageError(f"{index}: nothing was measured on {name!r}{hint}")
    for side in x:
        if side not in known:
            raise UsageError(f"{index}: nothing was measured on {side!r}{did_you_mean(side, known)}")
    if members and (not x or all(_conditions_named(side, conditions, exact=True) for side in x)):
        return _of_conditions(index, name, members, x, conditions)
    return _of_columns(index, name, of_table, x, columns)


def check_sides(x: Sequence[str], y: Sequence[str]) -> None:
    """An error where a set would be compared with itself."""
    for name in x:
        if name in y or list(x).count(name) > 1:
            raise UsageError(f"{name} is given twice: the clean sets and the shift must be different ones")


def _conditions_named(
    name: str, conditions: Sequence[ConditionRecord], *, exact: bool = False
) -> list[ConditionRecord]:
    """The conditions of that name, those of a family, those that fit a pattern; or clean images of that data set."""
    plain = [one for one in conditions if one.name == name]
    plain = plain or [one for one in conditions if one.name == CLEAN and one.data.title == name]
    if plain or exact:
        return plain
    some = [one for one in conditions if _fits(one.name, name) or _is_of_family(one.name, name)]
    return some or [one for one in conditions if _same_entry(one.name, name)]


def _columns_named(name: str, columns: Iterable[str]) -> list[str]:
    known = list(columns)
    if name in known:
        return [name]
    some = [one for one in known if _fits(one, name) or _is_of_family(one, name)]
    return some or [one for one in known if _same_entry(one, name)]


def _is_of_family(condition: str, name: str) -> bool:
    family = family_of(condition)
    return family is not None and family.name == name


def _same_entry(condition: str, name: str) -> bool:
    entry, asked = find_shift(condition), find_shift(name)
    return entry is not None and asked is not None and entry.name == asked.name


def _of_conditions(
    index: Index,
    name: str,
    members: Sequence[ConditionRecord],
    x: Sequence[str],
    conditions: Sequence[ConditionRecord],
) -> MeasuredShift:
    entry = find_shift(members[0].name)
    names = tuple(x) or (CLEAN,)
    # Clean images of another data set may be the shift, by the name of their data.
    check_sides(names, [one.data.title if one.data.title == name else one.name for one in members])
    groups: dict[tuple[str, str | None], list[ConditionRecord]] = {}
    for one in members:
        groups.setdefault((one.data.source, one.label_map), []).append(one)
    fits = [(group, sides) for group in groups.values() if (sides := _standards(names, group[0], conditions))]
    # Where the shift was measured on several data sets, the clean set may tell which is meant.
    fits = [fit for fit in fits if fit[1][0].data.digest == fit[0][0].data.digest] or fits
    where = f"{', '.join(names)} and {name}"
    if not fits:
        raise StoreError(
            f"{index}: no model was run on {where} over the same classes; run both with the same label map"
        )
    if len(fits) > 1 or len({one.name for one in fits[0][0]}) < len(fits[0][0]):
        raise UsageError(f"{index}: {name} was run on several data sets or classes; say which: {_by_x(fits)}")
    group, sides = fits[0]
    family = family_of(group[0].name) if len(group) > 1 else None
    return MeasuredShift(
        name,
        entry.kind if entry else OTHER,
        entry.natural if entry else False,
        tuple(Side(side, record) for side, record in zip(names, sides, strict=True)),
        tuple(Side(index.condition_name_of[one.key], one, None, family_of(one.name)) for one in group),
        family.name if family else None,
        entry,
        of_other_images=_of_other_images(index, sides[0], group[0]),
    )


def _of_other_images(index: Index, standard: ConditionRecord, shifted: ConditionRecord) -> bool:
    pairs = [one for one in index.shifts if (one.standard.key, one.shifted.key) == (standard.key, shifted.key)]
    return any(pair.of_other_images for pair in pairs)


def _standards(
    names: Sequence[str], shifted: ConditionRecord, conditions: Sequence[ConditionRecord]
) -> list[ConditionRecord]:
    """One condition for each clean side over the classes of the shifted one, of its data if there is such; or none."""
    sides = []
    for name in names:
        fit = [
            one
            for one in _conditions_named(name, conditions, exact=True)
            if one.label_map == shifted.label_map and one.key != shifted.key
        ]
        fit = [one for one in fit if one.data.digest == shifted.data.digest] or fit
        if len(fit) > 1:
            data = [f"--x {one.data.title!r}" for one in fit]
            said = (
                " or ".join(sorted(data))
                if len(set(data)) == len(data)
                else f"they are all of {fit[0].data}, so keep them in stores of their own"
            )
            raise UsageError(f"{name} of several data sets or classes was measured; say which: {said}")
        if not fit:
            return []
        sides += fit
    return sides


def _by_x(fits: Sequence[tuple[Sequence[ConditionRecord], Sequence[ConditionRecord]]]) -> str:
    data = sorted({group[0].data.title for group, _ in fits})
    if len(data) < len(fits) or len(fits) == 1:
        return f"they are all of {data[0]}, so keep them in stores of their own"
    return " or ".join(f"--x {one!r}" for one in data)


def _of_columns(
    index: Index, name: str, members: Sequence[str], x: Sequence[str], columns: Iterable[str]
) -> MeasuredShift:
    entry = find_shift(members[0]) if members else None
    known = list(columns)
    clean = clean_column(entry, known)
    names = tuple(x) or ((clean,) if clean else ())
    for side in names:
        if side not in known:
            raise StoreError(f"{index}: no model was measured on {side} and {name} both by predictions or by a table")
    if not names or not members:
        raise StoreError(f"{index}: no model was measured on {name} and on clean images")
    check_sides(names, members)
    family = family_of(members[0]) if len(members) > 1 else None
    return MeasuredShift(
        name,
        entry.kind if entry and not is_clean(name) else OTHER,
        entry.natural if entry else False,
        tuple(Side(side, None, side) for side in names),
        tuple(Side(one, None, one, family_of(one)) for one in members),
        family.name if family else None,
        entry,
    )
