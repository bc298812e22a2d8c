"""Many models: every pair on every side, corrected for the number of comparisons, and who can't be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.compare_text import text_of
from oodometer.analysis.compared_sides import ComparedSide, compared_sides, model_names_in
from oodometer.analysis.family_apart import judged_apart, mean_accuracy_apart
from oodometer.analysis.judged_pair import (
    DEFAULT,
    CompareOptions,
    Judged,
    Resampled,
    judged,
)
from oodometer.analysis.people import models_alone
from oodometer.analysis.sampled import accuracy_when_stopped, drawn_apart, first_stopped, in_order_drawn
from oodometer.analysis.side_answers import SideAnswers
from oodometer.core.errors import OodometerError, StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.corrections import corrected, correction_in_words
from oodometer.stats.intervals import mean_of, share_of
from oodometer.stats.ties import Standing
from oodometer.store.index import Index, Source, index_at

State = Literal["separated", "tied", "can't be tested"]


@dataclass(frozen=True)
class PairOfModels:
    """Model B against model A on one side, on the images that both saw.

    Args:
        difference: Accuracy of B minus accuracy of A, its interval not corrected; None where it can't be told.
        test: Which one; empty where there is none.
        p_value: Of it alone; ``p_adjusted`` for the number of all comparisons.
        state: ``separated``, ``tied`` (tested, and not told apart), or ``can't be tested``, and then ``why``.
    """

    model_a: str
    model_b: str
    difference: Estimate | None
    test: str
    p_value: float | None
    p_adjusted: float | None
    state: State
    why: str = ""


@dataclass(frozen=True)
class ComparedModel:
    """One model among the others on one side.

    Args:
        accuracy: On all images that it saw there.
        best_rank, worst_rank: Among the models of this side: one less for each that it can be told from.
        letters: Two models have one in common where they are tied, and only there; empty where it can't be tested
            against any, or where 26 letters are too few.
        untested: With how many it can't be tested.
    """

    model: str
    accuracy: Estimate
    best_rank: int
    worst_rank: int
    letters: str
    untested: int


@dataclass(frozen=True)
class ComparedOn:
    """All models on one side.

    Args:
        name: The clean set, shift or condition.
        kind: ``clean``, or that of the shift.
        conditions: How many it is the mean of.
        models: The most accurate first.
        pairs: Of the models, B being the one further down.
    """

    name: str
    kind: str
    conditions: int
    models: tuple[ComparedModel, ...]
    pairs: tuple[PairOfModels, ...]


@dataclass(frozen=True)
class ManyComparisons:
    """Every pair of models on every side; prints as a table.

    Args:
        test: What was asked for; each pair names its own.
        correction: How p-values are corrected, in words.
        n_tests: How many comparisons they are corrected for.
        level: Of the intervals, and at which models are told apart, all comparisons together.
        notes: What a reader should know: what is not compared, and why.
    """

    sides: tuple[ComparedOn, ...]
    test: str
    correction: str
    n_tests: int
    level: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.table()

    def table(self, *, pairs: bool | None = None) -> str:
        """The models of each side with their groups as text; ``pairs`` too, by default where they are few."""
        return text_of(self, pairs=pairs)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def compare_many(
    store: Source,
    models: Sequence[str] = (),
    *,
    on: Sequence[str] = (),
    options: CompareOptions = DEFAULT,
) -> ManyComparisons:
    """Every pair of models on the clean sets and under every shift, on the images that both saw.

    Args:
        models: By name; none: all of the store but people.
        on: Conditions, shifts, or families of them; none: all of them.
        options: Which test, and how its p-values are corrected for the number of all comparisons.

    Raises:
        StoreError: There are not two models that were measured on one of these.
    """
    index = index_at(store) if models else models_alone(index_at(store))
    names = model_names_in(index, models)
    sides = [_of_models(side, names) for side in compared_sides(index, on=on, level=options.level)]
    by_map = [side.name for side in sides if side.measure != "top-1"]
    notes = [f"{', '.join(by_map)}: judged by mAP, which this does not compare"] if by_map else []
    compared = [side for side in sides if side.measure == "top-1" and len(side.models) > 1]
    if not compared:
        raise StoreError(f"{index}: no two of these models were measured on one condition")
    asked = [_in_order(index, side, options.level) for side in compared]
    return _told(asked, [_pairs_of(index, one, options) for one in asked], options, notes)


def _of_models(side: ComparedSide, names: Sequence[str]) -> ComparedSide:
    return replace(
        side,
        cells={name: side.cells[name] for name in names if name in side.cells},
        imported={name: side.imported[name] for name in names if name in side.imported},
    )


@dataclass(frozen=True)
class _Asked:
    """A side and its models, the most accurate first."""

    side: ComparedSide
    accuracies: Mapping[str, Estimate]


def _in_order(index: Index, side: ComparedSide, level: float) -> _Asked:
    found = {name: _accuracy(index, side, name, level) for name in side.models}
    order = sorted(found, key=lambda name: (-found[name].value, name))
    return _Asked(side, {name: found[name] for name in order})


@dataclass(frozen=True)
class _Pair:
    """Two models on a side, before what is found is corrected."""

    a: str
    b: str
    judged: Judged | None
    why: str = ""

    @property
    def p_value(self) -> float:
        return np.nan if self.judged is None else self.judged.p_value


def _told(
    asked: Sequence[_Asked], pairs: Sequence[Sequence[_Pair]], options: CompareOptions, notes: Sequence[str]
) -> ManyComparisons:
    """What all tests say together."""
    p_values = np.array([pair.p_value for of_side in pairs for pair in of_side])
    adjusted = iter(corrected(p_values, options.correct).tolist())
    n = int((~np.isnan(p_values)).sum())
    told = [
        _on_side(one, of_side, [next(adjusted) for _ in of_side], options.level)
        for one, of_side in zip(asked, pairs, strict=True)
    ]
    how = correction_in_words(options.correct)
    return ManyComparisons(tuple(told), options.test, how, n, options.level, (*notes, *_too_few_draws(n, options)))


def _too_few_draws(n: int, options: CompareOptions) -> list[str]:
    """A warning where a bootstrap could tell nothing apart, whatever there is to be told."""
    least = 2 / options.draws * (n if options.correct in ("holm", "bonferroni") else 1)
    if not options.resamples or least <= 1 - options.level:
        return []
    return [
        f"{options.draws:,} draws can't tell anything apart in {n:,} comparisons: no p-value is below "
        f"{2 / options.draws:g}; give more --draws, or --test exact"
    ]


def _on_side(asked: _Asked, pairs: Sequence[_Pair], adjusted: Sequence[float], level: float) -> ComparedOn:
    side, names = asked.side, list(asked.accuracies)
    matrix = np.full((len(names), len(names)), np.nan)
    above = np.triu_indices(len(names), 1)  # in the order of the pairs
    matrix[above] = matrix.T[above] = adjusted
    standing = Standing.of(matrix, range(len(names)), level)
    models = tuple(
        ComparedModel(name, accuracy, *standing.rank_of(at), standing.letters[at], len(standing.untested(at)))
        for at, (name, accuracy) in enumerate(asked.accuracies.items())
    )
    conditions = max((len(cells) for cells in side.cells.values()), default=1)
    rows = tuple(_row(pair, p, level) for pair, p in zip(pairs, adjusted, strict=True))
    return ComparedOn(side.name, side.kind, conditions, models, rows)


def _row(pair: _Pair, adjusted: float, level: float) -> PairOfModels:
    difference = None if pair.judged is None else pair.judged.difference_at(level)
    if pair.judged is None or np.isnan(adjusted):
        why = pair.why or "nothing is known of the spread of these differences"
        return PairOfModels(pair.a, pair.b, difference, "", None, None, "can't be tested", why)
    state: State = "separated" if adjusted <= 1 - level else "tied"
    return PairOfModels(pair.a, pair.b, difference, pair.judged.test, pair.judged.p_value, adjusted, state)


def _accuracy(index: Index, side: ComparedSide, name: str, level: float) -> Estimate:
    """On all images that the model saw."""
    if name not in side.cells:
        return side.imported[name]
    cells = side.cells[name]
    if drawn_apart(cells):
        return mean_accuracy_apart(index, cells, level=level)
    sample = first_stopped(cells)
    if sample is not None and len(cells) == 1:
        return accuracy_when_stopped(in_order_drawn(index, cells[0]), sample, level=level)
    values = right_on_common(index, cells).values
    if len(values) == 1:
        return share_of(int(values[0].sum()), len(values[0]), level=level)
    return mean_of(np.mean(values, axis=0), level=level, bounds=(0.0, 1.0))


# Pairs


def _pairs_of(index: Index, asked: _Asked, options: CompareOptions) -> list[_Pair]:
    """Every pair, the more accurate model first."""
    answers = SideAnswers.of(index, asked.side)
    same = answers.same
    resampled = Resampled(same.right, same.labels, options) if same and options.resamples else None
    pairs = combinations(asked.accuracies, 2)
    return [_Pair(a, b, *_judged(answers, resampled, (a, b), options)) for a, b in pairs]


def _judged(
    answers: SideAnswers, resampled: Resampled | None, models: tuple[str, str], options: CompareOptions
) -> tuple[Judged | None, str]:
    """The test of two models, or why there is none."""
    a, b = models
    try:
        if answers.same is not None and resampled is not None and {a, b} <= answers.same.place.keys():
            return resampled.judged(answers.same.place[a], answers.same.place[b]), ""
        if answers.apart(a, b):
            answers.check(a, b)
            cells = answers.side.cells
            return judged_apart(answers.index, list(zip(cells[a], cells[b], strict=True))), ""
        return judged(answers.pair(a, b), options), ""
    except UsageError:
        raise
    except OodometerError as why:
        return None, str(why)
