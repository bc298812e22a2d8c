"""May model B replace model A? Worse, not worse or can't tell: on every condition that counts, and together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from oodometer.analysis.compare import Compared
from oodometer.core.errors import CannotTellError, OodometerError, RequirementNotMetError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import corrected_level

Answer = Literal["worse", "not worse", "can't tell"]
OPEN: Answer = "can't tell"
FEW = 3
"""More conditions are told by the result alone, not in the line of an error."""


@dataclass(frozen=True)
class Judged:
    """What the gate says about one condition.

    Args:
        heading: The condition and its data.
        difference: Accuracy of B minus accuracy of A, with the interval that is corrected for the number of conditions.
        margin: The loss that is allowed.
    """

    heading: str
    difference: Estimate
    margin: float

    @property
    def answer(self) -> Answer:
        """Worse where the whole interval is below -margin, not worse where none of it is, else can't tell."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None:
            return "can't tell"
        return "worse" if high < -self.margin else "not worse" if low >= -self.margin else "can't tell"

    @property
    def reason(self) -> str:
        """Why, in a line."""
        where = {"worse": "lies below", "not worse": "reaches nowhere below", "can't tell": "does not settle"}
        return f"{self.difference:+.4f}  n={self.difference.n} {where[self.answer]} {-self.margin:g}"

    def __str__(self) -> str:
        return f"{self.heading}: {self.reason}"

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        said = {"answer": self.answer, "margin": self.margin, "reason": self.reason}
        return {**said, "difference": asdict(self.difference), "correction": "bonferroni"}


@dataclass(frozen=True)
class Gate:
    """What is said about every condition, and of all of them together.

    Args:
        comparisons: What is judged, in the order of ``judged``.
        level: With which all answers are right together: each interval has Bonferroni's level for it.
    """

    comparisons: tuple[Compared, ...]
    judged: tuple[Judged, ...]
    margin: float
    level: float

    @property
    def answer(self) -> Answer:
        """Worse if it is on one condition, not worse if it is on none and none is open."""
        answers = {judged.answer for judged in self.judged}
        return "worse" if "worse" in answers else "can't tell" if "can't tell" in answers else "not worse"

    @property
    def title(self) -> str:
        """What is asked, and how it is corrected."""
        first, n = self.comparisons[0], len(self.judged)
        each = f"{100 * corrected_level(self.level, n):.6g}%"
        how = f"{each} interval" if n == 1 else f"Bonferroni: {each} intervals for {100 * self.level:g}% together"
        conditions = "1 condition" if n == 1 else f"{n} conditions"
        return f"is {first.model_b} more than {self.margin:g} worse than {first.model_a}? {conditions}, {how}"

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {judged.answer.ljust(10)}  {judged}" for judged in self.judged)])

    def as_json(self) -> list[dict[str, Any]]:
        """The comparisons as plain values, each with what is said about it."""
        pairs = zip(self.comparisons, self.judged, strict=True)
        return [{**comparison.as_json(), "gate": judged.as_json()} for comparison, judged in pairs]

    def problem(self, *, strict: bool = False) -> OodometerError | None:
        """What stops B: that it is worse; if that is asked for, that it can't be told; None where nothing does."""
        first = self.comparisons[0]
        loss = f"more than {self.margin:g} worse than {first.model_a}"
        if self.answer == "worse":
            return RequirementNotMetError(f"{first.model_b} is {loss} on {self._which('worse')}")
        if self.answer == OPEN and strict:
            return CannotTellError(f"{first.model_b} may be {loss} on {self._which(OPEN)}")
        return None

    @property
    def doubt(self) -> str | None:
        """Where it can't be told whether B is worse, in a line; None where it can everywhere."""
        if not any(judged.answer == OPEN for judged in self.judged):
            return None
        return f"can't tell on {self._which(OPEN)}: more images would, or a larger margin"

    def _which(self, answer: Answer) -> str:
        """The conditions of an answer, each with its reason; where they are many, the rest is in the result."""
        those = [str(judged) for judged in self.judged if judged.answer == answer]
        more = f"; and {len(those) - FEW} more, see the result" if len(those) > FEW else ""
        return f"{len(those)} of {len(self.judged)} conditions: {'; '.join(those[:FEW])}{more}"


def gate(comparisons: Sequence[Compared], margin: float) -> Gate:
    """Whether model B loses more than a margin of accuracy to model A, on each condition that was compared.

    Args:
        comparisons: What `compare` gave; all of them count, and the intervals are corrected for their number.
        margin: The loss that is allowed: 0.01 is one point.
    """
    if not 0 <= margin <= 1:
        raise UsageError(f"margin {margin}: must lie between 0 and 1, for example 0.01")
    if not comparisons:
        raise UsageError("no comparison: there is nothing to judge")
    level = comparisons[0].level
    each = corrected_level(level, len(comparisons))
    judged = [Judged(comparison.heading, comparison.difference_at(each), margin) for comparison in comparisons]
    return Gate(tuple(comparisons), tuple(judged), margin, level)
