"""From pairs that are known to be duplicates to groups of one picture each, and which one of a group stays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from oodometer.core.errors import DataError, UsageError

Image = TypeVar("Image", int, str)
"""A position or an id."""


@dataclass(frozen=True)
class Chosen(Generic[Image]):
    """What stays of the groups, and what goes.

    Args:
        kept: One image of each group, none of those that have a duplicate outside.
        dropped: Each image that goes, and the one that stays in its place; None: it has a duplicate outside.
    """

    kept: tuple[Image, ...]
    dropped: Mapping[Image, Image | None]


def groups_of(pairs: Iterable[tuple[Image, Image]]) -> tuple[tuple[Image, ...], ...]:
    """The groups of images that hang together by pairs, each in order, the one with the smallest image first.

    Two images of a group need not be a pair themselves: a copy of a copy is a copy.

    >>> groups_of([(4, 2), (7, 9), (2, 1)])
    ((1, 2, 4), (7, 9))
    """
    group_of: dict[Image, list[Image]] = {}
    for first, second in pairs:
        if first == second:
            raise UsageError(f"image {first!r} is paired with itself: a duplicate is another image")
        small, large = sorted((group_of.setdefault(one, [one]) for one in (first, second)), key=len)
        if small is not large:
            large += small
            for one in small:
                group_of[one] = large
    groups = {id(group): group for group in group_of.values()}
    return tuple(sorted(tuple(sorted(group)) for group in groups.values()))


def one_of_each(
    groups: Sequence[Sequence[Image]],
    *,
    scores: Mapping[Image, float] | None = None,
    outside: Collection[Image] = (),
) -> Chosen[Image]:
    """Keep the image with the highest score of each group; of several as high, or without scores, the first in order.

    Args:
        scores: How good each image is, for example how often people chose it for its class.
        outside: Images with a duplicate in another set, which this one must not touch. They go, and with them their
            whole group: what is a duplicate of theirs is one of the other set's as well.

    >>> one_of_each([(1, 2, 4), (7, 9)], scores={1: 0.5, 2: 0.9, 4: 0.9, 7: 0.1, 9: 0.3}, outside=[7, 8])
    Chosen(kept=(2,), dropped={1: 2, 4: 2, 7: None, 8: None, 9: None})
    """
    _check_apart(groups)
    outer = frozenset(outside)
    kept: list[Image] = []
    dropped: dict[Image, Image | None] = dict.fromkeys(outer)
    for group in groups:
        if outer & frozenset(group):
            dropped.update(dict.fromkeys(group))
            continue
        best = _best(group, scores)
        kept.append(best)
        dropped.update({one: best for one in group if one != best})
    return Chosen(tuple(kept), dict(sorted(dropped.items())))


def _best(group: Sequence[Image], scores: Mapping[Image, float] | None) -> Image:
    if scores is None:
        return min(group)
    missing = [one for one in group if one not in scores or scores[one] != scores[one]]
    if missing:
        raise DataError(f"image {missing[0]!r} has no score, or NaN: which of its duplicates stays is undefined")
    return min(group, key=lambda one: (-scores[one], one))


def _check_apart(groups: Sequence[Sequence[Image]]) -> None:
    seen: set[Image] = set()
    for one in (one for group in groups for one in group):
        if one in seen:
            raise UsageError(f"image {one!r} is in the groups twice; make them with groups_of")
        seen.add(one)
