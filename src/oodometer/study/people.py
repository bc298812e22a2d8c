"""People who answered, told apart from the models: what they reach stands beside each condition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from oodometer.analysis.points import named
from oodometer.core.estimate import Estimate
from oodometer.study.study import StudyCondition

SAID = "people, as imported, are no models: no line goes through them, and none is ranked; figures show their accuracy"


def about_people(people: Collection[str]) -> list[str]:
    """A line about them, lest they be missed among the models."""
    return [f"{named(sorted(people))}: {SAID}"] if people else []


def apart_from_people(conditions: Sequence[StudyCondition], people: Collection[str]) -> tuple[StudyCondition, ...]:
    """The conditions that models were asked about, with what people reach there.

    People answer some of the images only, as a rule, which is another condition of the same name and data: it counts
    for those of the models, and is none of its own.
    """
    split = [_split(condition, people) for condition in conditions]
    asked = [condition for condition in split if condition.accuracies or not condition.people]
    alone = [condition for condition in split if condition.people and not condition.accuracies]
    return tuple(_with(condition, [other for other in alone if _are_alike(other, condition)]) for condition in asked)


def _split(condition: StudyCondition, people: Collection[str]) -> StudyCondition:
    sides: tuple[dict[str, Estimate], dict[str, Estimate]] = ({}, {})
    for name, accuracy in condition.accuracies.items():
        sides[name in people][name] = accuracy
    return replace(condition, accuracies=sides[0], people=sides[1])


def _with(condition: StudyCondition, others: Sequence[StudyCondition]) -> StudyCondition:
    more = {name: accuracy for other in others for name, accuracy in other.people.items()}
    return replace(condition, people={**more, **condition.people})


def _are_alike(first: StudyCondition, other: StudyCondition) -> bool:
    """Whether two conditions are of one name and of images of one data set, however many of them."""
    if first.record is None or other.record is None or first.condition != other.condition:
        return False
    return (first.record.data.name, first.record.data.part) == (other.record.data.name, other.record.data.part)
