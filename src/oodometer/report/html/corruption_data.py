"""A grid of corruptions as the scripts of the heat map and of the severity curves get it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from oodometer.analysis.score_table import Score
from oodometer.core.estimate import Estimate
from oodometer.report.tables.corruptions import MEAN
from oodometer.study.corruption_grid import CorruptionGrid, group_of, spaced

DIGITS = 5
"""Of shares: an image in 50,000 is 0.00002."""

Numbers = list[float | None] | None
"""``[value, low, high]``, or ``[value]`` where there is no interval; with n as a fourth where it is not the usual."""

Errors = Mapping[tuple[str, str], Score]
"""Corruption errors by model and corruption."""


def grid_data(grid: CorruptionGrid, errors: Errors, categories: Mapping[str, str]) -> dict[str, Any]:
    """The grid as plain values.

    ``accuracy[model][corruption][severity]``, the mean first in both; ``ce[model][corruption]`` likewise.
    """
    n = grid.sizes[0] if len(grid.sizes) == 1 else None
    return {
        "title": grid.title,
        "corruptions": [[spaced(name), group_of(name)] for name in grid.corruptions],
        "severities": list(grid.severities),
        "averaged": len(grid.averaged),
        "conditions": len(grid.accuracies),
        "models": list(grid.models),
        "categories": [categories[model] for model in grid.models],
        "n": n,
        "clean": [numbers(grid.clean.get(model), n) for model in grid.models],
        "clean_name": grid.clean_name,
        "accuracy": [[[numbers(one, n) for one in row] for row in _rows(grid, model)] for model in grid.models],
        "ce": [[numbers(one, n) for one in _ce(grid, errors, model)] for model in grid.models] if errors else None,
    }


def numbers(estimate: Estimate | None, usual: int | None) -> Numbers:
    """An estimate as plain numbers.

    >>> numbers(Estimate(0.741, 0.7127, 0.7679, 1000, "any"), 1000), numbers(Estimate(0.5, None, None, None, ""), None)
    ([0.741, 0.7127, 0.7679], [0.5])
    """
    if estimate is None:
        return None
    found = [None if one is None else round(one, DIGITS) for one in (estimate.value, estimate.low, estimate.high)]
    if estimate.n is not None and estimate.n != usual:
        return [*found, estimate.n]
    return found if estimate.low is not None else found[:1]


def _rows(grid: CorruptionGrid, model: str) -> Iterator[list[Estimate | None]]:
    """The mean over the corruptions and then each corruption: in the mean over severities, and at each of them."""
    yield [grid.mean(model), *(grid.over_corruptions(model, severity) for severity in grid.severities)]
    for name in grid.corruptions:
        at = [grid.at(model, name, severity) for severity in grid.severities]
        yield [grid.over_severities(model, name), *at]


def _ce(grid: CorruptionGrid, errors: Errors, model: str) -> list[Estimate | None]:
    scores = [errors.get((model, name)) for name in (MEAN, *grid.corruptions)]
    return [score.estimate if score else None for score in scores]
