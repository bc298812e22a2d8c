"""The one way from a name, as a user, a table or a store writes it, to an entry of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from string import Formatter

from oodometer.catalogue.marks import is_marked, marked, unmarked
from oodometer.catalogue.shifts import (
    Declared,
    EntryKind,
    FilteredBy,
    clean_sides,
    declared_groups,
    declared_shifts,
    patterns,
)
from oodometer.catalogue.tables import key_of
from oodometer.core.condition import Family, Measure
from oodometer.core.errors import UsageError, did_you_mean

ANY_FAMILY = re.compile(r"(?P<name>[^/]+)/(?P<corruption>[^/]+)/(?P<severity>\d+)")
"""How members of a family are called, whoever made it."""


@dataclass(frozen=True)
class ShiftEntry:
    """What a name stands for.

    Args:
        name: As it is written here, whatever spelling or alias was asked for.
        of: The shift or family of the table that it is, or is a part of.
        family: Which member of a family of corruptions it is; None for a whole family, and for other shifts.

    The others are those of `oodometer.catalogue.shifts.Declared`.
    """

    name: str
    of: str
    kind: EntryKind
    clean: str
    sets: tuple[str, ...]
    measure: Measure
    natural: bool
    n: int | None
    baseline_above: float | None
    filtered_by: FilteredBy | None
    family: Family | None
    make: str
    declared: Declared

    @property
    def is_part(self) -> bool:
        """Whether it is less than the whole of what the table declares."""
        return self.name != self.of


@cache
def find_shift(text: str) -> ShiftEntry | None:
    """What a name stands for, in any spelling; None where the catalogue does not know it.

    >>> find_shift("cifar10-c/fog/3").name, find_shift("ImageNetV2").name
    ('cifar-10-c/fog/3', 'imagenetv2-matched-frequency')
    >>> find_shift("imagenet-c.fog.3_on-disk").family
    Family(name='imagenet-c_on-disk', corruption='fog', severity=3)
    >>> find_shift("imagenet-c.fog.3_on-disk@testbed").family.name
    'imagenet-c_on-disk@testbed'
    >>> find_shift("mine")
    """
    if is_marked(text):
        plain = find_shift(unmarked(text))
        return None if plain is None else _marked(plain)
    whole = _by_key().get(key_of(text))
    if whole is not None:
        return _entry(whole)
    head, slash, part = text.partition("/")
    declared = _by_key().get(key_of(head))
    if slash and declared is not None and declared.member.startswith(f"{declared.name}/"):
        return _member(declared, part) if declared.is_family else _entry(declared, part=part)
    return _by_form(text) or _by_pattern(text)


def shift_named(text: str, *, others: Iterable[str] = ()) -> ShiftEntry:
    """What a name stands for; an error with a hint where it stands for nothing.

    Args:
        others: Names that are known besides those of the catalogue, for the hint.
    """
    entry = find_shift(text)
    if entry is not None:
        return entry
    head, _, part = text.partition("/")
    family = find_shift(head)
    if part and family is not None and family.declared.is_family:
        raise UsageError(_wrong_part(family.declared, part, text))
    raise UsageError(f"no condition named {text!r}{did_you_mean(text, [*shift_names(), *others])}")


def shift_names() -> list[str]:
    """Every name that may follow ``--on``, but for attacks and the members of families."""
    sides = [side.name for side in clean_sides().values() if side.make and not side.member]
    return [*sides, *declared_shifts(), *declared_groups()]


def family_of(text: str) -> Family | None:
    """The member of a family of corruptions that a name means, under the family's name as it is written there.

    >>> family_of("imagenet-c.fog.3_in-memory").name, family_of("imagenet-p/brightness/07").severity
    ('imagenet-c_in-memory', 7)
    >>> family_of("cifar10-c/fog/3"), family_of("imagenet-a")
    (Family(name='cifar10-c', corruption='fog', severity=3), None)
    >>> family_of("adain/3")
    Family(name='adain', corruption='style_transfer', severity=3)
    """
    written = ANY_FAMILY.fullmatch(text)
    if written:
        # A family of the user's own is as good as a published one.
        return Family(written["name"], written["corruption"], int(written["severity"]))
    entry = find_shift(text)
    return entry.family if entry else None


def group_members(name: str, is_there: Callable[[str], bool]) -> tuple[str, ...]:
    """The names that a group stands for, whether their data are there or not; families by their members.

    Args:
        is_there: Whether the data of a shift are there; it decides where a group has a choice.
    """
    found: list[str] = []
    for choice in declared_groups()[name]:
        chosen = next((one for one in choice if is_there(one)), choice[-1])
        declared = declared_shifts().get(chosen)
        # A family whose members have names of their own is asked for by these: some may be there and others not.
        by_name = declared is not None and declared.is_family and not declared.member.startswith(f"{declared.name}/")
        found += declared.members() if declared is not None and by_name else [chosen]
    return tuple(found)


@cache
def testbed_settings() -> tuple[str, ...]:
    """The names of all 213 settings of the 204-model testbed (Taori et al. 2020), in order.

    >>> len(testbed_settings()), testbed_settings()[:2]
    (213, ('greyscale', 'imagenet-a'))
    """
    return tuple(sorted(group_members("testbed", bool)))


def _marked(entry: ShiftEntry) -> ShiftEntry:
    """The same, shown in the testbed's way."""
    family = entry.family and replace(entry.family, name=marked(entry.family.name))
    return replace(entry, name=marked(entry.name), of=marked(entry.of), family=family)


@cache
def _by_key() -> dict[str, Declared]:
    every = [*clean_sides().values(), *declared_shifts().values()]
    return {key_of(name): declared for declared in every for name in (declared.name, *declared.aliases)}


def _entry(
    declared: Declared, *, name: str | None = None, part: str | None = None, family: Family | None = None
) -> ShiftEntry:
    if part is not None:
        name = declared.member.format(part=part) if "{part}" in declared.member else f"{declared.name}/{part}"
        family = family or _severity_of(declared, part)
    own = name or declared.name
    return ShiftEntry(
        own,
        declared.name or own,
        declared.kind,
        own if declared.kind == "clean" else declared.clean if part is None else declared.clean.format(part=part),
        declared.sets,
        declared.measure,
        declared.natural,
        declared.n,
        declared.baseline_above,
        declared.filtered_by,
        family,
        declared.make,
        declared,
    )


def _severity_of(declared: Declared, part: str) -> Family | None:
    """The member that a part is of a shift whose parts are severities."""
    low, high = declared.severities
    if not declared.corruption or not part.isdecimal() or not low <= int(part) <= high:
        return None
    return Family(declared.name, declared.corruption, int(part))


def _member(declared: Declared, part: str) -> ShiftEntry | None:
    """A member of a family (``fog/3``), or all severities of one corruption (``fog``)."""
    given, _, number = part.partition("/")
    corruption = _corruption(declared, given)
    if corruption is None or (number and not number.isdigit()):
        return None
    if not number:
        return _entry(declared, part=corruption)
    low, high = declared.severities
    if not low <= int(number) <= high:
        return None
    family = Family(declared.name, corruption, int(number))
    name = declared.member.format(corruption=corruption, severity=int(number))
    return _entry(declared, name=name, family=family)


def _corruption(declared: Declared, given: str) -> str | None:
    """A corruption of a family as it is written here; where the family may have any, as it is given."""
    if not declared.corruptions:
        return given or None
    return next((one for one in declared.corruptions if key_of(one) == key_of(given)), None)


def _by_form(text: str) -> ShiftEntry | None:
    """A name whose parts stand elsewhere than behind a slash, as in ``imagenet-c.fog.3_on-disk``."""
    for declared, form in _forms():
        match = form.fullmatch(text)
        if match is None:
            continue
        if not declared.is_family:
            return _entry(declared, part=match["part"])
        return _member(declared, f"{match['corruption']}/{match['severity']}")
    return None


@cache
def _forms() -> tuple[tuple[Declared, re.Pattern[str]], ...]:
    every = [*clean_sides().values(), *declared_shifts().values()]
    own = [one for one in every if one.member and not one.member.startswith(f"{one.name}/")]
    return tuple((one, _form(one.member)) for one in own)


def _form(member: str) -> re.Pattern[str]:
    """The pattern of a form of names.

    >>> _form("imagenet-c.{corruption}.{severity}_on-disk").fullmatch("imagenet-c.fog.3_on-disk")["severity"]
    '3'
    """
    wanted = {"corruption": r"\w+", "severity": r"\d+", "part": r"[^/]+"}
    pieces = []
    for text, field, _, _ in Formatter().parse(member):
        pieces += [re.escape(text), f"(?P<{field}>{wanted[field]})" if field else ""]
    return re.compile("".join(pieces), re.IGNORECASE)


def _by_pattern(text: str) -> ShiftEntry | None:
    for one in patterns():
        if re.fullmatch(one.pattern, text, re.IGNORECASE):
            return _entry(one.declared, name=text.lower())
    return None


def _wrong_part(declared: Declared, part: str, text: str) -> str:
    """Why a family has no such member."""
    given, _, number = part.partition("/")
    corruption = _corruption(declared, given)
    if corruption is None:
        known = [f"{declared.name}/{one}" for one in declared.corruptions]
        return f"no condition named {text!r}{did_you_mean(f'{declared.name}/{given}', known)}"
    low, high = declared.severities
    return f"no condition named {text!r}: {number!r} is no severity; those of {declared.name} are {low} to {high}"
