"""From the names that a user gives with ``--on`` to shifts; ``clean`` alone is a condition by itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from oodometer.attacks.spec import is_attack_name, parse_attack
from oodometer.catalogue.marks import is_marked, unmarked
from oodometer.catalogue.names import find_shift, group_members, shift_named
from oodometer.catalogue.shifts import declared_groups
from oodometer.catalogue.tables import key_of
from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.load import load_data
from oodometer.data.released import Registration
from oodometer.data.root import missing_line, root_at
from oodometer.shifts.adversarial import ATTACKS
from oodometer.shifts.as_testbed import as_testbed
from oodometer.shifts.installed import installed_groups, installed_shifts
from oodometer.shifts.make import made
from oodometer.shifts.released import release_asked_for, shift_of
from oodometer.shifts.sources import Sources, UnmatchedError
from oodometer.shifts.testbed import is_left_packed

Way = Literal["oodometer", "testbed"]
WAYS: tuple[Way, ...] = get_args(Way)


@dataclass(frozen=True)
class Asked:
    """What is to be run.

    Args:
        missing: The members of groups whose data are not there.
        unmatched: Those of whose classes one side has no images, which happens where a set is not whole.
    """

    found: tuple[Condition | Shift, ...]
    missing: tuple[str, ...]
    unmatched: tuple[str, ...] = ()


def load_shifts(
    *names: str,
    data: str | os.PathLike[str] | None = None,
    data_root: str | None = None,
    images: int | None = None,
    seed: int = 0,
    partial: bool = False,
    as_: Way = "oodometer",
) -> list[Condition | Shift]:
    """The conditions and shifts of these names, for `run`; what of a group has no data on disk is left out.

    Args:
        names: As after ``--on``: ``natural``, ``imagenet-a``, ``pgd-linf-2``, ``imagenet-c/fog``...
        data: The images that corruptions and attacks are made on; with a root, its clean ImageNet.
        data_root: The folder of published data sets; by default what ``OODOMETER_DATA`` names.
        images: At most so many images of each set.
        seed: Of the choice of images, and of every draw.
        partial: Use published sets that are not whole.
        as_: Whose way to show corruptions, styles and attacks: ``testbed`` is that of the 204 models of Taori et al.
    """
    release = release_asked_for(None if data is None else os.fspath(data), names)
    check_names(names, release)
    way = is_testbed(as_)
    dataset = None if data is None else load_data(data)
    sources = Sources(dataset, root_at(data_root, partial=partial), images, seed, as_testbed=way, release=release)
    return list(asked_for(names, sources).found)


def is_testbed(way: str) -> bool:
    """Whether a way is the testbed's; an error where it is none.

    >>> is_testbed("testbed"), is_testbed("oodometer")
    (True, False)
    """
    if way not in WAYS:
        raise UsageError(f"as {way!r}: expected {' or '.join(WAYS)}")
    return way == "testbed"


def check_names(names: Sequence[str], release: Registration | None = None) -> None:
    """An error for a name that means nothing, before any data are looked at.

    Args:
        release: Whose name may stand among them too.
    """
    if release is not None and (release.name in installed_shifts.names() or find_shift(release.name) is not None):
        raise UsageError(f"{release.file}: there is a shift named {release.name!r} already; give it another name")
    for name in names:
        if release is not None and name == release.name:
            continue
        if group_named(name) is None and name.partition("/")[0] not in installed_shifts.names():
            if find_shift(name) is None and is_attack_name(name):
                parse_attack(name)  # which says what is wrong with it
            shift_named(name, others=[*installed_shifts.names(), *installed_groups.names(), *ATTACKS])


def group_named(text: str) -> str | None:
    """The group of that name, in any spelling; None where it is none."""
    names = [*declared_groups(), *installed_groups.names()]
    return next((name for name in names if key_of(name) == key_of(text)), None)


def group_names() -> list[str]:
    """All groups, in alphabetical order."""
    return sorted({*declared_groups(), *installed_groups.names()})


def members_of(group: str, sources: Sources) -> tuple[str, ...]:
    """The names that a group stands for, whether their data are there or not."""
    if group in installed_groups.names():
        return installed_groups.get(group)
    return group_members(group, lambda name: not missing_sets(name, sources))


def asked_for(names: Sequence[str], sources: Sources) -> Asked:
    """The conditions and shifts of these names, each once."""
    found: dict[str, Condition | Shift] = {}
    missing: Missing = {}
    for name in names:
        for one in _of_name(name, sources, missing):
            found.setdefault(one.name, one)
    unmatched = {name: why for name, why in missing.items() if why}
    if names and not found:
        for why in unmatched.values():
            raise why
        if sources.root is None:
            raise UsageError(
                f"{', '.join(names)}: say where your data sets are, with --data-root FOLDER or OODOMETER_DATA"
            )
        first = known_sets.get(missing_sets(next(iter(missing)), sources)[0])
        raise DataError(f"{', '.join(names)}: none of the data are there; {missing_line(first, sources.root.address)}")
    return Asked(tuple(found.values()), tuple(name for name in missing if name not in unmatched), tuple(unmatched))


Missing = dict[str, UnmatchedError | None]
"""The members of groups that are left out; with an error where the data are there."""


def _of_name(name: str, sources: Sources, missing: Missing) -> Sequence[Condition | Shift]:
    group = group_named(name)
    if group is not None:
        return _of_group(group, sources, missing)
    if sources.release is not None and name == sources.release.name:
        return [shift_of(sources.release, sources)]
    if name.partition("/")[0] in installed_shifts.names():
        return _of_installed(name, sources)
    plain = made(shift_named(unmarked(name)), sources)
    return [as_testbed(one) for one in plain] if sources.as_testbed or is_marked(name) else plain


def _of_installed(name: str, sources: Sources) -> list[Shift]:
    """The shifts that an installed package has under a name, or under a part of it."""
    every = list(installed_shifts.get(name.partition("/")[0]).make(sources))
    wanted = [one for one in every if "/" not in name or one.name == name or one.name.startswith(f"{name}/")]
    if not wanted:
        raise UsageError(f"no shift named {name!r}{did_you_mean(name, [one.name for one in every])}")
    return wanted


def _of_group(group: str, sources: Sources, missing: Missing) -> list[Condition | Shift]:
    """What of a group can be made of the data that are there."""
    found: list[Condition | Shift] = []
    for member in members_of(group, sources):
        if missing_sets(member, sources):
            missing.setdefault(member)
            continue
        try:
            found += _of_name(member, sources, missing)
        except UnmatchedError as why:
            missing.setdefault(member, why)
    return found


def missing_sets(name: str, sources: Sources) -> list[str]:
    """The published sets that a name needs and that are not there, or not this part of them."""
    missing = [one for one in needs_of(name, sources) if not sources.has(one)]
    entry = find_shift(name)
    return missing or (["imagenet-c"] if entry is not None and is_left_packed(entry, sources) else [])


def needs_of(name: str, sources: Sources) -> tuple[str, ...]:
    """The published sets that a name needs; what may be made of any clean images, none where there are some."""
    if name.partition("/")[0] in installed_shifts.names():
        return installed_shifts.get(name.partition("/")[0]).sets
    entry = find_shift(name)
    if entry is None:
        return ()
    return () if entry.declared.of_any_images and sources.dataset is not None else entry.sets
