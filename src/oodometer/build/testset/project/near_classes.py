"""Which classes are easily taken for which: told by a table, or by the ancestors that two classes share."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

from oodometer.core.errors import DataError
from oodometer.data import addresses

Near = Mapping[str, tuple[str, ...]]
"""By class the near ones, by name."""


def read_near(address: str, names: Iterable[str]) -> Near:
    """The near classes of each class by a table with one of two pairs of columns.

    ``class,near``: a row for each near class of a class. ``class,parent``: a tree such as WordNet's, a row for each
    edge; near are the classes at the fewest steps by way of a common ancestor.
    """
    known = list(names)
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{address}: not a readable CSV file in UTF-8 ({error})") from error
    columns = set(rows[0]) if rows else set()
    if {"class", "near"} <= columns:
        found = _listed([(row["class"] or "", row["near"] or "") for row in rows], known)
    elif {"class", "parent"} <= columns:
        found = nearest_in_tree([(row["class"] or "", row["parent"] or "") for row in rows], known)
    else:
        raise DataError(f"{address}: expected the columns class and near, or class and parent, and a row or more")
    if not found:
        raise DataError(f"{address}: it names no near class of any class of the project; do names agree?")
    return found


def nearest_in_tree(edges: Iterable[tuple[str, str]], names: Iterable[str]) -> Near:
    """The classes at the fewest steps up to a common ancestor and down again.

    >>> edges = [("owl", "bird"), ("duck", "bird"), ("bird", "animal"), ("cat", "animal")]
    >>> nearest_in_tree(edges, ["cat", "duck", "owl"])
    {'cat': ('duck', 'owl'), 'duck': ('owl',), 'owl': ('duck',)}
    """
    parents: dict[str, set[str]] = {}
    for child, parent in edges:
        parents.setdefault(child.strip(), set()).add(parent.strip())
    known = list(names)
    up = {name: _steps_up(name, parents) for name in known}
    below: dict[str, list[tuple[int, str]]] = {}
    for name in known:
        for ancestor, steps in up[name].items():
            below.setdefault(ancestor, []).append((steps, name))
    found = {}
    for name in known:
        steps_to: dict[str, int] = {}
        for ancestor, steps in up[name].items():
            for more, other in below[ancestor]:
                if other != name:
                    steps_to[other] = min(steps + more, steps_to.get(other, steps + more))
        if steps_to:
            least = min(steps_to.values())
            found[name] = tuple(sorted(other for other, steps in steps_to.items() if steps == least))
    return found


def _steps_up(name: str, parents: Mapping[str, set[str]]) -> dict[str, int]:
    """All ancestors, and the class itself, with the fewest steps to each."""
    found, edge, steps = {name: 0}, {name}, 0
    while edge:
        steps += 1
        edge = {one for child in edge for one in parents.get(child, ())} - set(found)
        found.update(dict.fromkeys(edge, steps))
    return found


def _listed(rows: Iterable[tuple[str, str]], known: Iterable[str]) -> Near:
    there = set(known)
    found: dict[str, list[str]] = {}
    for name, near in ((a.strip(), b.strip()) for a, b in rows):
        if name in there and near in there and name != near and near not in found.get(name, []):
            found.setdefault(name, []).append(near)
    return {name: tuple(near) for name, near in found.items()}
