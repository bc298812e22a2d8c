"""What came of a quiz: for each person the accuracy on both sets, and for all of them together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.build.testset.frequencies import INTERVAL
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.quiz import NEW, OLD, SETS, answers_in_quiz, sizes_of
from oodometer.core.errors import DataError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import difference_of, mean_of, share_of

LEVEL = 0.95


@dataclass(frozen=True)
class OnSet:
    """What a person did on the images of one set.

    Args:
        n: Images that they saw.
        n_cannot_tell: Those of them that they gave no name; they count as not right.
        accuracy: The share whose class is among the names that they gave.
        first: The share whose class is the first of these names.
        mean_names: How many names they gave, on average of the images that they named; None without any.
    """

    n: int
    n_cannot_tell: int
    accuracy: Estimate
    first: Estimate
    mean_names: float | None


@dataclass(frozen=True)
class PersonResult:
    """What one person did; a set that they saw nothing of is None, and so is the difference then.

    Args:
        person: A number of this table alone.
        difference: Accuracy on the new set minus that on the original one.
    """

    person: int
    old: OnSet | None
    new: OnSet | None
    difference: Estimate | None


@dataclass(frozen=True)
class QuizResults:
    """What came of a quiz.

    Args:
        n_old: Images of the original set that are asked about.
        n_new: Of the new set.
        people: One row each.
        old: The mean over the images of the share of people who were right; the interval is for other images that
            these people might have been shown. None without answers.
        new: The same of the new set.
        difference: New minus original, by these two.
        over_people: The mean of the people's own differences; the interval is for other people who might have been
            shown these images.
    """

    n_old: int
    n_new: int
    people: tuple[PersonResult, ...]
    old: Estimate | None
    new: Estimate | None
    difference: Estimate | None
    over_people: Estimate | None


def quiz_results(project: Project) -> QuizResults:
    """What came of the quiz so far; an error where nobody was asked anything."""
    sizes = sizes_of(project)
    if not any(sizes.values()):
        how = f"oodometer testset quiz {project.folder} --hardest SCORES.csv"
        raise DataError(f"{project.folder}: there is no quiz; make one: {how}")
    given: dict[int, dict[str, list[_Given]]] = defaultdict(lambda: {OLD: [], NEW: []})
    right: dict[str, dict[str, list[bool]]] = {OLD: defaultdict(list), NEW: defaultdict(list)}
    for worker, which, key, true, names in answers_in_quiz(project):
        one = _Given(true in names, names[:1] == (true,), len(names))
        given[worker][which].append(one)
        right[which][key].append(one.right)
    people = tuple(_person(at, given[worker]) for at, worker in enumerate(sorted(given), start=1))
    old, new = (_over_images(right[which]) for which in SETS)
    differences = [one.difference.value for one in people if one.difference is not None]
    return QuizResults(
        sizes[OLD],
        sizes[NEW],
        people,
        old,
        new,
        None if old is None or new is None else difference_of(new, old, n=None, level=LEVEL),
        mean_of(np.array(differences), bounds=(-1.0, 1.0)) if differences else None,
    )


def as_json(found: QuizResults) -> dict[str, Any]:
    """For programs."""
    return {
        "images": {OLD: found.n_old, NEW: found.n_new},
        "people": [
            {
                "person": one.person,
                OLD: _on_set(one.old),
                NEW: _on_set(one.new),
                "difference": _estimate(one.difference),
            }
            for one in found.people
        ],
        "mean": {OLD: _estimate(found.old), NEW: _estimate(found.new), "difference": _estimate(found.difference)},
        "difference_over_people": _estimate(found.over_people),
    }


@dataclass(frozen=True)
class _Given:
    right: bool
    first: bool
    n_names: int


def _person(number: int, given: dict[str, list[_Given]]) -> PersonResult:
    old, new = (_on(given[which]) for which in SETS)
    if old is None or new is None:
        return PersonResult(number, old, new, None)
    difference = difference_of(new.accuracy, old.accuracy, n=old.n + new.n, level=LEVEL)
    return PersonResult(number, old, new, difference)


def _on(some: list[_Given]) -> OnSet | None:
    if not some:
        return None
    n_names = [one.n_names for one in some if one.n_names]
    return OnSet(
        n=len(some),
        n_cannot_tell=len(some) - len(n_names),
        accuracy=share_of(sum(one.right for one in some), len(some), interval=INTERVAL, level=LEVEL),
        first=share_of(sum(one.first for one in some), len(some), interval=INTERVAL, level=LEVEL),
        mean_names=float(np.mean(n_names)) if n_names else None,
    )


def _over_images(right: dict[str, list[bool]]) -> Estimate | None:
    """The mean over images of the share of people who were right; one person alone gives shares of 0 and 1."""
    if not right:
        return None
    shares = np.array([np.mean(some) for some in right.values()])
    if np.isin(shares, (0.0, 1.0)).all():
        return share_of(int(shares.sum()), len(shares), interval=INTERVAL, level=LEVEL)
    return mean_of(shares, level=LEVEL, bounds=(0.0, 1.0))


def _on_set(one: OnSet | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "n": one.n,
        "cannot_tell": one.n_cannot_tell,
        "accuracy": _estimate(one.accuracy),
        "first": _estimate(one.first),
        "mean_names": one.mean_names,
    }


def _estimate(one: Estimate | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"value": one.value, "low": one.low, "high": one.high, "n": one.n, "interval": one.interval}
