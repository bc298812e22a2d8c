"""A smaller data set that stands for the whole."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
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
    chosen = sorted(islice(_in_turn(dataset, seed), n))
    return dataset.take(np.array(chosen), subset=f"{n}, seed {seed}")


def _in_turn(dataset: Dataset, seed: int) -> Iterator[int]:
    """All positions, such that the first n are a stratified subset, whatever n.

    This is the quota method of Balinski and Young (1975, "The quota method of apportionment"). Largest remainders are
    not nested (of 11 images a class may have fewer than of 10), and orders of priority such as (place + 1/2) / size
    are, but leave the exact share by far where there are many small classes.
    """
    total = len(dataset)
    queues = _queues(dataset, seed)
    taken = [0] * len(queues)
    # When the next image of each class may come: at no step has a class more than its share, rounded up.
    waiting = [(1, label) for label in range(len(queues))]
    ready: list[tuple[float, tuple[int, int], int]] = []
    for step in range(1, total + 1):
        while waiting and waiting[0][0] <= step:
            label = heapq.heappop(waiting)[1]
            # Whose share is used up first is most in a hurry. The quotient of two whole numbers below 2**26 is the
            # same only where their ratio is; then the key of the image decides, so that no class is favoured.
            due = (taken[label] + 1) / len(queues[label])
            heapq.heappush(ready, (due, queues[label][taken[label]][0], label))
        label = heapq.heappop(ready)[2]
        yield queues[label][taken[label]][1]
        taken[label] += 1
        if taken[label] < len(queues[label]):
            heapq.heappush(waiting, (taken[label] * total // len(queues[label]) + 1, label))


def _queues(dataset: Dataset, seed: int) -> Sequence[Sequence[tuple[tuple[int, int], int]]]:
    """The images of each class that occurs: their keys and positions, in the order of the keys."""
    queues: dict[int, list[tuple[tuple[int, int], int]]] = {}
    for position, (image_id, label) in enumerate(zip(dataset.ids, dataset.labels.tolist(), strict=True)):
        queues.setdefault(label, []).append((_key(image_id, seed), position))
    return [sorted(queue) for queue in queues.values()]


def _key(image_id: str, seed: int) -> tuple[int, int]:
    first, second = key_words("subset", image_id, seed=seed)
    return int(first), int(second)
