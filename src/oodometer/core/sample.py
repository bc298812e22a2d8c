"""Images drawn at random from a larger data set: how many, in which order, and why so many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rule = Literal["within", "until"]
"""Why a sample has as many images as it has: planned before it was looked at, or stopped when it was sure enough."""

Aims = tuple[tuple[int, float], ...]
"""Half widths that were aimed at, each until so many images."""


@dataclass(frozen=True)
class Sample:
    """The first images of a random order of a larger data set.

    Args:
        of: How many images the larger one has.
        order: What the order belongs to: two samples of one order share images, those of others were drawn apart.
        seed: Of the order.
        rule: ``until``: how many there are depends on what was seen, and only a confidence sequence is valid.
        aims: For an interval of which half width. More than one, where a later run asked for a narrower one.
        members: How many conditions are summed up in the number that is aimed at; 1: the accuracy itself.
        whole: The digest of ids and labels of the larger data set.
    """

    of: int
    order: str
    seed: int
    rule: Rule
    aims: Aims
    members: int = 1
    whole: str = ""

    def title(self, n: int) -> str:
        """What to call a subset of so many images.

        >>> Sample(50_000, "imagenet-c/fog/3", 0, "within", ((190, 0.01),), 75).title(190)
        '190 of 50000 at random, seed 0'
        """
        return f"{n} of {self.of} at random, seed {self.seed}"
