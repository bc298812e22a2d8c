"""Many models beside each other as text: on each side ranks, groups, accuracies, and the pairs where they are few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.analysis.judged_pair import p_text
from oodometer.analysis.text import columns, listed, plural

if TYPE_CHECKING:
    from oodometer.analysis.many_comparisons import ComparedModel, ComparedOn, ManyComparisons, PairOfModels

FEW_PAIRS = 6
"""On a side; more are told when they are asked for, and as JSON."""

MOST_NAMES = 3

TOP_1 = "top-1"
"""All other measures are differences, which have a sign."""


def text_of(found: ManyComparisons, *, pairs: bool | None) -> str:
    """A block for each side; the tests below."""
    blocks = [
        _side(side, found.measure, pairs=len(side.pairs) <= FEW_PAIRS if pairs is None else pairs)
        for side in found.sides
    ]
    return "\n".join([*blocks, _tests(found)])


def _side(side: ComparedOn, measure: str, *, pairs: bool) -> str:
    over = f", the mean of {side.conditions} conditions" if side.conditions > 1 else ""
    heading = f"{side.name} ({side.kind}{over}): {plural(len(side.models), 'model')}, {measure}"
    header = ["  rank", "tied", "model", "accuracy" if measure == TOP_1 else measure]
    lines = [header, *(_model(model, signed=measure != TOP_1) for model in side.models)]
    told = [columns(lines)]
    if pairs:
        told.append(columns([_pair(pair) for pair in side.pairs]))
    return "\n".join([heading, *told, *_why(side)])


def rank_text(best: int, worst: int) -> str:
    """The ranks that a model may have.

    >>> rank_text(1, 1), rank_text(2, 5)
    ('1', '2-5')
    """
    return str(best) if best == worst else f"{best}-{worst}"


def _model(model: ComparedModel, *, signed: bool) -> list[str]:
    letters = f"{model.letters}{'?' if model.untested else ''}"
    return [
        f"  {rank_text(model.best_rank, model.worst_rank)}",
        letters,
        model.model,
        f"{model.value:+.4f}" if signed else str(model.value),
    ]


def _pair(pair: PairOfModels) -> list[str]:
    """The difference, and what its test says."""
    names = f"  {pair.model_b} - {pair.model_a}"
    difference = "" if pair.difference is None else f"{pair.difference:+.4f}"
    if pair.p_value is None or pair.p_adjusted is None:
        return [names, difference, "", "", pair.state]
    return [names, difference, f"p {p_text(pair.p_value)}", f"corrected {p_text(pair.p_adjusted)}", pair.state]


def _why(side: ComparedOn) -> list[str]:
    """Why pairs can't be tested, a line for each reason."""
    reasons: dict[str, list[str]] = {}
    for pair in side.pairs:
        if pair.why:
            reasons.setdefault(pair.why, []).append(f"{pair.model_b} and {pair.model_a}")
    return [f"  ? can't be tested: {listed(those, MOST_NAMES)} ({why})" for why, those in reasons.items()]


def _tests(found: ManyComparisons) -> str:
    names = dict.fromkeys(pair.test for side in found.sides for pair in side.pairs if pair.test)
    tests = plural(found.n_tests, "comparison")
    together = (
        "; ranks are corrected over all sides together: --on NAME gives those of one alone"
        if len(found.sides) > 1
        else ""
    )
    return (
        f"{', '.join(names) or 'no test'}; {tests} {found.correction}, {100 * found.level:g}%; "
        f"models that share a letter can't be told apart{together}"
    )
