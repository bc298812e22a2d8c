"""Images that occur twice: inside a data set, and in another one."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from oodometer.core.dataset import Dataset
from oodometer.data.headers import kept_images


@dataclass(frozen=True)
class Duplicates:
    """Positions of images that are the same, two or more in each group.

    Args:
        one_class: Groups whose images have a class in common (or none at all).
        two_classes: Groups whose images do not: at least one of their labels is wrong.
    """

    one_class: tuple[tuple[int, ...], ...]
    two_classes: tuple[tuple[int, ...], ...]


def same_inside(dataset: Dataset, contents: Sequence[Hashable], leave_out: Collection[int]) -> list[tuple[int, ...]]:
    """Groups of positions with the same content; one picture that is listed twice is not a duplicate of itself.

    Args:
        contents: What is compared, per image.
        leave_out: Positions of images that could not be read.
    """
    kept = kept_images(dataset.source)
    groups: dict[Hashable, dict[Hashable, int]] = {}
    for position, (content, row) in enumerate(zip(contents, dataset.rows.tolist(), strict=True)):
        if position not in leave_out:
            groups.setdefault(content, {}).setdefault(row if kept is None else kept.name(row), position)
    return [tuple(group.values()) for group in groups.values() if len(group) > 1]


def by_class(dataset: Dataset, groups: Sequence[tuple[int, ...]]) -> Duplicates:
    """The groups, apart by whether their images have a class in common."""
    alike = [_have_a_class_in_common(dataset, group) for group in groups]
    return Duplicates(
        tuple(group for group, one in zip(groups, alike, strict=True) if one),
        tuple(group for group, one in zip(groups, alike, strict=True) if not one),
    )


def same_in_both(
    contents: Sequence[Hashable], others: Sequence[Hashable], leave_out: tuple[Collection[int], Collection[int]]
) -> list[tuple[int, int]]:
    """Pairs of a position here and the first position there that have the same content.

    Args:
        leave_out: Positions of images that could not be read, here and there.
    """
    first: dict[Hashable, int] = {}
    for position, content in enumerate(others):
        if position not in leave_out[1]:
            first.setdefault(content, position)
    return [
        (position, first[content])
        for position, content in enumerate(contents)
        if position not in leave_out[0] and content in first
    ]


def _have_a_class_in_common(dataset: Dataset, group: Sequence[int]) -> bool:
    common = set.intersection(*(_classes_of(dataset, position) for position in group))
    return bool(common)


def _classes_of(dataset: Dataset, position: int) -> set[int]:
    more = dataset.other_labels[position] if dataset.other_labels is not None else ()
    return {int(dataset.labels[position]), *more}
