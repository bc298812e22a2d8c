"""Steps that may still be given away, when each of many things must have one by a last step of its own."""

from __future__ import annotations

import numpy as np


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
