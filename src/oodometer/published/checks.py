"""A published number beside ours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Check:
    """One published number, and what its own inputs give.

    Args:
        paper: ``recht2019``, ``hendrycks2019``...
        what: The quantity, in words.
        where: In the paper: a table, a figure, a section.
        published: The paper's value; a sign or a word where it is no number.
        ours: The same, derived again.
        allowed: By how much the two may differ, since the published inputs are rounded.
        reason: Why that much.
        source: Whether the paper prints it, or whether it is a value of our own from the paper's data, which notices a
            change of either.
        known: Why it is known not to come out; it then counts as one that does not agree, and is no failure.
    """

    paper: str
    what: str
    where: str
    published: float | str
    ours: float | str
    allowed: float = 0.0
    reason: str = ""
    source: Literal["printed", "own"] = "printed"
    known: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus theirs; None where they are no numbers."""
        if isinstance(self.published, str) or isinstance(self.ours, str):
            return None
        return self.ours - self.published

    @property
    def holds(self) -> bool:
        """Whether ours is theirs, up to what is allowed."""
        if self.difference is None:
            return self.ours == self.published
        # A hair of slack, since 0.05 has no exact double.
        return abs(self.difference) <= self.allowed + 1e-9

    def as_json(self) -> dict[str, Any]:
        """The check as plain values."""
        return {**asdict(self), "difference": self.difference, "holds": self.holds}


@dataclass(frozen=True)
class Remark:
    """Something a reader of the paper should know: an inconsistency in its tables, or a rule it does not follow."""

    paper: str
    where: str
    text: str

    def as_json(self) -> dict[str, Any]:
        """The remark as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Reproduction:
    """All that was derived again from one paper."""

    paper: str
    title: str
    checks: tuple[Check, ...]
    remarks: tuple[Remark, ...] = ()
