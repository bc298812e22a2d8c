"""The training images in memory, as bytes, and as what a network sees."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.digests import content_digest
from oodometer.core.errors import DataError
from oodometer.core.model import Input
from oodometer.core.preprocessing import Geometry

MOST_BYTES = 4 * 10**9
SMALLEST_STD = 0.01
"""Below this a channel is as good as constant, and dividing by its deviation would magnify nothing but rounding."""


@dataclass(frozen=True, eq=False)
class Pixels:
    """Images that fit into memory, with labels and ids.

    Args:
        images: (N, H, W, 3) uint8.
        labels: (N,) int64.
        ids: One per image.
        other_labels: Where an image has several labels, per image those besides ``labels``; None where each has one.
    """

    images: np.ndarray
    labels: np.ndarray
    ids: tuple[str, ...]
    other_labels: tuple[tuple[int, ...], ...] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: np.ndarray) -> Pixels:
        """Those images alone."""
        ids = tuple(self.ids[row] for row in rows.tolist())
        others = None if self.other_labels is None else tuple(self.other_labels[row] for row in rows.tolist())
        return Pixels(self.images[rows], self.labels[rows], ids, others)

    def right(self, answers: np.ndarray) -> np.ndarray:
        """Which answers (N,) are a label of their image, (N,) bool."""
        right = answers == self.labels
        for row, others in enumerate(self.other_labels or ()):
            right[row] |= int(answers[row]) in others
        return np.asarray(right)

    def targets(self, n_classes: int) -> np.ndarray:
        """1 for every label of an image, 0 for the other classes, (N, K) float32."""
        targets = np.zeros((len(self), n_classes), dtype=np.float32)
        targets[np.arange(len(self)), self.labels] = 1
        for row, others in enumerate(self.other_labels or ()):
            targets[row, list(others)] = 1
        return targets


def read_pixels(dataset: Dataset, view: Geometry) -> Pixels:
    """All images of the data set as the view wants them."""
    check_memory(len(dataset), view, dataset.name)
    with ThreadPoolExecutor() as pool:
        images = list(pool.map(lambda index: dataset.views(index, [view])[0], range(len(dataset))))
    return Pixels(np.stack(images), dataset.labels.astype(np.int64), dataset.ids, dataset.other_labels)


def check_memory(n_images: int, view: Geometry, name: str) -> None:
    """Refuse what does not fit."""
    size = n_images * view.height * view.width * 3
    if size > MOST_BYTES:
        raise DataError(
            f"{name}: {n_images} images of {view.width}x{view.height} take {size / 1e9:.1f} GB in memory, and training "
            f"keeps at most {MOST_BYTES / 1e9:.0f}; use fewer images or a smaller --size"
        )


def statistics_of(images: np.ndarray, view: Geometry) -> Input:
    """The preprocessing whose mean and std are those of the images' pixels in [0, 1], rounded to four digits."""
    counts = [np.bincount(images[..., channel].ravel(), minlength=256) for channel in range(3)]
    values = np.arange(256) / 255
    means = [float((count * values).sum() / count.sum()) for count in counts]
    stds = [
        float(np.sqrt((count * (values - mean) ** 2).sum() / count.sum()))
        for count, mean in zip(counts, means, strict=True)
    ]
    mean, std = ([round(one, 4) for one in some] for some in (means, stds))
    return Input(view, mean=_triple(mean), std=_triple([max(one, SMALLEST_STD) for one in std]))


def as_input(images: np.ndarray, given: Input) -> Any:
    """What the network sees, (N, H, W, 3) uint8 -> (N, 3, H, W) float32, in the memory order that convolutions like."""
    import torch

    mean, std = (torch.tensor(values, dtype=torch.float32) for values in (given.mean, given.std))
    # The same product and sum as in the session of an exported model.
    return (torch.from_numpy(images).float() * (1 / (255 * std)) - mean / std).permute(0, 3, 1, 2)


def same_pixels(training: Pixels, tests: Sequence[Pixels]) -> np.ndarray:
    """Which training images are, pixel for pixel, an image of a test, (N,) bool."""
    seen = {content_digest(image.tobytes()) for test in tests for image in test.images}
    return np.array([content_digest(image.tobytes()) in seen for image in training.images])


def digest_of_pixels(pixels: Pixels) -> str:
    """The digest of ids, labels and pixels."""
    total = hashlib.blake2b(digest_size=16)
    total.update("\0".join(pixels.ids).encode())
    total.update(np.ascontiguousarray(pixels.labels, dtype="<i8").tobytes())
    if pixels.other_labels is not None:
        total.update(repr(pixels.other_labels).encode())
    total.update(np.ascontiguousarray(pixels.images).tobytes())
    return total.hexdigest()


def _triple(values: list[float]) -> tuple[float, float, float]:
    return values[0], values[1], values[2]
