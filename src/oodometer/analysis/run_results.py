"""What a run was about, in numbers: both sides of its shifts with their gaps, and accuracies on clean images alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from oodometer.analysis.accuracy_pairs import NOT_RUN
from oodometer.analysis.gaps import Gaps, gaps_in
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.measured_shifts import CLEAN
from oodometer.analysis.score import score
from oodometer.analysis.score_table import Scores
from oodometer.analysis.shift_scores import score_of
from oodometer.core.errors import OodometerError
from oodometer.store.index import Index, index_at
from oodometer.store.run import Run


@dataclass(frozen=True)
class RunResults:
    """The numbers of a run; prints as tables.

    Args:
        index: What it was about alone.
        gaps: Of the shifts.
        alone: The keys of the cells that are no side of a shift.
    """

    index: Index
    gaps: Gaps
    alone: frozenset[str]

    @cached_property
    def scores(self) -> Scores:
        """Of every cell; none where no image has a label."""
        return score(self.index) if any(entry.n for entry in self.index.entries) else Scores(())

    @cached_property
    def corruption_errors(self) -> Scores | None:
        """The mCE of every model, where a whole family of corruptions was run that AlexNet's errors are known of."""
        if not any(len(row.conditions) > 1 for row in self.gaps.rows):
            return None
        try:
            return score(self.index, metrics=["mce"])
        except OodometerError:  # not all corruptions, or other classes
            return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers should know, a line each: of an mCE by what it is divided, and whose frost."""
        said = self.corruption_errors.conventions() if self.corruption_errors else {}
        conventions = [f"{metric}: {text}" for metric, texts in said.items() for text in texts]
        # A run asks every model everything but what it has left out and told.
        return (*(line for line in self.gaps.notes if NOT_RUN not in line), *conventions)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The gaps and accuracies that are undefined, and why."""
        return (*self.gaps.left_out, *self._unlabelled)

    @property
    def _unlabelled(self) -> list[str]:
        """A line about data that nobody labelled, seen as they are."""
        entries = [entry for entry in self.index.answered if entry.cell.key in self.alone and not entry.n]
        titles = dict.fromkeys(entry.cell.data.title for entry in entries if entry.cell.condition_name == CLEAN)
        return [f"{title}: no labels, so no accuracy; 'estimate --shifted {title}' estimates it" for title in titles]

    def __str__(self) -> str:
        return self.table()

    def table(self, *, plot: bool = False) -> str:
        """Accuracies of what is no side of a shift, the gaps, and the mCE; ``plot`` draws both sides of the gaps."""
        accuracies = [str(self.scores.only(lambda row: row.cell in self.alone))] if self.alone else []
        gaps = [self.gaps.table(plot=plot)] if self.gaps.rows else []
        errors = [str(self.corruption_errors)] if self.corruption_errors else []
        return "\n".join([*accuracies, *gaps, *errors])

    def as_json(self) -> list[dict[str, Any]]:
        """The scores, the gaps and the mCE as plain values."""
        errors = self.corruption_errors.as_json() if self.corruption_errors else []
        return [*self.scores.as_json(), *(score_of(row).as_json() for row in self.gaps.rows), *errors]


def results_of(run: Run) -> RunResults:
    """What a run was about, in numbers."""
    index = index_at(run)
    gaps = gaps_in(index, IntervalOptions()) if run.shifts else Gaps((), ())
    sides = {side.key for shift in run.shifts for side in (shift.standard, shift.shifted)}
    alone = frozenset(cell.key for cell in run.cells if cell.condition.key not in sides)
    return RunResults(index, gaps, alone)
