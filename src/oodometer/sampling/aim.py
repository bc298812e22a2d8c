"""What is to be known, and how sure."""

from __future__ import annotations

from dataclasses import dataclass

from oodometer.core.errors import UsageError
from oodometer.core.sample import Rule
from oodometer.stats.intervals import check_level


@dataclass(frozen=True)
class Aim:
    """How narrow the intervals are to be.

    Args:
        width: Half of the interval: 0.01 is one point up and one down.
        rule: ``within``: as many images as that needs whatever the accuracy, planned before; ``until``: one image
            after the other, stopped when a confidence sequence is as narrow.
        level: Of the interval.
        seed: Of the random orders of the images.
        control: A model of the store that answered all images: with its answers fewer are needed. For ``within``.
    """

    width: float
    rule: Rule
    level: float = 0.95
    seed: int = 0
    control: str | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 0 < self.width < 0.5:
            raise UsageError(
                f"an interval of ± {self.width:g}: must lie between 0 and 0.5, for example 0.01 (one point)"
            )
        if self.control and self.rule != "within":
            raise UsageError("a control goes with an interval that is planned (--within), not with --until")
