"""The gap of each shift, among the other metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oodometer.analysis.gaps import NO_SHIFT, Gap, gaps_in
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score
from oodometer.core.errors import OodometerError
from oodometer.store.cells import Cell
from oodometer.store.index import Index

GAP = "gap"


def shift_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """Accuracy on the standard side minus accuracy on the shifted side, of every shift that was run on both."""
    found = gaps_in(index, asked.how)
    own = index.model_name_of[cells[0].key]
    # Of a shift that a table alone knows there are no answers to score.
    rows = [row for row in found.rows if row.model == own and row.cells]
    yield from (LeftOut((GAP,), why) for why in found.left_out)
    yield from (score_of(row) for row in rows)
    if not rows and not found.left_out:
        raise OodometerError(NO_SHIFT)


def score_of(found: Gap) -> Score:
    """A gap as a score of its shifted side."""
    shifted = found.cells[-1]
    convention = (
        f"{found.measure} on {found.standard} ({found.accuracy_standard}) minus {found.measure} on {found.shift} "
        f"({found.accuracy_shifted}); "
        + ("the same photographs, paired" if found.paired else "different images; n is that of the shifted ones")
    )
    content = shifted.data.digest[:8]
    return Score(
        found.model,
        found.weights,
        found.shift,
        shifted.data.title,
        content,
        GAP,
        found.gap,
        0,
        found.state,
        "",
        convention,
    )
