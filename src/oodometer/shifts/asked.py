"""From the names that a user gives with ``--on`` to conditions and shifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.data.root import missing_line
from oodometer.data.sets.known_set import known_sets
from oodometer.shifts.groups import groups
from oodometer.shifts.known_shift import known_shifts
from oodometer.shifts.sources import Sources
from oodometer.shifts.suites import conditions_for, suites


@dataclass(frozen=True)
class Asked:
    """What is to be run, and what was left out of a group because its data are not there."""

    found: tuple[Condition | Shift, ...]
    left_out: tuple[str, ...]


def check_names(specs: Sequence[str]) -> None:
    """An error for a name that means nothing, before any data are looked at."""
    for spec in specs:
        name = spec.partition("/")[0]
        if name not in (*suites.names(), *known_shifts.names(), *groups.names()):
            known = [*suites.names(), *known_shifts.names(), *groups.names()]
            raise UsageError(f"no condition named {spec!r}{did_you_mean(name, known)}; see 'oodometer ls shifts'")


def asked_for(specs: Sequence[str], sources: Sources) -> Asked:
    """The conditions and shifts of these names, each once."""
    found: dict[str, Condition | Shift] = {}
    left_out: dict[str, None] = {}
    for spec in specs:
        for one in _of_name(spec, sources, left_out):
            found.setdefault(one.name, one)
    if specs and not found:
        raise DataError(f"none of the data are there: {'; '.join(left_out)}")
    return Asked(tuple(found.values()), tuple(left_out))


def _of_name(spec: str, sources: Sources, left_out: dict[str, None]) -> Sequence[Condition | Shift]:
    name, _, part = spec.partition("/")
    if spec in groups.names():
        return _of_group(spec, sources, left_out)
    if name in known_shifts.names() and not _is_of_given(name, sources):
        made = known_shifts.get(name).make(sources)
        wanted = [one for one in made if not part or one.name == spec or one.name.startswith(f"{spec}/")]
        if not wanted:
            raise UsageError(f"no shift named {spec!r}{did_you_mean(spec, [one.name for one in made])}")
        return wanted
    return conditions_for(spec, sources.given(), seed=sources.seed)


def _is_of_given(name: str, sources: Sources) -> bool:
    """Whether a name that is both a shift and a suite means the data that the user names: they are ImageNet-C."""
    return name in suites.names() and sources.dataset is not None and "corruption" in sources.dataset.columns


def _of_group(name: str, sources: Sources, left_out: dict[str, None]) -> list[Condition | Shift]:
    """What of a group can be made of the data that are there."""
    found: list[Condition | Shift] = []
    for member in groups.get(name)(sources):
        lacking = missing_sets(member, sources)
        if lacking:
            root = sources.root.address if sources.root else "the data root"
            left_out.setdefault(f"{member}: {missing_line(known_sets.get(lacking[0]), root)}")
        else:
            found += _of_name(member, sources, left_out)
    return found


def missing_sets(spec: str, sources: Sources) -> list[str]:
    """The published sets that a name needs and that are not there."""
    name = spec.partition("/")[0]
    needs = known_shifts.get(name).needs if name in known_shifts.names() else ()
    if not needs and sources.dataset is None:
        needs = ("imagenet",)  # whatever has no set of its own is made of the clean images
    return [one for one in needs if not sources.has(one)]
