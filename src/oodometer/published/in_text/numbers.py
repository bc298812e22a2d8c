"""The numbers of the papers' running text, with where each stands, bundled as a CSV file."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from oodometer.analysis.text import columns
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.published.checks import Check

FILE = files("oodometer.published.in_text") / "numbers.csv"
HOLDS = {
    "at least": lambda ours, printed: ours >= printed,
    "over": lambda ours, printed: ours > printed,
    "at most": lambda ours, printed: ours <= printed,
    "less than": lambda ours, printed: ours < printed,
}
"""What a bound of the text says about a number."""


@dataclass(frozen=True)
class TextNumber:
    """One result that a paper states in a sentence.

    Args:
        paper: ``recht2019``, ``hendrycks2019``...
        where: In the paper: a section, a caption.
        what: The quantity, in words; once in a paper. A check of the same words derives it.
        sense: Empty, ``about``, or a bound: ``at least``, ``over``, ``at most``, ``less than``.
        value: As printed.
        unit: Of the value; empty for what has none.
        words: A few words of the paper by which it is found there, the number among them.
    """

    paper: str
    where: str
    what: str
    sense: str
    value: str
    unit: str
    words: str

    @property
    def number(self) -> float:
        """The value as a number.

        >>> text_number("taori2020", "images of YTBB-Robust").number
        2530.0
        """
        return float(self.value.replace(",", ""))

    @property
    def printed(self) -> str:
        """The value with its sense.

        >>> text_number("many_faces2021", "mCE that DeepAugment + AugMix takes off (23.1)").printed
        'over 23'
        """
        return f"{self.sense} {self.value}".strip()

    @property
    def half_digit(self) -> float:
        """Half a unit of the last printed digit.

        >>> text_number("hendrycks2019", "mCE of ResNet-50 with CLAHE").half_digit
        0.05
        """
        return 0.5 * 10.0 ** -len(self.value.partition(".")[2])

    def as_json(self) -> dict[str, Any]:
        """The number as plain values."""
        return {**asdict(self), "value": self.number}

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.printed} {self.unit}".rstrip()


@cache
def all_numbers() -> tuple[TextNumber, ...]:
    """All numbers, in the order of the papers' texts."""
    return tuple(TextNumber(**row) for row in csv.DictReader(FILE.read_text(encoding="utf-8").splitlines()))


def numbers_of(paper: str) -> tuple[TextNumber, ...]:
    """Those of one paper."""
    return tuple(number for number in all_numbers() if number.paper == paper)


def number_table() -> str:
    """All numbers, one on a line."""
    rows = [[number.paper, number.where, number.printed, number.unit, number.what] for number in all_numbers()]
    return columns([["paper", "where", "value", "unit", "what"], *rows])


def text_number(paper: str, what: str) -> TextNumber:
    """One number, by what it is about."""
    by_what = {number.what: number for number in numbers_of(paper)}
    if what not in by_what:
        raise UsageError(f"no number in the text of {paper!r} named {what!r}{did_you_mean(what, by_what)}")
    return by_what[what]


def text_check(
    paper: str, what: str, ours: float, *, rounding: float = 0.0, reason: str = "", known: str = ""
) -> Check:
    """A number of the text beside what was derived.

    Args:
        paper: Its name.
        what: The number's.
        ours: The same, derived again.
        rounding: By how much the rounding of the inputs may move ours.
        reason: Where ours comes from.
        known: Why it is known not to come out.
    """
    number = text_number(paper, what)
    if number.sense in HOLDS:
        kept = HOLDS[number.sense](ours, number.number)
        said = number.printed if kept else f"{ours:.3g}"
        return Check(paper, what, number.where, number.printed, said, 0.0, f"{ours:.3g}; {reason}", known=known)
    allowed, why = _allowed(number)
    reason = "; ".join(filter(None, (why, reason)))
    return Check(paper, what, number.where, number.number, ours, allowed + rounding, reason, known=known)


def _allowed(number: TextNumber) -> tuple[float, str]:
    """Half a digit, and a tenth of what is only said to be about."""
    if number.sense == "about":
        return max(number.half_digit, abs(number.number) / 10), '"about": to a tenth'
    return number.half_digit, f"printed to {2 * number.half_digit:g}"
