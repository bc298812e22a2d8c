"""A smaller data set that stands for the whole."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.random import key_words


def stratified(dataset: Dataset, n: int, *, seed: int = 0) -> Dataset:
    """So many images, each class in proportion; a smaller subset of the same seed lies within a larger one.

    Which images depends on their ids and the seed, not on their order. Of every class there are its exact share of
    ``n``, rounded down or up.
    """
    if n < 1:
        raise UsageError(f"a subset of {n} images: ask for at least 1")
    if n >= len(dataset):
        return dataset
    chosen = sorted(islice(_in_turn(_turns(dataset, seed)), n))
    return dataset.take(np.array(chosen), subset=f"{n}, seed {seed}")


@dataclass(frozen=True)
class _Turn:
    """When an image may come, of those that are chosen one after the other.

    Args:
        position: Of the image in the data set.
        first: The first step at which its class would not have more than its share, rounded up.
        last: The last step at which it would not have less than its share, rounded down.
        wish: Where it would come by itself, as a share of all steps: anywhere between the two, so that neither small
            nor large classes are favoured.
    """

    position: int
    first: int
    last: int
    wish: float


def _turns(dataset: Dataset, seed: int) -> list[list[_Turn]]:
    """The turns of each class's images, in order."""
    keys: dict[int, list[tuple[int, int, int]]] = {}
    for position, (image_id, label) in enumerate(zip(dataset.ids, dataset.labels.tolist(), strict=True)):
        order, wish = key_words("subset", image_id, seed=seed)
        keys.setdefault(label, []).append((int(order), int(wish), position))
    return [_turns_of_class(sorted(of_class), len(dataset)) for of_class in keys.values()]


def _turns_of_class(keys: list[tuple[int, int, int]], total: int) -> list[_Turn]:
    size = len(keys)
    return [
        _Turn(position, place * total // size + 1, -(-(place + 1) * total // size), (place + wish / 2**64) / size)
        for place, (_, wish, position) in enumerate(keys)
    ]


def _in_turn(classes: list[list[_Turn]]) -> Iterator[int]:
    """All positions, such that the first n have the right share of every class, whatever n.

    Largest remainders are not nested: of 11 images a class may have fewer than of 10. An order by wishes alone is, but
    strays from the exact shares. So each image has a first and a last step, for which there always is an order
    (Balinski and Young 1975, "The quota method of apportionment"): it comes when it wishes, unless so many others must
    come by their last steps that all steps until its own are taken.
    """
    total = sum(len(turns) for turns in classes)
    slots = FreeSlots(np.array([turn.last for turns in classes for turn in turns]))
    waiting = [(turns[0].first, number, 0) for number, turns in enumerate(classes)]
    wishing: list[tuple[float, int, int, int]] = []
    urgent: list[tuple[int, float, int, int]] = []
    gone: set[int] = set()
    for step in range(1, total + 1):
        while waiting and waiting[0][0] <= step:
            _, number, place = heapq.heappop(waiting)
            turn = classes[number][place]
            heapq.heappush(wishing, (turn.wish, turn.last, number, place))
            heapq.heappush(urgent, (turn.last, turn.wish, number, place))
        while classes[wishing[0][2]][wishing[0][3]].position in gone:
            heapq.heappop(wishing)
        while classes[urgent[0][2]][urgent[0][3]].position in gone:
            heapq.heappop(urgent)
        _, last, number, place = wishing[0]
        if not slots.is_free(step, last):
            last, _, number, place = urgent[0]
        slots.take(last)
        position = classes[number][place].position
        gone.add(position)
        yield position
        if place + 1 < len(classes[number]):
            heapq.heappush(waiting, (classes[number][place + 1].first, number, place + 1))


class FreeSlots:
    """How many steps are left until each step, beyond those that must be kept for who must come until then.

    Args:
        lasts: The last step of each thing, 1 to N, (N,).

    >>> slots = FreeSlots(np.array([2, 2, 4, 4]))
    >>> slots.is_free(1, 4), slots.is_free(1, 2)  # the first two steps are for those that must come by step 2
    (False, True)
    """

    def __init__(self, lasts: np.ndarray) -> None:
        n = len(lasts)
        self._width = 1 << n.bit_length()
        # A tree over the steps. What is free until step T is the sum of the leaves from T on; a node has the sum of
        # its leaves, and the smallest sum from any of them to its last one.
        free = np.zeros(self._width + 1, dtype=np.int64)
        free[1 : n + 1] = np.arange(1, n + 1) - np.cumsum(np.bincount(lasts, minlength=n + 1)[1:])
        free[n + 1 :] = n  # beyond the end nothing is scarce
        sums = free[:-1] - free[1:]
        sums[-1] = free[-2]
        self._sums, self._lows = _tree(sums)

    def is_free(self, step: int, last: int) -> bool:
        """Whether something with that last step may have this step, though others must come earlier."""
        return last <= step or self._lowest(step, last - 1) > 0

    def take(self, last: int) -> None:
        """Give the next step to something with that last step: until then, one less is free."""
        node = self._width + last - 1
        sums, lows = self._sums, self._lows
        sums[node] -= 1
        lows[node] -= 1
        node >>= 1
        while node:
            left, right = 2 * node, 2 * node + 1
            sums[node] = sums[left] + sums[right]
            low = lows[left] + sums[right]
            lows[node] = low if low < lows[right] else lows[right]
            node >>= 1

    def _lowest(self, first: int, last: int) -> int:
        """The least that is free until any of the steps from first to last."""
        behind = sum(self._sums[node] for node in _cover(self._width, last + 1, self._width - 1))
        lowest = behind + self._lows[self._width + last]
        for node in _cover(self._width, first, last):
            lowest = min(lowest, behind + self._lows[node])
            behind += self._sums[node]
        return lowest


def _tree(leaves: np.ndarray) -> tuple[list[int], list[int]]:
    sums, lows = [leaves], [leaves]
    while len(sums[0]) > 1:
        left, right = sums[0][::2], sums[0][1::2]
        lows.insert(0, np.minimum(lows[0][::2] + right, lows[0][1::2]))
        sums.insert(0, left + right)
    return [0, *np.concatenate(sums).tolist()], [0, *np.concatenate(lows).tolist()]


def _cover(width: int, first: int, last: int) -> list[int]:
    """The nodes that together are the leaves from first to last, the rightmost first."""
    left, right = first + width, last + width + 1
    of_left: list[int] = []
    of_right: list[int] = []
    while left < right:
        if left & 1:
            of_left.append(left)
            left += 1
        if right & 1:
            right -= 1
            of_right.append(right)
        left >>= 1
        right >>= 1
    return of_right + of_left[::-1]
