"""From the names that a user gives with ``--on`` to conditions and shifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oodometer.attacks.spec import is_attack_name
from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.load import load_data
from oodometer.data.root import missing_line, root_at
from oodometer.shifts import testbed
from oodometer.shifts.adversarial import ATTACKS, attack_shift
from oodometer.shifts.consistency import is_consistency, pm_shift
from oodometer.shifts.groups import groups
from oodometer.shifts.known_shift import known_shifts
from oodometer.shifts.sources import IMAGENET, Sources, UnmatchedError
from oodometer.shifts.suites import conditions_for, suites


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
    data: str | None = None,
    data_root: str | None = None,
    images: int | None = None,
    seed: int = 0,
    partial: bool = False,
) -> list[Condition | Shift]:
    """The conditions and shifts of these names, for `run`; what of a group has no data on disk is left out.

    Args:
        names: As after ``--on``: ``natural``, ``imagenet-a``, ``pgd-linf-2``, ``imagenet-c/fog``...
        data: The images that corruptions and attacks are made on; with a root, its clean ImageNet.
        data_root: The folder of published data sets; by default what ``OODOMETER_DATA`` names.
        images: At most so many images of each set.
        seed: Of the choice of images, and of every draw.
        partial: Use published sets that are not whole.
    """
    check_names(names)
    dataset = None if data is None else load_data(data)
    sources = Sources(dataset, root_at(data_root, partial=partial), images, seed)
    return list(asked_for(names, sources).found)


def check_names(specs: Sequence[str]) -> None:
    """An error for a name that means nothing, before any data are looked at."""
    for spec in specs:
        name = spec.partition("/")[0]
        known = [*suites.names(), *known_shifts.names(), *groups.names()]
        if name not in known and not (is_attack_name(spec) or is_consistency(spec) or testbed.is_setting(spec)):
            raise UsageError(f"no condition named {spec!r}{did_you_mean(name, [*known, *ATTACKS])}")


def asked_for(specs: Sequence[str], sources: Sources) -> Asked:
    """The conditions and shifts of these names, each once."""
    found: dict[str, Condition | Shift] = {}
    missing: Missing = {}
    for spec in specs:
        for one in _of_name(spec, sources, missing):
            found.setdefault(one.name, one)
    unmatched = {name: why for name, why in missing.items() if why}
    if specs and not found:
        for why in unmatched.values():
            raise why
        if sources.root is None:
            raise UsageError(
                f"{', '.join(specs)}: say where your data sets are, with --data-root FOLDER or OODOMETER_DATA"
            )
        first = known_sets.get(missing_sets(next(iter(missing)), sources)[0])
        raise DataError(f"{', '.join(specs)}: none of the data are there; {missing_line(first, sources.root.address)}")
    return Asked(tuple(found.values()), tuple(name for name in missing if name not in unmatched), tuple(unmatched))


Missing = dict[str, UnmatchedError | None]
"""The members of groups that are left out; with an error where the data are there."""


def _of_name(spec: str, sources: Sources, missing: Missing) -> Sequence[Condition | Shift]:
    name = spec.partition("/")[0]
    if spec in groups.names():
        return _of_group(spec, sources, missing)
    if name in known_shifts.names() and not _is_of_given(name, sources):
        return _known(spec, sources)
    if is_attack_name(spec):
        return [attack_shift(spec, sources)]
    if is_consistency(spec):
        return [pm_shift(spec, sources)]
    if testbed.is_setting(spec):
        return [testbed.setting(spec, sources)]
    return conditions_for(spec, sources.given(), seed=sources.seed)


def _is_of_given(name: str, sources: Sources) -> bool:
    """Whether a name that has a suite and a published set means what ``--data`` names: ImageNet-C for imagenet-c:disk.

    Then there are no clean images to pair it with, whatever else lies below a root.
    """
    is_corrupted = sources.dataset is not None and "corruption" in sources.dataset.columns
    return name in suites.names() and (is_corrupted or sources.root is None)


def _known(spec: str, sources: Sources) -> list[Shift]:
    """The shifts of a name, or of a part of it (``dfr/size_small``)."""
    name, _, part = spec.partition("/")
    made = list(known_shifts.get(name).make(sources))
    wanted = [one for one in made if not part or one.name == spec or one.name.startswith(f"{spec}/")]
    if not wanted:
        raise UsageError(f"no shift named {spec!r}{did_you_mean(spec, [one.name for one in made])}")
    return wanted


def _of_group(name: str, sources: Sources, missing: Missing) -> list[Condition | Shift]:
    """What of a group can be made of the data that are there."""
    found: list[Condition | Shift] = []
    for member in groups.get(name)(sources):
        if missing_sets(member, sources):
            missing.setdefault(member)
            continue
        try:
            found += _of_name(member, sources, missing)
        except UnmatchedError as why:
            missing.setdefault(member, why)
    return found


def missing_sets(spec: str, sources: Sources) -> list[str]:
    """The published sets that a name needs and that are not there, or not this part of them."""
    missing = [one for one in needs_of(spec, sources) if not sources.has(one)]
    return missing or (["imagenet-c"] if testbed.is_left_packed(spec, sources) else [])


def needs_of(spec: str, sources: Sources) -> tuple[str, ...]:
    """The published sets that a name needs; whatever has none of its own is made of the clean images."""
    name = spec.partition("/")[0]
    if name in known_shifts.names():
        return known_shifts.get(name).needs
    if testbed.is_setting(spec):
        return testbed.needs_of(spec)
    return () if sources.dataset is not None else (IMAGENET,)
