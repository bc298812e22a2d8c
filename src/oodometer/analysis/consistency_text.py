"""Error consistency as text: the means, a map of few raters, and the pairs at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from oodometer.analysis.text import columns, plural

if TYPE_CHECKING:
    from oodometer.analysis.consistency import Consistencies, RaterPair

MOST_ON_A_MAP = 12
"""More raters than these do not fit beside each other in a terminal."""


def text_of(found: Consistencies, top: int) -> str:
    """The whole report."""
    models = sum(not rater.is_person for rater in found.raters)
    people = len(found.raters) - models
    who = plural(models, "model") + (f" and {plural(people, 'person', 'people')}" if people else "")
    head = f"{found.condition} on {found.data}: {who}, {found.n} images that all models saw"
    blocks = [f"{head}\nerror consistency κ: 1 on the same images, 0 as if independent, below 0 on others' images"]
    if found.means:
        blocks.append(columns([["pairs of", "pairs", "mean κ"], *_means(found)]))
    if len(found.raters) <= MOST_ON_A_MAP:
        blocks.append(_map(found))
    blocks.append(_pairs(found, top))
    return "\n\n".join(blocks)


def _means(found: Consistencies) -> list[list[str]]:
    return [
        [group, str(sum(pair.among == group and pair.kappa is not None for pair in found.pairs)), str(mean)]
        for group, mean in found.means.items()
    ]


def _map(found: Consistencies) -> str:
    """κ of every two, each rater's number above its column."""
    numbers = [str(at) for at in range(1, len(found.raters) + 1)]
    rows = [
        [number, rater.name, f"{rater.accuracy.value:.4f}", *("·" if np.isnan(one) else f"{one:.2f}" for one in row)]
        for number, rater, row in zip(numbers, found.raters, found.matrix(), strict=True)
    ]
    return columns([["", "κ", "accuracy", *numbers], *rows])


def _pairs(found: Consistencies, top: int) -> str:
    head = ["a", "b", "κ", "together", "by chance", "n"]
    if len(found.pairs) <= top:
        return columns([head, *_rows(found.pairs)])
    first = (top + 1) // 2
    left = len(found.pairs) - top
    middle = [["...", f"{left:,} more", "", "", "", ""]]
    return columns([head, *_rows(found.pairs[:first]), *middle, *_rows(found.pairs[len(found.pairs) - top + first :])])


def _rows(pairs: Sequence[RaterPair]) -> list[list[str]]:
    return [
        [
            pair.a,
            pair.b,
            "undefined" if pair.kappa is None else f"{pair.kappa:.4f}",
            f"{pair.together:.4f}",
            f"{pair.by_chance:.4f}",
            str(pair.n),
        ]
        for pair in pairs
    ]
