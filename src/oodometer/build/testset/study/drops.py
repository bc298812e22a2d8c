"""How much accuracy is lost from the original set to a new one."""

from __future__ import annotations

from dataclasses import dataclass

from oodometer.build.testset.study.by_frequency import MEAN
from oodometer.build.testset.study.rights import Rights
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import difference_of, share_of


@dataclass(frozen=True)
class Drop:
    """Of a model, or of the mean of all.

    Args:
        change: New minus original: negative where accuracy is lost.
    """

    model: str
    original: Estimate
    new: Estimate
    change: Estimate


def drops(original: Rights, new: Rights, *, level: float = 0.95) -> list[Drop]:
    """The change of each model that was asked about both sets over the same classes, and of the mean of these models.

    The sets have no image in common: the change has the interval of the difference of two independent shares, by
    Newcombe's method 10; that of the mean is put together in the same way from the intervals of the two means.
    """
    both = [name for name in new.models if original.answered.get(name) == new.answered[name]]
    found = [_of_model(name, original, new, level) for name in both]
    if len(both) > 1:
        sides = [
            Rights({name: side.right[name] for name in both}, side.answered).mean_accuracy(level=level)
            for side in (original, new)
        ]
        if sides[0] is not None and sides[1] is not None:
            found.append(Drop(MEAN, sides[0], sides[1], difference_of(sides[1], sides[0], n=sides[1].n, level=level)))
    return found


def _of_model(name: str, original: Rights, new: Rights, level: float) -> Drop:
    right = [side.right[name][side.right[name] >= 0] for side in (original, new)]
    old, fresh = (share_of(int(some.sum()), len(some), level=level) for some in right)
    wilson = [share_of(int(some.sum()), len(some), interval="wilson", level=level) for some in right]
    return Drop(name, old, fresh, difference_of(wilson[1], wilson[0], n=fresh.n, level=level))
