"""A smaller data set that stands for the whole."""

from __future__ import annotations

from collections import Counter

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.random import key_words


def stratified(dataset: Dataset, n: int, *, seed: int = 0) -> Dataset:
    """So many images, each class in proportion; which ones depends on their ids and the seed, not on their order."""
    if n < 1:
        raise UsageError(f"a subset of {n} images: ask for at least 1")
    if n >= len(dataset):
        return dataset
    wanted = _shares(dataset, n, seed)
    chosen: list[int] = []
    labels = dataset.labels.tolist()
    for position in sorted(range(len(dataset)), key=lambda place: _key("subset", dataset.ids[place], seed)):
        if wanted[labels[position]] > 0:
            wanted[labels[position]] -= 1
            chosen.append(position)
    return dataset.take(np.array(sorted(chosen)), subset=f"{n}, seed {seed}")


def _shares(dataset: Dataset, n: int, seed: int) -> dict[int, int]:
    """How many images of each class: proportional, what is left over to the largest remainders (Hamilton's way)."""
    total = len(dataset)
    counts = Counter(dataset.labels.tolist())
    shares = {label: n * count // total for label, count in counts.items()}

    def claim(label: int) -> tuple[int, tuple[int, int]]:
        # A class's place must not favour it, so the key of its name decides between equals.
        name = "" if label < 0 else dataset.space.classes[label]
        return -(n * counts[label] % total), _key("subset class", name, seed)

    for label in sorted(counts, key=claim)[: n - sum(shares.values())]:
        shares[label] += 1
    return shares


def _key(what: str, name: str, seed: int) -> tuple[int, int]:
    first, second = key_words(what, name, seed=seed)
    return int(first), int(second)
