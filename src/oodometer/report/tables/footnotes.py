"""What stands below a table: images, intervals, what is bold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oodometer.document.numbers import size_range
from oodometer.report.tables.model_table import Numbers

MOST_NAMES = 6


def common_footnotes(numbers: Sequence[Numbers]) -> list[str]:
    """How many images, which intervals, and what is bold."""
    shown = [one for one in numbers if not one.column.hidden]
    return [*_sizes(shown), *intervals_footnote(shown), *bold_footnote(shown)]


def _sizes(numbers: Sequence[Numbers]) -> list[str]:
    """The images behind each accuracy; those of ρ beside it are the same."""
    sizes: dict[str, list[str]] = {}
    for one in [one for one in numbers if one.column.unit == "percent"] or numbers:
        if known := {value.n for value in one.values.values() if value.n is not None}:
            sizes.setdefault(size_range(known), []).append(one.column.over or one.column.title)
    if len(sizes) == 1:
        return [f"n = {next(iter(sizes))} images."]
    return [f"Images: {'; '.join(f'{some_of(of)} {text}' for text, of in sizes.items())}."] if sizes else []


def intervals_footnote(numbers: Sequence[Numbers]) -> list[str]:
    """Which intervals the columns have."""
    found: dict[str, list[str]] = {}
    for one in numbers:
        for name in dict.fromkeys(value.interval for value in one.values.values()):
            found.setdefault(name, []).append(one.said or one.column.name)
    if len(found) == 1:
        return [f"Intervals: {next(iter(found))}."]
    return [f"Intervals: {'; '.join(f'{name} ({some_of(of)})' for name, of in found.items())}."] if found else []


def bold_footnote(numbers: Sequence[Numbers]) -> list[str]:
    """What makes a number bold, where there is more than one."""
    judged = [one for one in numbers if one.column.better and len(one.values) > 1]
    if not judged:
        return []
    bold = [one for one in judged if one.best is not None]
    told = any(one.differ for one in judged)
    how = "the interval of the difference excludes 0" if told else "the intervals do not overlap"
    unknown = told and not all(one.differ for one in judged)
    also = ", or, where that is not known, the intervals do not overlap" if unknown else ""
    if not bold:
        return [f"None is bold: in no column is one better than all others (needed: {how}{also})."]
    rest = "" if len(bold) == len(judged) else " In the other columns none can be told to be."
    return [f"Bold: better than all others ({how}{also}).{rest}"]


def some_of(names: Iterable[str]) -> str:
    """The names, each once, and how many more.

    >>> some_of(["a", "b", "a"])
    'a, b'
    """
    known = list(dict.fromkeys(names))
    more = f" and {len(known) - MOST_NAMES} more" if len(known) > MOST_NAMES else ""
    return ", ".join(known[:MOST_NAMES]) + more
