"""AugMix (Hendrycks et al. 2020): an image mixed with several chains of simple operations on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from oodometer.core.errors import UsageError
from oodometer.train.augment.augmix_operations import MOST, OPERATIONS, Operation
from oodometer.train.augment.levels import whole_levels
from oodometer.train.augment.single_image import as_array, generator_of, like

T = TypeVar("T")
CHAIN: tuple[Operation, ...] = tuple(OPERATIONS.values())
WEAKEST = 0.1
"""The severity of an operation is drawn between this and the highest."""


@dataclass(frozen=True)
class AugMix:
    """Mixes an image with chains of operations; may stand in any pipeline of torch.

    Args:
        width: How many chains.
        depth: How many operations in each; 0: drawn, 1 to 3.
        severity: The highest of an operation, up to 10.

    >>> image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    >>> mixed = AugMix()(image, 0)
    >>> (mixed.shape, mixed.dtype) == (image.shape, image.dtype), bool((mixed == AugMix()(image, 0)).all())
    (True, True)
    """

    width: int = 3
    depth: int = 0
    severity: float = 3

    def __post_init__(self) -> None:
        if self.width < 1 or self.depth < 0 or not WEAKEST <= self.severity <= MOST:
            raise UsageError(
                f"AugMix of width {self.width}, depth {self.depth}, severity {self.severity:g}: a width of at least 1, "
                f"a depth of at least 0 (drawn), a severity from {WEAKEST} to {MOST}"
            )

    def __call__(self, image: T, rng: np.random.Generator | int | None = None) -> T:
        """The mixed image, of the same kind: a PIL image, (H, W, 3) uint8, or a tensor (3, H, W) uint8.

        Args:
            rng: A generator or a seed; None: torch's own generator decides, as in the workers of a data loader.
        """
        return like(image, self.mixed(as_array(image), generator_of(rng)))

    def mixed(self, image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The mixed image, (H, W, 3) uint8 -> (H, W, 3) uint8, rounded to whole levels."""
        weights = rng.dirichlet(np.ones(self.width))
        part = rng.beta(1, 1)
        mixture = (1 - part) * image
        for weight in weights:
            mixture += part * weight * self._chained(image, rng)
        return whole_levels(mixture)

    def _chained(self, image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The image after one chain of operations, each drawn with its strength and its side."""
        n_operations = self.depth or int(rng.integers(1, 4))
        for which in rng.integers(len(CHAIN), size=n_operations):
            far = rng.uniform(WEAKEST, self.severity) / MOST
            image = CHAIN[which](image, far if rng.random() < 0.5 else -far)
        return image


def augmix(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each mixed with three chains of severity 3."""
    return _batch(AugMix(), images, rng)


def augmix_10(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each mixed with three chains of severity 10, as for DeepFashion Remixed (Hendrycks et al. 2021)."""
    return _batch(AugMix(severity=10), images, rng)


def _batch(mix: AugMix, images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.stack([mix.mixed(image, rng) for image in images])
