"""Many models, every pair on every side: corrected together, in three states, in groups that can't be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from oodometer.analysis.compare_text import text_of
from oodometer.analysis.judged_pair import CompareOptions, Judged
from oodometer.core.estimate import Estimate
from oodometer.stats.corrections import corrected, correction_in_words
from oodometer.stats.ties import Standing

State = Literal["separated", "tied", "can't be tested"]


@dataclass(frozen=True)
class PairOfModels:
    """Model B against model A on one side, on the images that both saw.

    Args:
        difference: Of B minus that of A, its interval not corrected; None where it can't be told.
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
        value: Its accuracy on all images that it saw there, or its effective robustness.
        best_rank, worst_rank: Among the models of this side: one less for each that it can be told from.
        letters: Two models have one in common where they are tied, and only there; empty where it can't be tested
            against any, or where 26 letters are too few.
        untested: With how many it can't be tested.
    """

    model: str
    value: Estimate
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
        measure: What the values are; each pair names its test.
        correction: How p-values are corrected, in words.
        n_tests: How many comparisons they are corrected for.
        level: Of the intervals, and at which models are told apart, all comparisons together.
        notes: What a reader should know: what is not compared, and why.
    """

    sides: tuple[ComparedOn, ...]
    measure: str
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


@dataclass(frozen=True)
class Pair:
    """Two models on a side, before what is found is corrected: the second against the first.

    Args:
        judged: What a test says; None where there is none, and ``why`` says it.
    """

    a: str
    b: str
    judged: Judged | None
    why: str = ""

    @property
    def p_value(self) -> float:
        """NaN where there is no test."""
        return np.nan if self.judged is None else self.judged.p_value


@dataclass(frozen=True)
class Asked:
    """A side before what is found is corrected.

    Args:
        values: Of each model, the best first.
        pairs: All of them, each with the better model first, in the order of the models.
    """

    name: str
    kind: str
    conditions: int
    values: Mapping[str, Estimate]
    pairs: Sequence[Pair]


def told_together(
    asked: Sequence[Asked], options: CompareOptions, *, measure: str, notes: Sequence[str], resamples: bool
) -> ManyComparisons:
    """What all tests say, corrected for their number.

    Args:
        measure: What the values are.
        resamples: Whether p-values are counted in draws, of which there may be too few.
    """
    p_values = np.array([pair.p_value for side in asked for pair in side.pairs])
    adjusted = iter(corrected(p_values, options.correct).tolist())
    n = int((~np.isnan(p_values)).sum())
    sides = tuple(_on_side(side, [next(adjusted) for _ in side.pairs], options.level) for side in asked)
    how = correction_in_words(options.correct)
    said = (*notes, *(_too_few_draws(n, options) if resamples else ()))
    return ManyComparisons(sides, measure, how, n, options.level, said)


def _too_few_draws(n: int, options: CompareOptions) -> list[str]:
    """A warning where resampling could tell nothing apart, whatever there is to be told."""
    least = 2 / options.draws * (n if options.correct in ("holm", "bonferroni") else 1)
    if least <= 1 - options.level:
        return []
    return [
        f"{options.draws:,} draws can't tell anything apart in {n:,} comparisons: no p-value is below "
        f"{2 / options.draws:g}; give more --draws, or compare fewer models"
    ]


def _on_side(asked: Asked, adjusted: Sequence[float], level: float) -> ComparedOn:
    names = list(asked.values)
    matrix = np.full((len(names), len(names)), np.nan)
    above = np.triu_indices(len(names), 1)  # in the order of the pairs
    matrix[above] = matrix.T[above] = adjusted
    rows = tuple(_row(pair, p, level) for pair, p in zip(asked.pairs, adjusted, strict=True))
    # Values may be of more images than those that two models have in common: a test says who is better of two.
    differences = np.full(matrix.shape, np.nan)
    differences[above] = [np.nan if row.difference is None else -row.difference.value for row in rows]
    differences.T[above] = -differences[above]
    standing = Standing.of(matrix, range(len(names)), level, differences=differences)
    models = tuple(
        ComparedModel(name, value, *standing.rank_of(at), standing.letters[at], len(standing.untested(at)))
        for at, (name, value) in enumerate(asked.values.items())
    )
    return ComparedOn(asked.name, asked.kind, asked.conditions, models, rows)


def _row(pair: Pair, adjusted: float, level: float) -> PairOfModels:
    difference = None if pair.judged is None else pair.judged.difference_at(level)
    if pair.judged is None or np.isnan(adjusted):
        why = pair.why or "nothing is known of the spread of these differences"
        return PairOfModels(pair.a, pair.b, difference, "", None, None, "can't be tested", why)
    state: State = "separated" if adjusted <= 1 - level else "tied"
    return PairOfModels(pair.a, pair.b, difference, pair.judged.test, pair.judged.p_value, adjusted, state)
