"""How many images would show a difference of two models, and which difference the images that there are can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from oodometer.analysis.compared_sides import ComparedSide, compared_sides, model_names_in
from oodometer.analysis.judged_pair import CompareOptions, PairAnswers, judged
from oodometer.analysis.people import models_alone
from oodometer.analysis.side_answers import SideAnswers
from oodometer.analysis.text import columns
from oodometer.core.errors import OodometerError, StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling, bootstrap_means
from oodometer.stats.intervals import check_level, corrected_level, share_of
from oodometer.stats.paired import McNemar
from oodometer.stats.power import (
    MOST,
    POWER,
    difference_shown,
    images_for_difference,
    images_for_mean_difference,
    mean_difference_shown,
)
from oodometer.store.index import Index, Source, index_at

FEW_PAIRS = 6
"""On a side; of more, each model is taken with the next best one."""


@dataclass(frozen=True)
class PlanOptions:
    """What is to be seen, and how surely.

    Args:
        detect: A difference of two accuracies: 0.005 is half a point.
        power: The probability of seeing it, if it is there.
        level: Of the test that sees it, and of intervals.
        comparisons: For how many comparisons that test will be corrected (Bonferroni: Holm needs no more).
        test: McNemar's, ``exact`` or ``mid-p``.
    """

    detect: float
    power: float = POWER
    level: float = 0.95
    comparisons: int = 1
    test: McNemar = "exact"

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 0 < self.detect < 1:
            raise UsageError(f"detect {self.detect:g}: a difference of accuracies between 0 and 1, for example 0.005")
        if not 0 < self.power < 1:
            raise UsageError(f"power {self.power:g}: must lie between 0 and 1, for example 0.8")
        if self.comparisons < 1:
            raise UsageError(f"{self.comparisons} comparisons: there is at least one")

    @property
    def level_of_test(self) -> float:
        """That of a single test."""
        return corrected_level(self.level, self.comparisons)


@dataclass(frozen=True)
class PlannedPair:
    """Two models on one side.

    Args:
        on: The clean set, shift or condition.
        difference: Accuracy of B minus accuracy of A, as it was seen.
        disagreement: The share of images on which exactly one of the two is right; of a family of conditions the
            variance of an image's mean difference, which takes its place.
        images: How many the difference that is to be seen needs, with the interval that the disagreement gives it;
            None: more than anybody has.
        shown: The smallest difference that the present number of images shows; None: not even one in all of them.
        enough: Whether there are as many images.
    """

    model_a: str
    model_b: str
    on: str
    difference: Estimate
    disagreement: Estimate
    images: Estimate | None
    shown: float | None
    enough: bool


@dataclass(frozen=True)
class ImagePlan:
    """How many images each pair needs; prints as a table.

    Args:
        notes: What is not planned, and why.
    """

    pairs: tuple[PlannedPair, ...]
    options: PlanOptions
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What is to be seen, and how surely."""
        options = self.options
        for_many = f", corrected for {options.comparisons:,} comparisons" if options.comparisons > 1 else ""
        return (
            f"to see a difference of {options.detect:g} with a probability of {100 * options.power:g} % "
            f"({options.test} McNemar, {100 * options.level:g}%{for_many}):"
        )

    def __str__(self) -> str:
        header = ["  on", "pair", "seen", "disagree", "images", "so far", "which shows"]
        return "\n".join([self.title, columns([header, *(_line(pair) for pair in self.pairs)])])

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def _line(pair: PlannedPair) -> list[str]:
    n = pair.difference.n
    return [
        f"  {pair.on}",
        f"{pair.model_b} - {pair.model_a}",
        f"{pair.difference.value:+.4f}",
        f"{pair.disagreement.value:.4f}",
        _images(pair.images),
        f"{n:,}" if n else "?",
        "nothing" if pair.shown is None else f"{pair.shown:.4f}",
    ]


def _images(images: Estimate | None) -> str:
    if images is None:
        return f"> {MOST:,}"
    ends = "" if images.low is None or images.high is None else f" [{images.low:,.0f}, {images.high:,.0f}]"
    return f"{images.value:,.0f}{ends}"


def plan(
    store: Source,
    a: str | None = None,
    b: str | None = None,
    *,
    options: PlanOptions,
    on: Sequence[str] = (),
) -> ImagePlan:
    """How many images would show a difference of two models, on the clean sets and under every shift.

    The two are taken to disagree on as many images as they did so far.

    Args:
        a, b: The models; none: all pairs of the store, or each with the next best where they are many.
        options: What is to be seen, and how surely.
        on: Conditions, shifts, or families of them; none: all of them.

    Raises:
        StoreError: There are not two models with answers to the same images.
    """
    if (a is None) != (b is None):
        raise UsageError("name two models, or none for all of the store")
    named = [] if a is None or b is None else [a, b]
    index = index_at(store) if named else models_alone(index_at(store))
    names = model_names_in(index, named)
    found = [one for side in compared_sides(index, on=on) for one in _on_side(index, side, names, options)]
    pairs = [one for one in found if not isinstance(one, str)]
    notes = [one for one in found if isinstance(one, str)]
    if not pairs:
        why = notes[0] if notes else "no two models have answers to the same images"
        raise StoreError(f"{index}: nothing can be planned: {why}")
    return ImagePlan(tuple(pairs), options, tuple(dict.fromkeys(notes)))


def _on_side(
    index: Index, side: ComparedSide, names: Sequence[str], options: PlanOptions
) -> Iterator[PlannedPair | str]:
    """What each pair needs, or why that can't be told."""
    if side.measure != "top-1":
        yield f"{side.name}: judged by mAP, which this does not plan"
        return
    side = replace(side, cells={name: side.cells[name] for name in names if name in side.cells})
    answers = SideAnswers.of(index, side)
    for a, b in _pairs(answers) if len(names) > 2 else [(names[0], names[1])]:
        try:
            if answers.apart(a, b):
                raise StoreError("each condition has images of its own; 'run --within' plans these")
            pair = answers.pair(a, b)
            if pair.sample is not None:
                raise StoreError("stopped samples are compared by a bet; a narrower 'run --until' goes on from there")
            yield _planned(pair, (a, b), side.name, options)
        except OodometerError as why:
            yield f"{side.name}, {b} and {a}: {why}"


def _pairs(answers: SideAnswers) -> list[tuple[str, str]]:
    """All pairs where they are few; else each model with the next best. The more accurate one first."""
    names = list(answers.side.cells)
    if answers.same is not None:
        accuracy = dict(zip(answers.same.place, answers.same.right.mean(axis=1).tolist(), strict=True))
        names.sort(key=lambda name: (-accuracy[name], name))
    every = list(combinations(names, 2))
    return every if len(every) <= FEW_PAIRS else list(pairwise(names))


def _planned(answers: PairAnswers, models: tuple[str, str], on: str, options: PlanOptions) -> PlannedPair:
    seen = judged(answers, CompareOptions(test=options.test, level=options.level))
    n, level, power = seen.n, options.level_of_test, options.power
    first, second = answers.right
    if answers.right.dtype == bool:
        disagreement = share_of(int((first != second).sum()), n, level=options.level)
        shown = difference_shown(n, disagreement.value, power=power, level=level, test=options.test)
        images = [
            images_for_difference(options.detect, share, power=power, level=level, test=options.test)
            for share in _ends(disagreement)
        ]
    else:
        disagreement = _variance(second - first, options.level)
        shown = mean_difference_shown(n, float(np.sqrt(disagreement.value)), power=power, level=level)
        images = [
            images_for_mean_difference(options.detect, float(np.sqrt(max(share, 0.0))), power=power, level=level)
            for share in _ends(disagreement)
        ]
    needed = _needed(images, disagreement)
    return PlannedPair(
        *models,
        on,
        seen.difference_at(options.level),
        disagreement,
        needed,
        shown,
        needed is not None and n >= needed.value,
    )


def _ends(estimate: Estimate) -> list[float]:
    """The value, and the ends of its interval where it has one."""
    ends = [] if estimate.low is None or estimate.high is None else [estimate.low, estimate.high]
    return [estimate.value, *ends]


def _needed(images: Sequence[int | None], disagreement: Estimate) -> Estimate | None:
    value, *ends = images
    if value is None:
        return None
    low, high = (None if end is None else float(end) for end in (ends or [None, None]))
    name = f"by the disagreement, {disagreement.interval}"
    if high is None:
        low, name = None, "none: the disagreement is not known well enough"
    return Estimate(float(value), low, high, disagreement.n, name)


def _variance(differences: np.ndarray, level: float) -> Estimate:
    """Of the images' mean differences, with the interval of the bootstrap over images."""
    squares = np.column_stack([differences, np.square(differences)])
    draws = max(1000, int(np.ceil(2 / (1 - level))))
    return bootstrap_means(
        squares,
        lambda means: np.asarray(means[:, 1] - means[:, 0] ** 2),
        resampling=Resampling(draws, level),
        bounds=(0.0, 1.0),
    )
