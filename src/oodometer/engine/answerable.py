"""Which models can answer which shifts: of a group, each model is asked about those whose classes it has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import DataError, OodometerError
from oodometer.core.model import Model
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.plan import label_map_for, labels_for, other_labels_for

SHOWN = 20
"""Shifts that a line names."""


@dataclass(frozen=True)
class Answerable:
    """What is left of what was asked.

    Args:
        shifts: Those that a model at least can answer.
        lacking: Of each model the places of the shifts, among these, whose classes it lacks.
        lines: What is left out for which models, in words.
    """

    shifts: tuple[Condition | Shift, ...]
    lacking: dict[str, frozenset[int]]
    lines: tuple[str, ...]

    def without(self, condition: Condition) -> frozenset[str]:
        """The models that are not asked about a condition: all shifts of which it is a side are left out for them."""
        places = {
            at for at, one in enumerate(self.shifts) if any(same_condition(condition, side) for side in sides_of(one))
        }
        return frozenset(model for model, lacking in self.lacking.items() if places <= lacking)


def answerable(
    shifts: Sequence[Condition | Shift], models: Sequence[Model | StoredAnswers], may_leave_out: Collection[str]
) -> Answerable:
    """The shifts that can be answered, and by whom; an error where nothing is left.

    Args:
        may_leave_out: Names of shifts that are left out for models without their classes.
    """
    live = [model for model in models if isinstance(model, Model)]
    why = {
        (model.name, at): reason
        for model in live
        for at, one in enumerate(shifts)
        if one.name in may_leave_out and (reason := _lacking(model, one))
    }
    stored = len(live) < len(models)
    kept = [at for at in range(len(shifts)) if stored or any((model.name, at) not in why for model in live)]
    if not kept:
        raise DataError(f"no model has the classes of what is asked: {next(iter(why.values()))}")
    lacking = {
        model.name: frozenset(place for place, at in enumerate(kept) if (model.name, at) in why) for model in live
    }
    return Answerable(tuple(shifts[at] for at in kept), lacking, tuple(_lines(shifts, live, why)))


def sides_of(one: Condition | Shift) -> tuple[Condition, ...]:
    """Both sides of a shift; a condition is its own."""
    return (one.standard, one.shifted) if isinstance(one, Shift) else (one,)


def same_condition(a: Condition, b: Condition) -> bool:
    """Whether two conditions are the same."""
    # Not by their descriptions: those hold the digest of the data, for which every file would have to be read.
    return a is b or (a.dataset is b.dataset and _without_data(a) == _without_data(b))


def _without_data(one: Condition) -> tuple[Any, ...]:
    """All that a condition is besides its data; functions do not count, as what they do is in the parameters."""
    transform, attack = one.transform, one.attack
    return (
        one.name,
        one.label_map,
        one.unit,
        transform and (transform.name, transform.parameters, transform.view),
        attack and (attack.name, attack.parameters),
    )


def _lacking(model: Model, one: Condition | Shift) -> str:
    """Why a model can't answer a shift; empty where it can."""
    try:
        for side in sides_of(one):
            labels_for(model, side)
            other_labels_for(model, side)
            label_map_for(model, side)
    except OodometerError as reason:
        return str(reason)
    return ""


def _family_or_name(one: Condition | Shift) -> str:
    """All members of a family have the same classes."""
    return one.family.name if isinstance(one, Shift) and one.family is not None else one.name


def _lines(
    shifts: Sequence[Condition | Shift], models: Sequence[Model], why: dict[tuple[str, int], str]
) -> Iterator[str]:
    """A line for the models from which the same is left out."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for model in models:
        lacking = [one for at, one in enumerate(shifts) if (model.name, at) in why]
        names = tuple(dict.fromkeys(_family_or_name(one) for one in lacking))
        groups.setdefault(names, []).append(model.name)
    for names, of_models in groups.items():
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            lack = "which lacks" if len(of_models) == 1 else "which lack"
            yield f"left out for {', '.join(of_models)}, {lack} their classes: {', '.join(names[:SHOWN])}{more}"
