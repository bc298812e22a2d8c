"""How far what is computed in the background has come."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Progress:
    """So many of all, since a moment of the monotonic clock.

    Args:
        what: What is counted: ``shifts``, ``cells read``.
        total: 0 as long as nobody knows.
    """

    what: str
    done: int
    total: int
    begun: float

    @property
    def seconds(self) -> float:
        """Since it was begun."""
        return time.monotonic() - self.begun

    def further(self, by: int = 1) -> Progress:
        """The same with so many more done."""
        return replace(self, done=self.done + by)

    def __str__(self) -> str:
        counted = f"{self.done} of {self.total} {self.what}, " if self.total else ""
        return f"{counted}{self.seconds:.0f} s"

    def as_json(self) -> dict[str, Any]:
        """The same as plain values, and in words."""
        return {"what": self.what, "done": self.done, "total": self.total, "seconds": self.seconds, "said": str(self)}
