"""The section "correlations": which cheap, synthetic shift predicts which costly, natural one."""

from __future__ import annotations

from statistics import median
from typing import Any

from oodometer.analysis.correlate import Correlations, FittedShift, ShiftPair
from oodometer.analysis.text import listed, plural
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import number, with_interval
from oodometer.document.section import Part, Plot, Section, Words
from oodometer.document.table import Column, Table
from oodometer.stats.correlation import FEWEST_MODELS
from oodometer.study import Study
from oodometer.study.shift_predictors import Predictors, predicted

ID, TITLE, SHORT = "correlations", "Synthetic against natural shifts", "Synthetic vs natural"
ROW, AROUND = 54, 140
"""Pixels: of a row of the matrix, and of what stands around it."""

DIGITS = 4
MOST_NAMES = 4
QUESTION = (
    "Corruptions and attacks are cheap to test on; new photographs are not. Does a model that is more robust than its "
    "clean accuracy leads to expect on the one stay so on the other? Each number is Pearson's r between effective "
    "robustness ρ under a synthetic shift and under a natural one, over models."
)


def section(study: Study) -> Section | None:
    """The matrix and the best predictor of each natural shift; None where a study has but one sort of shifts."""
    try:
        found = predicted(study)
    except OodometerError as error:
        return Section(
            ID, TITLE, (QUESTION, f"It can't be said here: there is no line to measure ρ from ({error})."), (), SHORT
        )
    if found is None:
        return None
    known = [one.r for one in found.whole.pairs if one.r]
    if not known:
        return Section(ID, TITLE, (QUESTION, _undefined(found)), _notes(found), SHORT)
    lead = (QUESTION, *_over(found), _answer(found))
    return Section(ID, TITLE, lead, (_matrix(found), _best_table(found), *_notes(found)), SHORT)


def _undefined(found: Predictors) -> str:
    most = max(one.n for one in found.whole.pairs)
    if most < FEWEST_MODELS:
        models = "no model was" if most == 0 else "one model was" if most == 1 else f"{most} models were"
        return (
            f"It can't be said here: {models} measured on both sorts, and a correlation needs at least {FEWEST_MODELS}."
        )
    return "It can't be said here: all models are equally far from the lines, so there is nothing to correlate."


def _over(found: Predictors) -> list[str]:
    """Which models are meant, where that is not what a reader expects."""
    if not found.through_all:
        return []
    return [
        "No model here is known to be more than a standard one, so the lines go through all models and all of them are "
        "correlated: r tells whether a model that is above the one line is above the other."
    ]


def _answer(found: Predictors) -> str:
    """How many natural shifts are predicted, how well, and by what best."""
    best = [one for one in found.best().values() if one]
    sure = [one for one in best if _above(one)]
    n, of = len(found.whole.natural), f"r of ρ, {100 * found.whole.level:g} % interval"
    if not sure:
        top = max(best, key=lambda one: _value(one))
        which = f"any of the {n} natural shifts" if n > 1 else "the only natural shift"
        return (
            f"No synthetic shift has an interval above 0 for {which}, so none can be said to predict "
            f"{'one' if n > 1 else 'it'}. The highest r is that of {top.synthetic} with {top.natural}: {_shown(top)}."
        )
    top = max(sure, key=lambda one: _value(one))
    none = [name for name, one in found.best().items() if one is None or not _above(one)]
    middle = median(_value(one) for one in best)
    has = "has" if len(sure) == 1 else "have"
    said = (
        f"{len(sure)} of {plural(n, 'natural shift')} {has} a synthetic one whose interval is above 0 ({of}). The "
        f"closest are {top.synthetic} and {top.natural}, {_shown(top)}. The best r of a natural shift has the median "
        f"{number(middle, 'number', 2)}: {100 * middle**2:.0f} % of the variance between models."
    )
    return said + (f" None predicts {listed(none, MOST_NAMES)}." if none else "")


def _above(pair: ShiftPair) -> bool:
    return pair.r is not None and pair.r.low is not None and pair.r.low > 0


def _value(pair: ShiftPair) -> float:
    return pair.r.value if pair.r else float("-inf")


def _shown(pair: ShiftPair) -> str:
    r = pair.r
    if r is None:
        return "undefined"
    return f"r = {with_interval(r, 'number', 2)} over {pair.n} models"


def _matrix(found: Predictors) -> Plot:
    levels = [_level("families and attacks", found.whole)]
    if found.each:
        levels.append(_level("every corruption by itself", found.each))
    caption = (
        "Synthetic shifts (rows) by natural ones (columns): r of effective robustness, its interval and the number of "
        "models. Blue is above 0 and orange below; where the interval keeps clear of 0 the number is bold."
    )
    data = {"natural": [_shift(one) for one in found.whole.natural], "levels": levels, "level": found.whole.level}
    height = AROUND + ROW * len(found.whole.synthetic)
    return Plot("correlations-matrix", caption, "correlations", data, height=height, table=_all_pairs(found))


def _level(name: str, correlations: Correlations) -> dict[str, Any]:
    """The rows of the matrix, the natural shifts in their order."""
    pairs = {(one.synthetic, one.natural): one for one in correlations.pairs}
    return {
        "name": name,
        "rows": [
            {**_shift(one), "cells": [_cell(pairs[one.shift, natural.shift]) for natural in correlations.natural]}
            for one in correlations.synthetic
        ],
    }


def _shift(one: FittedShift) -> dict[str, Any]:
    return {"name": one.shift, "x": one.x, "conditions": len(one.conditions), "line": one.baseline}


def _cell(pair: ShiftPair) -> list[float | None]:
    """``[r, low, high, n]``; no r where it is undefined."""
    if pair.r is None:
        return [None, None, None, pair.n]
    ends = (pair.r.value, pair.r.low, pair.r.high)
    return [*(None if one is None else round(one, DIGITS) for one in ends), pair.n]


R = Column(
    "r of ρ",
    "number",
    "Pearson's correlation of effective robustness, with its interval over models, and images where known",
    "high",
    digits=2,
)
N = Column("models", "count", "measured on both, and not in a line")


def _best_table(found: Predictors) -> Table:
    rows = []
    for name, one in found.best().items():
        who = "none is defined" if one is None else one.synthetic
        says = "yes" if one and _above(one) else "no"
        rows.append((name, who, one.r if one else None, one.n if one else None, says))
    rows.sort(key=lambda row: -row[2].value if isinstance(row[2], Estimate) else 2.0)
    columns = (
        Column("natural shift"),
        Column("best predicted by", about="the synthetic shift with the highest r"),
        R,
        N,
        Column("interval above 0"),
    )
    return Table("correlations-best", "The best predictor of each natural shift", columns, tuple(rows))


def _all_pairs(found: Predictors) -> Table:
    pairs = [*found.whole.pairs, *(found.each.pairs if found.each else ())]
    rows = tuple((one.natural, one.synthetic, one.r, one.n) for one in pairs)
    columns = (Column("natural shift"), Column("synthetic shift"), R, N)
    return Table("correlations-pairs", "All pairs as a table", columns, rows, filters="natural shift", folded=True)


def _notes(found: Predictors) -> tuple[Part, ...]:
    """By what chance intervals are above 0, and what was left out."""
    pairs = [one for one in found.whole.pairs if one.r]
    tail = (1 - found.whole.level) / 2
    lines = [f"Left out, there is no line: {line}" for line in found.left_out]
    if len(pairs) * tail >= 1:
        lines.insert(
            0,
            f"{len(pairs)} pairs are compared: about {len(pairs) * tail:.0f} of their intervals would be above 0 by "
            "chance alone, and models that are kin make it more.",
        )
    return (Words(tuple(lines), "note"),) if lines else ()
