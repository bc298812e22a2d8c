"""One vector for each image, such that images that look alike have vectors that lie close together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import UsageError


@dataclass(frozen=True)
class Features:
    """The vectors of a set of images, and those of the same images in a mirror where they are known.

    Args:
        vectors: (N, D) float32; may be mapped from a file, since a search reads it in blocks.
        mirror_order: Where mirroring an image only moves the numbers of its vector: which of them stands at each
            place then, (D,). Twice mirrored is as it was, so that one image mirrored is as far from another as the
            other way round.
        mirrored: Where it does not: the vectors of the mirrored images, (N, D) float32.
    """

    vectors: np.ndarray
    mirror_order: np.ndarray | None = None
    mirrored: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or self.vectors.dtype != np.float32:
            raise UsageError(
                f"features of shape {self.vectors.shape} and type {self.vectors.dtype}: expected (N, D) float32"
            )
        if self.mirrored is not None and self.mirror_order is not None:
            raise UsageError("give mirror_order or mirrored, not both: they could disagree")
        other = self.mirrored
        if other is not None and (other.shape != self.vectors.shape or other.dtype != np.float32):
            raise UsageError(
                f"mirrored features of shape {other.shape} {other.dtype}: expected {self.vectors.shape} float32"
            )
        order, n = self.mirror_order, self.vectors.shape[1]
        if order is not None and (sorted(order.tolist()) != list(range(n)) or (order[order] != np.arange(n)).any()):
            raise UsageError(f"mirror_order must hold each of the {n} places once, and twice mirrored be as it was")

    def __len__(self) -> int:
        return len(self.vectors)

    def in_mirror(self, rows: slice | np.ndarray) -> np.ndarray:
        """The vectors of some images in a mirror.

        >>> of_two_pixels = Features(np.array([[1, 2], [3, 4]], np.float32), mirror_order=np.array([1, 0]))
        >>> of_two_pixels.in_mirror(slice(0, 1)).tolist()
        [[2.0, 1.0]]
        """
        if self.mirror_order is not None:
            return np.asarray(self.vectors[rows][:, self.mirror_order])
        if self.mirrored is None:
            raise UsageError("these features don't say how the images look in a mirror: search without it")
        return np.asarray(self.mirrored[rows])
