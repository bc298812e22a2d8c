"""Two models over a family of conditions: one summary of them all, on the images that both saw under each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oodometer.analysis.families import family_in
from oodometer.analysis.family_apart import PairApart
from oodometer.analysis.judged_pair import (
    DEFAULT,
    CompareOptions,
    Judged,
    answers_of_pair,
    judged,
    p_line,
    plain_values,
    verdict_of,
)
from oodometer.analysis.sampled import accuracy_of, pair_drawn_apart
from oodometer.analysis.text import plural
from oodometer.catalogue.names import find_shift
from oodometer.core.errors import StoreError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import standard_error
from oodometer.store.cells import Cell
from oodometer.store.index import Index

FEW = 3
"""More conditions are counted, not named."""


TOGETHER = "that both saw under each"


@dataclass(frozen=True)
class FamilyComparison:
    """Model B against model A over a family of conditions, on the images that both saw under every one of them.

    Args:
        condition: The family, or a corruption of it.
        accuracy_a, accuracy_b: The mean over the conditions of top-1.
        difference: Accuracy of B minus accuracy of A; each image counts once, with the mean of its differences.
        sd: Of the images' differences.
        conditions: The names of the conditions.
        left_out: Conditions of the family that one of the two lacks.
        level: Of the intervals and the verdict.
        test: What is tested, and ``p_value`` what it gives.
        p_adjusted: For the number of comparisons, where there are several; ``correction`` says how.
        images: Which images n counts.
    """

    model_a: str
    model_b: str
    condition: str
    data: str
    accuracy_a: Estimate
    accuracy_b: Estimate
    difference: Estimate
    sd: float
    conditions: tuple[str, ...]
    left_out: tuple[str, ...]
    level: float
    test: str = ""
    p_value: float | None = None
    p_adjusted: float | None = None
    correction: str = ""
    images: str = TOGETHER
    _judged: Judged | None = field(default=None, repr=False, compare=False)

    @property
    def heading(self) -> str:
        """What it is about."""
        return f"{self.condition} on {self.data}"

    @property
    def verdict(self) -> str:
        """What the test says, corrected for the number of comparisons, in words."""
        if self.p_adjusted is not None:
            return verdict_of(self.model_b, self.difference.value, self.p_adjusted, self.level)
        low, high = self.difference.low, self.difference.high
        if low is None or high is None or low <= 0 <= high:
            return "no difference shown"
        return f"{self.model_b} is {'better' if low > 0 else 'worse'}"

    def difference_at(self, level: float) -> Estimate:
        """The difference with its interval at another level."""
        assert self._judged is not None
        return self._judged.difference_at(level)

    def __str__(self) -> str:
        width = max(len(self.model_a), len(self.model_b), len("difference"))
        n, over = self.difference.n, f"mean top-1 over {plural(len(self.conditions), 'condition')}"
        difference, the = self.difference, "the " if self.images == TOGETHER else ""
        lines = [
            f"{self.heading}, {over}, {the}{n} images {self.images}",
            f"  {self.model_a.ljust(width)}  {self.accuracy_a}",
            f"  {self.model_b.ljust(width)}  {self.accuracy_b}",
            f"  {'difference'.ljust(width)}  {difference:+.4f}  n={difference.n}  ({difference.interval})",
            *self._about_left_out(),
            f"  {self._told()}{self.verdict}",
        ]
        return "\n".join(lines)

    def _told(self) -> str:
        if self.p_value is None or self.p_adjusted is None:
            return ""
        return f"{p_line(self)}: "

    def _about_left_out(self) -> list[str]:
        if not self.left_out:
            return []
        more = len(self.left_out) - FEW
        names = ", ".join(self.left_out[:FEW]) + (f" and {more} more" if more > 0 else "")
        return [f"  left out, as one of the two lacks it: {names}"]

    def as_json(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {**plain_values(self), "verdict": self.verdict}


@dataclass(frozen=True)
class FamilyPairs:
    """The cells of two models on the conditions of a family that both have, and what is missing."""

    name: str
    pairs: tuple[tuple[Cell, Cell], ...]
    left_out: tuple[str, ...]


def families_named(index: Index, cells: tuple[list[Cell], list[Cell]], on: str) -> list[FamilyPairs]:
    """The family of that name on every data set that both models have it of; none where it names no family.

    Args:
        cells: Of model A and of model B.
    """
    entry = find_shift(on)
    names = {on} if entry is None else {on, entry.name}
    members_a, members_b = ([cell for cell in some if _is_member(index, cell, names)] for some in cells)
    lacking = {cell.condition_name for cell in members_a} ^ {cell.condition_name for cell in members_b}
    groups: dict[tuple[str, ...], list[tuple[Cell, Cell]]] = {}
    for one in members_a:
        for other in members_b:
            if _same(one, other):
                place = (one.data.source, other.data.source, str(one.condition.label_map))
                groups.setdefault(place, []).append((one, other))
    same = {place: pairs for place, pairs in groups.items() if place[0] == place[1]}
    left_out = tuple(sorted(lacking))
    return [
        _checked(index, FamilyPairs(entry.name if entry else on, tuple(pairs), left_out))
        for pairs in (same or groups).values()
    ]


def _same(a: Cell, b: Cell) -> bool:
    """Whether two cells are of the same condition, on whichever images."""
    left, right = a.condition.identity, b.condition.identity
    return {**left, "data": None} == {**right, "data": None}


def _is_member(index: Index, cell: Cell, names: set[str]) -> bool:
    family = family_in(index, cell.condition)
    if family is None or not index.row_files(cell):
        return False
    return bool(names & {family.name, f"{family.name}/{family.corruption}"})


def _checked(index: Index, family: FamilyPairs) -> FamilyPairs:
    names = [one.condition_name for one, _ in family.pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise StoreError(f"{index}: {twice} was run with several seeds or strengths; name the conditions one by one")
    return family


def family_comparison_of(
    index: Index, family: FamilyPairs, *, level: float = 0.95, options: CompareOptions = DEFAULT
) -> FamilyComparison:
    """Model B against model A over the conditions of a family.

    Raises:
        StoreError: No image was seen by both under all of them.
    """
    first, second = family.pairs[0]
    cells_a, cells_b = zip(*family.pairs, strict=True)
    if pair_drawn_apart(cells_a, cells_b):
        return _apart(index, family, level=level)
    answers = answers_of_pair(index, cells_a, cells_b)
    right_a, right_b = answers.right.astype(np.float64)
    differences = right_b - right_a
    sd = float(differences.std(ddof=1)) if len(differences) > 1 and np.ptp(differences) > 0 else 0.0
    found = judged(answers, options)
    name_a, name_b = model_names_of(first, second)
    return FamilyComparison(
        model_a=name_a,
        model_b=name_b,
        condition=family.name,
        data=" and ".join(dict.fromkeys(cell.data.title for cell in (first, second))),
        accuracy_a=accuracy_of(answers.right[0], level, answers.sample),
        accuracy_b=accuracy_of(answers.right[1], level, answers.sample),
        difference=found.difference_at(level),
        sd=sd,
        conditions=tuple(one.condition_name for one, _ in family.pairs),
        left_out=family.left_out,
        level=level,
        test=found.test,
        p_value=found.p_value,
        _judged=found,
    )


def _apart(index: Index, family: FamilyPairs, *, level: float) -> FamilyComparison:
    """The comparison where each condition has images of its own, the same ones for both models."""
    first, second = family.pairs[0]
    pair = PairApart.of(index, family.pairs)
    found = pair.judged
    difference, accuracies = found.difference_at(level), pair.accuracies(level)
    name_a, name_b = model_names_of(first, second)
    assert difference.n is not None
    return FamilyComparison(
        model_a=name_a,
        model_b=name_b,
        condition=family.name,
        data=" and ".join(dict.fromkeys(cell.data.title for cell in (first, second))),
        accuracy_a=accuracies[0],
        accuracy_b=accuracies[1],
        difference=difference,
        sd=standard_error(difference, level) * float(np.sqrt(difference.n)),
        conditions=tuple(one.condition_name for one, _ in family.pairs),
        left_out=family.left_out,
        level=level,
        test=found.test,
        p_value=found.p_value,
        images="of each, drawn apart" if pair.sample else "in all, drawn apart",
        _judged=found,
    )


def model_names_of(a: Cell, b: Cell) -> tuple[str, str]:
    """What to call the two models."""
    if a.model_name != b.model_name:
        return a.model_name, b.model_name
    return f"{a.model_name}@{a.model.digest[:8]}", f"{b.model_name}@{b.model.digest[:8]}"
