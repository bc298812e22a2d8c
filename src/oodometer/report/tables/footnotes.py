"""What stands below a table: images, intervals, what is bold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oodometer.report.tables.table import Column

MOST_NAMES = 6


def common_footnotes(columns: Sequence[Column]) -> list[str]:
    """How many images, which intervals, and what is bold."""
    return [*_sizes(columns), *_intervals(columns), *_bold(columns)]


def _sizes(columns: Sequence[Column]) -> list[str]:
    """The images behind each accuracy; those of ρ beside it are the same."""
    sizes: dict[str, list[str]] = {}
    for column in [one for one in columns if one.unit == "percent"] or columns:
        found = sorted({one.n for one in column.values.values() if one.n is not None})
        if found:
            text = f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"
            sizes.setdefault(text, []).append(column.over or column.title)
    if len(sizes) == 1:
        return [f"n = {next(iter(sizes))} images."]
    return [f"Images: {'; '.join(f'{some_of(of)} {text}' for text, of in sizes.items())}."] if sizes else []


def _intervals(columns: Sequence[Column]) -> list[str]:
    found: dict[str, list[str]] = {}
    for column in columns:
        for name in dict.fromkeys(one.interval for one in column.values.values()):
            found.setdefault(name, []).append(column.label or column.title)
    if len(found) == 1:
        return [f"Intervals: {next(iter(found))}."]
    return [f"Intervals: {'; '.join(f'{name} ({some_of(of)})' for name, of in found.items())}."] if found else []


def _bold(columns: Sequence[Column]) -> list[str]:
    judged = [column for column in columns if column.better and len(column.values) > 1]
    if not judged:
        return []
    bold = [column for column in judged if column.best() is not None]
    told = any(column.differ for column in judged)
    how = "the interval of the difference excludes 0" if told else "the intervals do not overlap"
    unknown = told and not all(column.differ for column in judged)
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
