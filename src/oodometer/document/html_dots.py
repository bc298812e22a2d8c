"""Dots as pages draw them: places on one axis that all panels share, texts, and lanes for ties. Styles do the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass

from oodometer.core.estimate import Estimate
from oodometer.document.numbers import bounds, in_words, value_text
from oodometer.document.section import DotRow, Dots

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Between lines of the grid; the least that leaves no more than `MOST_LINES`."""
MOST_LINES = 6
MOST_LANES = 5
"""Ties that overlap more often than this are told by the ranks alone."""


@dataclass(frozen=True)
class Axis:
    """Of all panels.

    Args:
        low, high: Its ends, as shares.
        step: Between the lines of its grid.
    """

    low: float
    high: float
    step: float

    def place(self, share: float) -> float:
        """Where a share lies, in per cent of the panel."""
        return 100 * (min(max(share, self.low), self.high) - self.low) / (self.high - self.low)

    @property
    def n_lines(self) -> int:
        """Of the grid, from one end to the other."""
        return round((self.high - self.low) / self.step)


@dataclass(frozen=True)
class Mark:
    """A line with its two ends, in per cent of the panel.

    Args:
        clean, shifted: The ends; None where that was not measured.
        low, high: The interval of the shifted accuracy; None where it has none.
        title: The same in words.
    """

    clean: float | None
    shifted: float | None
    low: float | None
    high: float | None
    title: str


@dataclass(frozen=True)
class DrawnRow:
    """A row with its marks, the text of its mean, and the lanes of ties: ``start``, ``middle``, ``end`` or nothing."""

    row: DotRow
    marks: tuple[Mark, ...]
    mean: tuple[str, str]
    lanes: tuple[str, ...]


def axis_of(dots: Dots) -> Axis:
    """From a round number below everything to one above it, within 0 and 1.

    >>> dots = Dots("d", "", ("a",), (DotRow("m", "1", "", ((None, Estimate(0.43, 0.4, 0.52, 9, "x")),)),))
    >>> axis_of(dots)
    Axis(low=0.4, high=0.52, step=0.02)
    """
    ends = [
        end
        for row in dots.rows
        for pair in row.pairs
        for one in pair
        if one is not None
        for end in (one.value, one.low, one.high)
        if end is not None
    ]
    least, most = min(ends, default=0.0), max(ends, default=1.0)
    step = next((step for step in STEPS if (most - least) / step <= MOST_LINES), STEPS[-1])
    low = math.floor(least / step + 1e-9) * step
    high = math.ceil(most / step - 1e-9) * step
    low, high = round(max(low, 0.0), 6), round(min(max(high, low + step), 1.0), 6)
    return Axis(low if low < high else round(high - step, 6), high, step)


def drawn_rows(dots: Dots) -> list[DrawnRow]:
    """All rows, ready to be drawn."""
    axis, lanes = axis_of(dots), _lanes(dots)
    return [
        DrawnRow(
            row,
            tuple(_mark(pair, axis) for pair in row.pairs),
            (value_text(row.mean, "percent"), bounds(row.mean, "percent")),
            tuple(lane[place] for lane in lanes),
        )
        for place, row in enumerate(dots.rows)
    ]


def _mark(pair: tuple[Estimate | None, Estimate | None], axis: Axis) -> Mark:
    clean, shifted = pair
    said = [
        f"{text} {in_words(one, 'percent')}{f', n = {one.n:,}' if one.n else ''}"
        for text, one in (("clean", clean), ("shifted", shifted))
        if one is not None
    ]
    known = shifted is not None and shifted.low is not None and shifted.high is not None
    return Mark(
        None if clean is None else axis.place(clean.value),
        None if shifted is None else axis.place(shifted.value),
        axis.place(shifted.low) if known else None,  # type: ignore[union-attr,arg-type]
        axis.place(shifted.high) if known else None,  # type: ignore[union-attr,arg-type]
        "; ".join(said) or "not measured",
    )


def _lanes(dots: Dots) -> list[list[str]]:
    """A lane beside the names for every run of ties that overlaps others; none where there are too many."""
    lanes: list[list[str]] = []
    for first, last in dots.ties:
        if first == last:
            continue
        free = next((lane for lane in lanes if not any(lane[first : last + 1])), None)
        if free is None:
            free = [""] * len(dots.rows)
            lanes.append(free)
        free[first : last + 1] = ["start", *["middle"] * (last - first - 1), "end"]
    return lanes if len(lanes) <= MOST_LANES else []
