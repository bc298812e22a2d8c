"""The ranks that models may have by their accuracy on each condition, beside the accuracies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from oodometer.analysis.compare_many import compare_side
from oodometer.analysis.compare_text import rank_text
from oodometer.analysis.compared_sides import ComparedSide
from oodometer.analysis.judged_pair import BETTING, CompareOptions
from oodometer.analysis.many_comparisons import ComparedOn
from oodometer.analysis.point_standing import BETS
from oodometer.analysis.score_table import Score, Scores
from oodometer.store.cells import Cell
from oodometer.store.index import Index, Source, index_at

METRIC = "top-1"

RANKS = (
    "ranks: of top-1, those that a model may have: each from which it can be told apart takes one away ({} of all "
    "pairs on a condition, corrected after Holm); ?: not all pairs can be tested"
)


def with_ranks(store: Source, scores: Scores, *, level: float = 0.95) -> Scores:
    """The same scores, each top-1 accuracy of several models on a condition with the ranks that they may have.

    Args:
        level: At which models are told apart, all pairs on a condition together.
    """
    index = index_at(store)
    groups: dict[tuple[str, str], list[Score]] = {}
    for row in scores.rows:
        if row.metric == METRIC:
            groups.setdefault((row.condition, row.data), []).append(row)
    found: dict[tuple[str, str, str, str, str], str] = {}
    tests: dict[str, None] = {}
    for rows in groups.values():
        if len(rows) > 1:
            side = _compared(index, rows, level)
            found |= _ranks(rows, side)
            tests |= dict.fromkeys(pair.test for pair in side.pairs if pair.test)
    ranked = tuple(replace(row, rank=found.get(_key(row), "")) for row in scores.rows)
    return replace(scores, rows=ranked, ranks=RANKS.format(_in_words(list(tests))) if found else "")


def _in_words(tests: Sequence[str]) -> str:
    """Which tests they are.

    >>> _in_words(["exact McNemar", "unpaired z"])
    'exact McNemar tests and unpaired z tests'
    """
    return " and ".join(BETS if test == BETTING else f"{test} tests" for test in tests) or "no test"


def _key(row: Score) -> tuple[str, str, str, str, str]:
    return row.model, row.weights, row.condition, row.content, row.metric


def _compared(index: Index, rows: list[Score], level: float) -> ComparedOn:
    """The models of one condition; imported ones are known by their accuracies alone."""
    cells: dict[str, tuple[Cell, ...]] = {
        str(place): (index.by_key[row.cell].cell,) for place, row in enumerate(rows) if row.cell in index.by_key
    }
    imported = {str(place): row.estimate for place, row in enumerate(rows) if str(place) not in cells}
    side = ComparedSide(rows[0].condition, "condition", cells, imported)
    return compare_side(index, side, CompareOptions(level=level))


def _ranks(rows: list[Score], side: ComparedOn) -> dict[tuple[str, str, str, str, str], str]:
    return {
        _key(rows[int(model.model)]): f"{rank_text(model.best_rank, model.worst_rank)}{'?' if model.untested else ''}"
        for model in side.models
    }
