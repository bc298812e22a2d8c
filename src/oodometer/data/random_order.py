"""A data set in a random order, so that its first images are a sample of it, however many one takes."""

from __future__ import annotations

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.digests import digest_of
from oodometer.core.errors import UsageError
from oodometer.core.random import key_words
from oodometer.core.sample import Sample


def random_order(dataset: Dataset, order: str, *, seed: int = 0) -> np.ndarray:
    """The positions of all images, each order as likely as any other, (N,).

    Which comes when depends on the ids, the order's name and the seed, not on how the data are kept. It is a plain
    random order and no stratified one: a confidence sequence without replacement holds for that alone.
    """
    keys = np.array([key_words("order", order, image_id, seed=seed) for image_id in dataset.ids])
    return np.lexsort((keys[:, 1], keys[:, 0]))


def digest_of_whole(dataset: Dataset) -> str:
    """The digest of ids and labels, by which samples of the same images know each other."""
    return digest_of({"ids": list(dataset.ids), "labels": dataset.labels.tolist()})


def first_of_order(dataset: Dataset, positions: np.ndarray, n: int, sample: Sample) -> Dataset:
    """The first images of an order, as a sample of the data set.

    Args:
        positions: Of all images, as `random_order` gives them.
    """
    if dataset.sample is not None or dataset.subset:
        raise UsageError(f"{dataset.title}: a sample is drawn from whole data sets; leave out --images")
    chosen = dataset.take(positions[:n], subset=sample.title(n))
    return chosen.as_sample(sample)
