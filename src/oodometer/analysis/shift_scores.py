"""The gap of each shift, among the other metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oodometer.analysis.gaps import NO_SHIFT, Gap, gaps_of
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score
from oodometer.core.errors import OodometerError
from oodometer.store.cells import Cell
from oodometer.store.store import Store

GAP = "gap"


def shift_scores(store: Store, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """Accuracy on the standard side minus accuracy on the shifted side, of every shift that was run on both."""
    some = False
    for found in gaps_of(store, cells, asked.how):
        some = True
        yield score_of(found) if isinstance(found, Gap) else LeftOut((GAP,), found)
    if not some:
        raise OodometerError(NO_SHIFT)


def score_of(found: Gap) -> Score:
    """A gap as a score of its shifted side."""
    shifted = found.cells[1]
    convention = (
        f"top-1 on {found.standard} ({found.accuracy_standard}) minus top-1 on {found.shifted} "
        f"({found.accuracy_shifted}); "
        + ("the same photographs, paired" if found.paired else "different images; n is that of the shifted ones")
    )
    content = str(shifted.condition["data"])[:8]
    return Score(
        found.model, found.weights, found.shift, shifted.data, content, GAP, found.gap, 0, found.state, "", convention
    )
