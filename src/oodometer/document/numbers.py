"""How numbers are written, one rule for each unit; tables, sentences and pages all ask here.

Shares stand as per cent and differences of shares as signed points, both with one digit; counts have commas; other
numbers three digits below 10 and one from there on. A minus is as wide as a plus, so that signed numbers stand in line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from oodometer.core.estimate import Estimate

Unit = Literal["text", "percent", "points", "number", "count"]
"""What a value is: words, a share, a difference of shares, a plain number, a whole number."""

Value = str | float | int | Estimate | None
"""What can stand in a table; an estimate with its interval, None where nothing is known."""

IntervalStyle = Literal["none", "brackets", "pm"]

MINUS = "−"
NOTHING = "–"
"""Where a number is not known."""

OF_HUNDRED = ("percent", "points")
NAMES = {"percent": " %", "points": " points"}


def number(
    value: float, unit: Unit = "number", digits: int | None = None, *, least: float | None = None, minus: str = MINUS
) -> str:
    """A number as its unit is written.

    Args:
        digits: Behind the point; None: as usual.
        least: Below which it is written as less than this, as p-values are.
        minus: The sign of numbers below zero.

    >>> number(0.7412, "percent"), number(-0.0213, "points"), number(-0.00001, "points"), number(50000, "count")
    ('74.1', '−2.1', '+0.0', '50,000')
    >>> number(0.12345), number(225), number(1e-9, "number", 4, least=0.0001)
    ('0.123', '225.0', '< 0.0001')
    """
    digits = usual_digits(unit, [value]) if digits is None else digits
    if least is not None and value < least:
        return f"< {number(least, unit, digits, minus=minus)}"
    sign = "+" if unit == "points" else ""
    comma = "," if unit == "count" else ""
    text = f"{100 * value if unit in OF_HUNDRED else value:{sign}{comma}.{digits}f}"
    if text.startswith("-") and not any(digit in text for digit in "123456789"):  # no minus before nothing
        text = sign + text[1:]
    return text.replace("-", minus)


def usual_digits(unit: Unit, values: Iterable[Value]) -> int:
    """The digits behind the point, the same for all values that stand together.

    >>> usual_digits("number", [0.5, None, 2.25]), usual_digits("number", [0.5, 225.0]), usual_digits("points", [])
    (3, 1, 1)
    """
    if unit == "count":
        return 0
    if unit in OF_HUNDRED:
        return 1
    sizes = [abs(plain) for value in values if (plain := value_of(value)) is not None]
    return 3 if not sizes or max(sizes) < 10 else 1


def value_of(value: Value) -> float | None:
    """The number itself; None where there is none.

    >>> value_of(Estimate(0.5, 0.4, 0.6, 100, "wilson 95%")), value_of("fog"), value_of(float("nan"))
    (0.5, None, None)
    """
    plain = value.value if isinstance(value, Estimate) else value
    if plain is None or isinstance(plain, str) or not math.isfinite(plain):
        return None
    return float(plain)


def value_text(
    value: Value, unit: Unit, digits: int | None = None, *, least: float | None = None, minus: str = MINUS
) -> str:
    """A value without its interval.

    >>> value_text(Estimate(0.741, 0.7127, 0.7679, 1000, "any"), "percent"), value_text(None, "percent")
    ('74.1', '–')
    """
    if isinstance(value, str):
        return value
    known = value_of(value)
    return NOTHING if known is None else number(known, unit, digits, least=least, minus=minus)


def bounds(
    value: Value, unit: Unit, digits: int | None = None, *, style: IntervalStyle = "brackets", minus: str = MINUS
) -> str:
    """The interval of an estimate; empty where there is none.

    >>> bounds(Estimate(0.5, 0.4, 0.61, 100, "any"), "percent"), bounds(Estimate(0.5, 0.4, None, 100, "any"), "percent")
    ('[40.0, 61.0]', '')
    >>> bounds(Estimate(0.5, 0.4, 0.61, 100, "any"), "percent", style="pm")
    '± 10.5'
    """
    if not isinstance(value, Estimate) or value.low is None or value.high is None or style == "none":
        return ""
    digits = usual_digits(unit, [value]) if digits is None else digits
    if style == "pm":
        half = (value.high - value.low) / 2
        return f"± {number(half, 'percent' if unit == 'points' else unit, digits, minus=minus)}"
    low, high = (number(end, unit, digits, minus=minus) for end in (value.low, value.high))
    return f"[{low}, {high}]"


def with_interval(
    value: Value,
    unit: Unit,
    digits: int | None = None,
    *,
    style: IntervalStyle = "brackets",
    least: float | None = None,
) -> str:
    """A value with its interval, where it has one.

    >>> with_interval(Estimate(0.5, 0.4, 0.61, 100, "any"), "percent"), with_interval(None, "percent", style="pm")
    ('50.0 [40.0, 61.0]', '–')
    >>> with_interval(Estimate(-0.0116, -0.1606, 0.2781, 13, "any"), "number", 2)
    '−0.01 [−0.16, 0.28]'
    """
    return f"{value_text(value, unit, digits, least=least)} {bounds(value, unit, digits, style=style)}".rstrip()


def in_words(estimate: Estimate, unit: Literal["percent", "points"]) -> str:
    """A share or a difference inside a sentence.

    >>> in_words(Estimate(0.741, 0.7127, 0.7679, 1000, "clopper-pearson 95%"), "percent")
    '74.1 % [71.3, 76.8]'
    >>> in_words(Estimate(0.021, -0.004, 0.046, 1000, "newcombe 95%"), "points")
    '+2.1 points [−0.4, +4.6]'
    """
    return f"{number(estimate.value, unit)}{NAMES[unit]} {bounds(estimate, unit) or '(no interval)'}"


def amount_in_words(difference: Estimate) -> str:
    """A difference whose direction the sentence tells, as in "2.1 points behind": only what goes against it has a sign.

    >>> amount_in_words(Estimate(0.021, -0.004, 0.046, 1000, "newcombe 95%"))
    '2.1 points [−0.4, 4.6]'
    """
    return f"{number(difference.value, 'percent')} points {bounds(difference, 'percent') or '(no interval)'}"


def about_n(estimates: Iterable[Estimate]) -> str:
    """How many images numbers are about, and what their intervals are.

    >>> about_n([Estimate(0.5, 0.4, 0.6, 100, "wilson 95%"), Estimate(0.5, 0.4, 0.6, 90, "wilson 95%")])
    'n = 90 to 100, wilson 95%'
    >>> about_n([Estimate(0.5, None, None, None, "none: n is not known")])
    'no interval: n is not known'
    """
    known = list(estimates)
    names = sorted({estimate.interval for estimate in known})
    intervals = " or ".join(names[:2]).replace("none: ", "no interval: ")
    sizes = [estimate.n for estimate in known if estimate.n is not None]
    return f"n = {size_range(sizes)}, {intervals}" if sizes else intervals


def size_range(sizes: Iterable[int]) -> str:
    """Numbers of images, from the least to the greatest.

    >>> size_range([50000]), size_range([100, 90, 50000])
    ('50,000', '90 to 50,000')
    """
    ends = sorted(set(sizes))
    return f"{ends[0]:,}" if len(ends) == 1 else f"{ends[0]:,} to {ends[-1]:,}"
