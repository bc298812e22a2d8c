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
from oodometer.data.slots import FreeSlots


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
