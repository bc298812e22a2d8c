"""One line of what a check found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["ok", "wrong", "note"]


@dataclass(frozen=True)
class CheckRow:
    """What was expected and what was found.

    Args:
        verdict: ``wrong`` if the data are not what they claim to be; ``note`` if one should know it.
        examples: Each thing that was found, in a line of its own.
    """

    check: str
    expected: str
    found: str
    verdict: Verdict
    examples: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "check": self.check,
            "expected": self.expected,
            "found": self.found,
            "verdict": self.verdict,
            "examples": list(self.examples),
        }


def counted(check: str, expected: int | None, found: int) -> CheckRow:
    """A number against the published one.

    >>> counted("images", 7500, 7499)
    CheckRow(check='images', expected='7,500', found='7,499', verdict='wrong', examples=())
    """
    published = "-" if expected is None else f"{expected:,}"
    return CheckRow(check, published, f"{found:,}", "ok" if expected in (None, found) else "wrong")


def none_expected(check: str, examples: Iterable[str], *, otherwise: Verdict = "wrong") -> CheckRow:
    """Things of which there should be none.

    >>> none_expected("empty classes", ["n01440764"])
    CheckRow(check='empty classes', expected='none', found='1', verdict='wrong', examples=('n01440764',))
    """
    found = tuple(examples)
    return CheckRow(check, "none", f"{len(found):,}" if found else "none", otherwise if found else "ok", found)
