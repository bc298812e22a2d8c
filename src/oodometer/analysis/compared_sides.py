"""On what many models can be compared: the clean sets, the shifts and every other condition, each with its cells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.measured_shifts import CLEAN, MeasuredShift, Side, is_clean, measured_shifts
from oodometer.analysis.table_pairs import points_of_tables
from oodometer.analysis.text import plural
from oodometer.core.condition import Measure
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.core.records import ConditionRecord
from oodometer.store.cells import Cell
from oodometer.store.index import Index

Key = tuple[str, ...]
"""What makes a condition, whichever of its images a model saw."""


@dataclass(frozen=True)
class ComparedSide:
    """A clean set, a shift, or another condition.

    Args:
        name: Its own in the store.
        kind: ``clean``, or that of the shift.
        cells: Of each model, one for each condition; a family has several.
        imported: The accuracies of models of which nothing else is known.
    """

    name: str
    kind: str
    cells: Mapping[str, tuple[Cell, ...]]
    imported: Mapping[str, Estimate] = field(default_factory=dict)
    measure: Measure = "top-1"

    @property
    def models(self) -> tuple[str, ...]:
        """All that were measured on it."""
        return (*self.cells, *(name for name in self.imported if name not in self.cells))


def compared_sides(index: Index, *, on: Sequence[str] = (), level: float = 0.95) -> list[ComparedSide]:
    """The sides that are named, else all of a store, the clean ones first; only those of which something is known.

    Args:
        on: Conditions (``NAME``, ``NAME@DATA``), shifts, or families of them.
    """
    key_of = _Keys.of(index)
    cells = key_of.cells(index)
    found: dict[tuple[Key, ...], ComparedSide] = {}
    for side in _named(index, on, key_of) if on else _of_store(index, key_of):
        keys = tuple(sorted(key_of(one.condition) for one in side.members if one.condition)) or ((side.name,),)
        made = _side(index, side, {model: _under(by_key, keys) for model, by_key in cells.items()}, level)
        if made.models and keys not in found:
            found[keys] = made
    return sorted(_plainly_named(list(found.values())), key=lambda side: side.kind != CLEAN)


def _plainly_named(sides: Sequence[ComparedSide]) -> list[ComparedSide]:
    """The same, where models saw other images of one set: under the condition's name alone, if that is its own."""
    plain = [_name_of_several(side) or side.name for side in sides]
    return [
        side if plain.count(name) > 1 else replace(side, name=name) for side, name in zip(sides, plain, strict=True)
    ]


def _name_of_several(side: ComparedSide) -> str:
    """The name of a condition of which models saw other images; empty for all else."""
    alone = [cells[0] for cells in side.cells.values() if len(cells) == 1]
    return alone[0].condition_name if len({cell.data.digest for cell in alone}) > 1 else ""


def _under(by_key: Mapping[Key, Cell], keys: Sequence[Key]) -> tuple[Cell, ...]:
    """The cells of a model under all of these conditions; none where one is missing."""
    return tuple(by_key[key] for key in keys) if set(keys) <= set(by_key) else ()


def _of_store(index: Index, key_of: _Keys) -> Iterator[MeasuredShift]:
    """Each clean set, each shift, and what is in no shift."""
    shifts = measured_shifts(index).shifts
    for shift in shifts:
        yield from _standards(shift)
    yield from shifts
    told = {key_of(side.condition) for one in shifts for side in (*one.standards, *one.members) if side.condition}
    for name, named in index.conditions.items():
        if any(entry.n for entry in named.entries) and key_of(named.condition) not in told:
            yield _alone(name, named.condition)


def _named(index: Index, names: Sequence[str], key_of: _Keys) -> Iterator[MeasuredShift]:
    for name in dict.fromkeys(names):
        own = [one for title, one in index.conditions.items() if name in _called(title, one.condition)]
        own = [one for one in own if any(entry.n for entry in one.entries)]
        if len({key_of(one.condition) for one in own}) > 1:
            titles = ", ".join(f"{one.condition.name}@{one.condition.data}" for one in own)
            raise UsageError(f"{index}: {name} of several data sets; say which: {titles}")
        if own:
            yield _alone(own[0].name, own[0].condition, _column_of(index, own[0].condition, key_of))
            continue
        standards = {side.name: shift for shift in measured_shifts(index).shifts for side in shift.standards}
        if name in standards:  # a clean set that tables alone know
            yield from _standards(standards[name])
        else:
            yield asked_shift(index, name)


def _called(title: str, condition: ConditionRecord) -> tuple[str, ...]:
    return title, condition.name, f"{condition.name}@{condition.data}", f"{condition.name}@{condition.data.digest[:8]}"


def _column_of(index: Index, condition: ConditionRecord, key_of: _Keys) -> str | None:
    """The column of tables that has accuracies on a condition, as the shifts that it is a side of have it."""
    sides = [side for shift in measured_shifts(index).shifts for side in (*shift.standards, *shift.members)]
    alike = [side for side in sides if side.condition and key_of(side.condition) == key_of(condition)]
    return next((side.column for side in alike if side.column), None)


def _alone(name: str, condition: ConditionRecord, column: str | None = None) -> MeasuredShift:
    kind = CLEAN if is_clean(condition.name) else "condition"
    side = Side(name, condition, column)
    return MeasuredShift(name, kind, natural=False, standards=(side,), members=(side,))


def _standards(shift: MeasuredShift) -> Iterator[MeasuredShift]:
    """The clean sides of a shift, as if they were shifts."""
    for side in shift.standards:
        yield replace(shift, name=side.name, kind=CLEAN, members=(side,), standards=(side,), family=None)


def _side(index: Index, shift: MeasuredShift, cells: Mapping[str, tuple[Cell, ...]], level: float) -> ComparedSide:
    run = {model: of_model for model, of_model in cells.items() if of_model}
    read = points_of_tables(index.tables, shift, origins={}, level=level, taken=set(run))
    imported = {point.model: point.y for point in read.models}
    return ComparedSide(shift.name, shift.kind, run, imported, shift.measure)


@dataclass(frozen=True)
class _Keys:
    """What makes a condition, whichever images of its data a model saw: two samples of a set have images in common.

    Args:
        several: Names that several data sets have; these are told apart by their content.
    """

    several: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, index: Index) -> _Keys:
        """Those of a store."""
        whole: dict[tuple[str, str], set[str]] = {}
        for data in {entry.cell.data for entry in index.entries}:
            if not data.subset and data.sample is None:
                whole.setdefault((data.name, data.part), set()).add(data.digest)
        return cls(frozenset(name for name, digests in whole.items() if len(digests) > 1))

    def __call__(self, condition: ConditionRecord) -> Key:
        data = condition.data
        content = data.digest if (data.name, data.part) in self.several else ""
        identity = json.dumps({**condition.identity, "data": None}, sort_keys=True, default=str)
        return identity, data.name, data.part, content

    def cells(self, index: Index) -> dict[str, dict[Key, Cell]]:
        """The labelled cells of each model by condition; of several on other images of it that with the most."""
        found: dict[str, dict[Key, Cell]] = {}
        for name, model in index.models.items():
            entries = sorted((entry for entry in model.entries if entry.n), key=lambda entry: entry.n)
            found[name] = {self(entry.cell.condition): entry.cell for entry in entries}
        return found


def model_names_in(index: Index, models: Sequence[str]) -> list[str]:
    """The models that are named as the store calls them; without names all of them.

    Raises:
        UsageError: One is not in the store.
        StoreError: There are fewer than two.
    """
    imported = dict.fromkeys(row.model for row in index.tables)
    if models:
        known = [name if name in imported else index.model_name_of[index.of_model(name)[0].key] for name in models]
    else:
        known = [*index.models, *imported]
    names = list(dict.fromkeys(known))
    if len(names) < 2:
        raise StoreError(f"{index}: {plural(len(names), 'model')}; a comparison needs two")
    return names
