"""Which images an accuracy is estimated on without their labels, and which labelled ones it is estimated from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oodometer.analysis.measured_shifts import CLEAN, is_clean
from oodometer.catalogue.names import find_shift
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.core.records import ConditionRecord
from oodometer.store.index import Index


class TwoSides(NamedTuple):
    """Labelled images, and others over the same classes whose labels are not looked at."""

    clean: ConditionRecord
    shifted: ConditionRecord


def asked_sides(index: Index, shifted: str = "", clean: str = "") -> TwoSides:
    """The sides that a user means.

    Args:
        shifted, clean: Conditions, or what the data are called that were seen as they are. Without a shifted one it is
            the only set without labels; without a clean one the other side of the shift, or the store's clean images.
    """
    answered = _conditions(index, labelled=False)
    if not answered:
        raise StoreError(f"{index}: no predictions in it yet; 'oodometer run' or 'oodometer import' makes them")
    shifted = shifted or _only_unlabelled(index)
    found = _called(index, shifted, answered)
    if not found:
        raise UsageError(f"{index}: nothing was run on {shifted!r}{did_you_mean(shifted, _names(index, answered))}")
    if len(found) > 1 and clean:
        # The clean images may tell which classes are meant.
        found = [one for one in found if _standards(index, one, clean)] or found
    if len(found) > 1:
        several = _names(index, found)
        more = f" and {len(several) - 5} more" if len(several) > 5 else ""
        raise UsageError(f"{index}: {shifted} is several conditions; say which: {', '.join(several[:5])}{more}")
    (one,) = found
    standards = _standards(index, one, clean)
    if not standards:
        raise StoreError(_without_clean(index, one, clean))
    if len(standards) > 1:
        names = " or ".join(f"--clean {name!r}" for name in _names(index, standards))
        raise UsageError(f"{index}: several clean sets have the classes of {shifted}; say which: {names}")
    return TwoSides(standards[0], one)


def _only_unlabelled(index: Index) -> str:
    """The name of the one set that nobody labelled; an error where there are none, or several."""
    found = [index.condition_name_of[one.key] for one in _unlabelled(index)]
    if not found:
        raise UsageError(
            f"{index}: every image has a label; name a set with --shifted, to see it estimated without them"
        )
    if len(found) > 1:
        raise UsageError(f"{index}: several sets have no labels; say which with --shifted: {', '.join(sorted(found))}")
    return found[0]


def sides_without_labels(index: Index) -> list[TwoSides]:
    """Every condition that nobody labelled, with the clean images that it can be estimated from.

    Images of no class, and what was run as such (``--ood``), are not among them: no answer to them can be right.
    """
    pairs = [(_standards(index, one, ""), one) for one in _unlabelled(index)]
    return [TwoSides(standards[0], one) for standards, one in pairs if len(standards) == 1]


def _unlabelled(index: Index) -> list[ConditionRecord]:
    """The conditions that nobody labelled and that are not of no class."""
    labelled = {one.key for one in _conditions(index, labelled=True)}
    every = _conditions(index, labelled=False)
    return [one for one in every if one.key not in labelled and not maybe_of_no_class(one)]


def maybe_of_no_class(condition: ConditionRecord) -> bool:
    """Whether images without labels are of none of the classes, as far as one can tell: seen not as ``clean``."""
    entry = find_shift(condition.name)
    return entry.measure == "none" if entry is not None else condition.name != CLEAN


def _conditions(index: Index, *, labelled: bool) -> list[ConditionRecord]:
    """The conditions that somebody answered, or those with labels alone."""
    entries = [entry for entry in index.answered if entry.n or not labelled]
    return list({entry.cell.condition.key: entry.cell.condition for entry in entries}.values())


def _called(index: Index, name: str, among: Sequence[ConditionRecord]) -> list[ConditionRecord]:
    """The conditions of that name: as the store calls them, as they were run, by their data, by another spelling."""
    entry = find_shift(name)
    ways = (
        lambda one: index.condition_name_of[one.key] == name,
        lambda one: one.name == name,
        lambda one: one.name == CLEAN and one.data.title == name,
        lambda one: entry is not None and (known := find_shift(one.name)) is not None and known.name == entry.name,
        lambda one: one.name.startswith(f"{name}/"),
    )
    return next((found for way in ways if (found := [one for one in among if way(one)])), [])


def _standards(index: Index, shifted: ConditionRecord, clean: str) -> list[ConditionRecord]:
    """The labelled conditions over the same classes that it can be estimated from."""
    fit = [
        one
        for one in _conditions(index, labelled=True)
        if one.label_map == shifted.label_map and one.key != shifted.key
    ]
    if clean:
        return _called(index, clean, fit)
    pairs = [pair.standard.key for pair in index.shifts if pair.shifted.key == shifted.key]
    paired = [one for one in fit if one.key in pairs]
    return paired or [one for one in fit if is_clean(one.name)]


def _names(index: Index, conditions: Sequence[ConditionRecord]) -> list[str]:
    """Names by which the conditions can be asked for: of clean images what their data are called, if that is enough."""
    titles = [one.data.title for one in conditions if one.name == CLEAN]
    return sorted(
        one.data.title if one.name == CLEAN and titles.count(one.data.title) == 1 else index.condition_name_of[one.key]
        for one in conditions
    )


def _without_clean(index: Index, shifted: ConditionRecord, clean: str) -> str:
    name = index.condition_name_of[shifted.key]
    if clean:
        unlabelled = _called(index, clean, _conditions(index, labelled=False))
        if unlabelled and not _called(index, clean, _conditions(index, labelled=True)):
            return f"{index}: the images of {clean} have no labels; an estimate begins with accuracy on labelled images"
        if unlabelled:
            return f"{index}: {clean} and {name} are not over the same classes; run both with the same label map"
        known = _names(index, _conditions(index, labelled=True))
        return f"{index}: nothing was run on {clean!r}{did_you_mean(clean, known)}"
    return (
        f"{index}: no labelled clean images over the classes of {name} were run, and an estimate begins with the "
        "accuracy there; run them, or name them with --clean"
    )
