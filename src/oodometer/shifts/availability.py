"""Every shift and group by name: what it needs, and what of that is there; nothing is opened, only looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from oodometer.catalogue.shifts import Declared, declared_shifts
from oodometer.core.condition import ShiftKind
from oodometer.data.find_sets import not_unpacked
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.root import DataRoot
from oodometer.shifts.adversarial import ATTACKS
from oodometer.shifts.availability_text import overview_text
from oodometer.shifts.installed import installed_shifts
from oodometer.shifts.resolve import group_names, members_of, missing_sets
from oodometer.shifts.sources import ICONS, IMAGENET, Sources

NO_SHIFTS = frozenset({"own"})
"""Families that have no members before the user registers some."""

CLEAN = "clean images"
GIVEN = {ICONS: ", or icons that were built (--data)"}
"""What serves instead of a published set."""

FORMS: tuple[tuple[str, ShiftKind, str], ...] = (
    ("pgd-, fgsm-, noise-NORM-EPS", "adversarial", "the same as those with numbers; any budget"),
    ("--base ... --shift ...", "attribute", "a manifest with the attributes as columns"),
    ("pm-K", "consistency", "a manifest with columns sequence and frame"),
)
"""Shifts that are made of what the user brings: a name or flags, the kind, and what is needed."""


@dataclass(frozen=True)
class ListedSet:
    """A published set: where it lies (None: not there), or what lies there instead of it."""

    name: str
    title: str
    page: str
    expected: str
    place: str | None
    not_unpacked: str = ""


@dataclass(frozen=True)
class ListedShift:
    """A shift by name.

    Args:
        sets: The published sets that it is made of; where it is made of any clean images, the set that serves.
        needs: What it needs, in words.
        missing: What of that is not there; None where that depends on what the user brings.
    """

    name: str
    kind: ShiftKind
    sets: tuple[str, ...]
    needs: str
    missing: tuple[str, ...] | None

    @property
    def there(self) -> bool | None:
        """Whether it could be run; None where that depends on what the user brings."""
        return None if self.missing is None else not self.missing


@dataclass(frozen=True)
class ListedGroup:
    """A name for several shifts."""

    name: str
    members: tuple[str, ...]
    there: tuple[str, ...]


@dataclass(frozen=True)
class Overview:
    """What there is to run, below one root; prints as tables."""

    root: str | None
    shifts: tuple[ListedShift, ...]
    groups: tuple[ListedGroup, ...]
    sets: tuple[ListedSet, ...]

    def __str__(self) -> str:
        return overview_text(self)

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        known = self.root is not None
        return {
            "root": self.root,
            "shifts": [
                {
                    "name": one.name,
                    "kind": one.kind,
                    "sets": list(one.sets),
                    "needs": one.needs,
                    "there": one.there if known else None,
                    "missing": list(one.missing) if known and one.missing is not None else None,
                }
                for one in self.shifts
            ],
            "groups": [
                {"name": one.name, "members": list(one.members), "there": list(one.there) if known else None}
                for one in self.groups
            ],
            "sets": [
                {
                    "name": one.name,
                    "title": one.title,
                    "page": one.page,
                    "expected": one.expected,
                    "place": one.place,
                    "not_unpacked": one.not_unpacked,
                }
                for one in self.sets
            ],
        }


def overview(root: DataRoot | None) -> Overview:
    """Every shift, group and published set, and which of them are there."""
    sources = Sources(root=root)
    sets = tuple(_set(name, root) for name in known_sets.names())
    there = frozenset(one.name for one in sets if one.place is not None)
    shifts = [*_declared(there), *_installed(there), *_attacks(there), *_forms()]
    return Overview(
        root.address if root else None,
        tuple(sorted(shifts, key=lambda one: (one.kind, one.name))),
        tuple(_group(name, sources) for name in group_names()),
        sets,
    )


def _set(name: str, root: DataRoot | None) -> ListedSet:
    known = known_sets.get(name)
    place = root.place_of(name) if root else None
    packed = not_unpacked(root.address, known) if root and place is None else ""
    return ListedSet(name, known.title, known.page, known.places[0], place, packed)


def _declared(there: frozenset[str]) -> list[ListedShift]:
    """The shifts of the catalogue; the testbed's own names are those of its group."""
    shown = [one for one in declared_shifts().values() if one.name not in NO_SHIFTS and not _is_only_of_testbed(one)]
    return [_listed(one, there) for one in shown]


def _is_only_of_testbed(declared: Declared) -> bool:
    """Whether it is another name of what is listed anyway."""
    return declared.make.startswith("testbed:")


def _listed(declared: Declared, there: frozenset[str]) -> ListedShift:
    assert declared.kind != "clean"
    if declared.sets == (IMAGENET,):
        needs = f"{CLEAN}, {declared.brought}" if declared.brought else CLEAN
        missing = None if declared.brought else _lacking(declared.sets, there)
    else:
        needs = ", ".join(f"{name}{GIVEN.get(name, '')}" for name in declared.sets)
        needs += f", or any {CLEAN} (--data)" if declared.of_any_images else ""
        missing = _lacking(declared.sets, there)
    return ListedShift(declared.name, declared.kind, declared.sets, needs, missing)


def _installed(there: frozenset[str]) -> list[ListedShift]:
    """What installed packages bring."""
    every = [installed_shifts.get(name) for name in installed_shifts.names()]
    return [ListedShift(one.name, one.kind, one.sets, ", ".join(one.sets), _lacking(one.sets, there)) for one in every]


def _attacks(there: frozenset[str]) -> list[ListedShift]:
    installed = find_spec("torch") is not None
    needs = f"{CLEAN}, and torch ({'installed' if installed else 'not installed'})"
    missing = (*_lacking((IMAGENET,), there), *(() if installed else ("torch",)))
    return [ListedShift(name, "adversarial", (IMAGENET,), needs, missing) for name in ATTACKS]


def _forms() -> list[ListedShift]:
    return [ListedShift(name, kind, (), needs, None) for name, kind, needs in FORMS]


def _lacking(needs: Sequence[str], there: frozenset[str]) -> tuple[str, ...]:
    return tuple(one for one in needs if one not in there)


def _group(name: str, sources: Sources) -> ListedGroup:
    members = members_of(name, sources)
    there = () if sources.root is None else tuple(one for one in members if not missing_sets(one, sources))
    return ListedGroup(name, members, there)
