"""Images that occur twice: by their bytes, and where every image is decoded, by their pixels and their looks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.data.check.rows import CheckRow, none_expected
from oodometer.data.duplicates import by_class, same_in_both, same_inside
from oodometer.data.fingerprints import Looks, mirrored_pairs, near_pairs

MADE_OF_THE_SAME = frozenset({"corruption", "anchor", "frame"})
"""Columns of sets in which images look alike on purpose: corrupted versions of one picture, frames of one video."""


@dataclass(frozen=True)
class Contents:
    """What the images of a data set are compared by.

    Args:
        digests: Of the bytes (or, of arrays, the pixels).
        broken: Positions of images that could not be read.
        looks: Where every image was decoded.
    """

    dataset: Dataset
    digests: Sequence[bytes]
    broken: Collection[int]
    looks: Looks | None = None


def twice_inside(here: Contents) -> list[CheckRow]:
    """The rows about images that a set holds twice."""
    same = same_inside(here.dataset, here.digests, here.broken)
    rows = _rows_by_class(here.dataset, same, "bytes")
    if here.looks is not None:
        groups = same_inside(here.dataset, here.looks.pixels, here.broken)
        further = [group for group in groups if len({here.digests[one] for one in group}) > 1]
        rows += _rows_by_class(here.dataset, further, "pixels")
        if not MADE_OF_THE_SAME & set(here.dataset.columns):
            rows.append(_near_inside(here.dataset, here.looks))
            rows.append(_mirrored_inside(here.dataset, here.looks))
        rows.append(_black_row(here.dataset, here.looks))
    return rows


def twice_in_both(here: Contents, there: Contents, *, called: str) -> list[CheckRow]:
    """The rows about images that another set holds too.

    Args:
        called: The other set.
    """
    broken = (here.broken, there.broken)
    rows = [_row_of_pairs(here, there, same_in_both(here.digests, there.digests, broken), f"bytes as in {called}")]
    if here.looks is not None and there.looks is not None:
        pixels = same_in_both(here.looks.pixels, there.looks.pixels, broken)
        further = [pair for pair in pixels if here.digests[pair[0]] != there.digests[pair[1]]]
        rows.append(_row_of_pairs(here, there, further, f"pixels as in {called}"))
        rows.append(_near_in_both((here.dataset, here.looks), (there.dataset, there.looks), called))
    return rows


def _rows_by_class(dataset: Dataset, groups: list[tuple[int, ...]], what: str) -> list[CheckRow]:
    found = by_class(dataset, groups)
    return [
        none_expected(f"same {what}, two classes", [_equal(dataset, group) for group in found.two_classes]),
        none_expected(
            f"same {what}, one class", [_equal(dataset, group) for group in found.one_class], otherwise="note"
        ),
    ]


def _equal(dataset: Dataset, group: Sequence[int]) -> str:
    return " = ".join(dataset.ids[position] for position in group)


def _row_of_pairs(here: Contents, there: Contents, pairs: list[tuple[int, int]], what: str) -> CheckRow:
    lines = [f"{here.dataset.ids[one]} = {there.dataset.ids[other]}" for one, other in pairs]
    # A mild corruption may leave a picture as it was.
    corrupted = "corruption" in here.dataset.columns
    return none_expected(f"same {what}", lines, otherwise="note" if corrupted else "wrong")


def _near_inside(dataset: Dataset, looks: Looks) -> CheckRow:
    pairs = [
        (one, other)
        for one, other in near_pairs(looks.fingerprints)
        if looks.pixels[one] != looks.pixels[other] and dataset.rows[one] != dataset.rows[other]
    ]
    lines = [f"{dataset.ids[one]} ~ {dataset.ids[other]}" for one, other in pairs]
    return none_expected("near-identical", lines, otherwise="note")


def _mirrored_inside(dataset: Dataset, looks: Looks) -> CheckRow:
    pairs = [(one, other) for one, other in mirrored_pairs(looks) if dataset.rows[one] != dataset.rows[other]]
    lines = [f"{dataset.ids[one]} ~ {dataset.ids[other]}" for one, other in pairs]
    return none_expected("mirrored copies", lines, otherwise="note")


def _black_row(dataset: Dataset, looks: Looks) -> CheckRow:
    places = np.flatnonzero(looks.black).tolist()
    return none_expected("black images", [dataset.ids[place] for place in places], otherwise="note")


def _near_in_both(here: tuple[Dataset, Looks], there: tuple[Dataset, Looks], called: str) -> CheckRow:
    n = len(here[0])
    ids = (*here[0].ids, *there[0].ids)
    pixels = (*here[1].pixels, *there[1].pixels)
    pairs = near_pairs(np.concatenate([here[1].fingerprints, there[1].fingerprints]))
    wanted = [(one, other) for one, other in pairs if one < n <= other and pixels[one] != pixels[other]]
    lines = [f"{ids[one]} ~ {ids[other]}" for one, other in wanted]
    return none_expected(f"near-identical in {called}", lines, otherwise="note")
