"""What models are asked to look at, and in words what of it is left out or not fair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.catalogue.marks import is_marked, unmarked
from oodometer.catalogue.names import find_shift
from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.model import Model
from oodometer.core.stored_answers import StoredAnswers
from oodometer.core.talk import Tell, unheard
from oodometer.corruptions.jit import tell_if_compiling
from oodometer.shifts.attribute import shifts_of_flags
from oodometer.shifts.cifar import subtypes_of
from oodometer.shifts.icons import protocol_of
from oodometer.shifts.resolve import Asked, asked_for, group_named, missing_sets
from oodometer.shifts.sources import IMAGENET, Sources


@dataclass(frozen=True)
class Attributes:
    """An attribute shift as a user says it: what the base has, what changes, and the share of the IID test."""

    base: str | None = None
    shifts: tuple[str, ...] = ()
    test_share: float | None = None


def conditions_asked(
    names: Sequence[str], sources: Sources, attributes: Attributes, *, tell: Tell = unheard
) -> list[Condition | Shift]:
    """The conditions and shifts of these names, and those of attributes; without any, the clean images.

    Args:
        tell: Told what is left out and why.
    """
    wanted = names or (() if attributes.base else ("clean",))
    if sources.settings and not any(name.partition("/")[0] == "adain" for name in wanted):
        raise UsageError("--style-weights and --style-images are for --on adain; give that too")
    asked = asked_for(wanted, sources)
    _tell_left_out(asked, sources, tell)
    if sources.as_testbed and not any(is_marked(one.name) for one in asked.found):
        tell("as testbed: nothing that is asked is shown in another way there")
    conditions = [*asked.found, *_of_attributes(sources, attributes, tell)]
    sides = [one.shifted if isinstance(one, Shift) else one for one in conditions]
    if any(side.transform is not None for side in sides):
        tell_if_compiling(tell)
    return conditions


def _of_attributes(sources: Sources, attributes: Attributes, tell: Tell) -> list[Shift]:
    share = attributes.test_share
    if attributes.base or attributes.shifts:
        return shifts_of_flags(sources, attributes.base, attributes.shifts, test_share=share, tell=tell)
    if share is not None:
        raise UsageError("--test-share is that of an attribute shift; give --base and --shift too")
    return []


def _tell_left_out(asked: Asked, sources: Sources, tell: Tell) -> None:
    root = sources.root.address if sources.root else "the data"
    unclean = [name for name in asked.missing if IMAGENET in missing_sets(name, sources)]
    absent = [name for name in asked.missing if name not in unclean]
    where = "'oodometer ls shifts' says what is missing and where to get it"
    if unclean:
        why = f"without clean images (no imagenet in {root}, no --data)"
        tell(f"left out, {why}: {some_of(unclean)}; {where}")
    if absent:
        tell(f"left out, not in {root}: {some_of(absent)}; {where}")
    if asked.unmatched:
        tell(f"left out, no images of their classes to compare with: {some_of(asked.unmatched)}")


def without_attacks_of_groups(
    asked: Sequence[Condition | Shift],
    models: Sequence[Model | StoredAnswers],
    names: Sequence[str],
    *,
    tell: Tell = unheard,
) -> list[Condition | Shift]:
    """What is asked, less the attacks that only a group names where a model has no gradients; that is told."""
    shifts = [shift for shift in asked if isinstance(shift, Shift)]
    attacks = [
        shift.name for shift in shifts if shift.shifted.attack is not None and not {*_spelt(shift.name)} & {*names}
    ]
    blind = [model.name for model in models if not (isinstance(model, Model) and model.differentiable)]
    if not attacks or not blind:
        return list(asked)
    tell(f"left out, no gradients in {some_of(blind)}: {some_of(attacks)}; run these with the models that have them")
    return [condition for condition in asked if condition.name not in attacks]


def _spelt(name: str) -> tuple[str, str]:
    """A name with the mark of the testbed's way, as it may have it, and without."""
    return name, unmarked(name)


def named_by_groups_alone(asked: Sequence[Condition | Shift], names: Sequence[str]) -> frozenset[str]:
    """The names of those that no name but that of a group stands for: some models may not have their classes."""
    if not any(group_named(name) for name in names):
        return frozenset()
    plain = [unmarked(name) for name in names]
    by_name = {entry.of for name in plain if group_named(name) is None and (entry := find_shift(name))}
    entries = {one.name: find_shift(unmarked(one.name)) for one in asked}
    return frozenset(name for name, entry in entries.items() if entry is not None and entry.of not in by_name)


def tell_what_was_trained_on(
    asked: Sequence[Condition | Shift], models: Sequence[Model | StoredAnswers], tell: Tell
) -> None:
    """A line for each model whose card says that it saw what a shift tests: its numbers are not fair."""
    for model in models:
        _tell_of_22k(asked, model, tell)
        hold_outs = hold_outs_of(model.notes) if isinstance(model, Model) else None
        seen = {} if hold_outs is None else protocols_seen(hold_outs, asked)
        for line in _other_subtypes(hold_outs or (), asked):
            tell(f"warning: {model.name} {line}")
        if hold_outs is not None and seen:
            test = "tests" if len(seen) == 1 else "test"
            tell(
                f"warning: {model.name} was trained on what {some_of(list(seen))} {test}: its card holds out "
                f"{', '.join(hold_outs) or 'nothing'}, not {', '.join(dict.fromkeys(seen.values()))}"
            )


def _other_subtypes(hold_outs: Iterable[str], asked: Iterable[Condition | Shift]) -> list[str]:
    """About shifts of CIFAR-100 that hold out fewer subtypes than a model did, which is then unfair to it."""
    held_out = max((text for text in hold_outs if text.startswith("subtypes/")), default=None)
    needed = {shift.name: subtypes_of(shift.name) for shift in asked if isinstance(shift, Shift)}
    fewer = [name for name, wanted in needed.items() if held_out and wanted and wanted < held_out]
    what = f"was trained without {held_out}: not all subtypes of the standard side of {some_of(fewer)} are known to it"
    return [what] if fewer else []


IMAGENET_22K = re.compile(r"(imagenet|\bin)[-_ ]?2[12]k", re.IGNORECASE)
"""The whole of ImageNet, as people write it; 21K is the same without its rarest classes."""

OF_22K = ("imagenet-o", "imagenet-22k-subtypes", "imagenet-22k-subtypes:paper")
"""Shifts whose images are of classes that ImageNet-1k lacks and ImageNet-22K has."""


def _tell_of_22k(asked: Sequence[Condition | Shift], model: Model | StoredAnswers, tell: Tell) -> None:
    """A line where a model knows the classes that a shift takes for unknown."""
    said = model.card.training_data or ""
    seen = [one.name for one in asked if (entry := find_shift(one.name)) and entry.of in OF_22K]
    if seen and IMAGENET_22K.search(said):
        have = "has" if len(seen) == 1 else "have"
        tell(
            f"warning: {model.name} was trained on {said}, where the classes are that {some_of(seen)} {have} and "
            "ImageNet-1k lacks: to it they are not new"
        )


def some_of(names: Sequence[str], *, most: int = 20) -> str:
    """The names, and how many more there are.

    >>> some_of(["fog", "snow", "frost"], most=2)
    'fog, snow and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


HOLD_OUT, MADE_WITH = "hold_out", "made_with"
"""Notes on the card of a model that ``oodometer train`` made; the first is left out where nothing was held out."""


def hold_outs_of(notes: Mapping[str, str]) -> tuple[str, ...] | None:
    """What a model was trained without, from the notes on its card; None where they don't tell.

    >>> hold_outs_of({"hold_out": "style=microsoft, subtypes"}), hold_outs_of({"made_with": "oodometer 1"})
    (('style=microsoft', 'subtypes'), ())
    >>> hold_outs_of({})
    """
    if HOLD_OUT not in notes and not notes.get(MADE_WITH, "").startswith("oodometer "):
        return None
    return tuple(one.strip() for one in notes.get(HOLD_OUT, "").split(",") if one.strip())


def protocols_seen(hold_outs: Iterable[str], asked: Iterable[Condition | Shift]) -> dict[str, str]:
    """The shifts of icons and CIFAR-100 that test what was not held out, each with what should have been."""
    held_out = list(hold_outs)
    found: dict[str, str] = {}
    for one in asked:
        if not isinstance(one, Shift):
            continue
        protocol = protocol_of(one.name) or subtypes_of(one.name)
        if protocol in _implied(held_out):
            continue
        if protocol and protocol not in held_out and not _without(one.shifted.dataset, held_out).all():
            found[one.name] = protocol
    return found


def _implied(hold_outs: Sequence[str]) -> set[str]:
    """What is held out along with more: of CIFAR-100 those of subtypes/1 are among those of subtypes/2."""
    most = max((int(text[-1]) for text in hold_outs if re.fullmatch(r"subtypes/\d", text)), default=0)
    return {f"subtypes/{n}" for n in range(1, most + 1)}


def _without(dataset: Dataset, hold_outs: Iterable[str]) -> np.ndarray:
    """Which images ``COLUMN=A|B`` held out, (N,) bool: what one protocol means may be said by values as well."""
    rows = np.zeros(len(dataset), bool)
    for one in hold_outs:
        column, _, values = one.partition("=")
        if column in dataset.columns:
            rows |= np.isin([str(value) for value in dataset.columns[column].tolist()], values.split("|"))
    return rows
