"""One image of any kind that a pipeline of torch passes on: to an array, and back to its kind."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
from PIL import Image

from oodometer.core.errors import DataError

T = TypeVar("T")


def as_array(image: Any) -> np.ndarray:
    """The pixels of a PIL image, of an array (H, W, 3) or of a tensor (3, H, W), as (H, W, 3) uint8."""
    if isinstance(image, Image.Image):
        return np.asarray(image.convert("RGB"))
    array = np.asarray(image)
    if not isinstance(image, np.ndarray) and array.ndim == 3:
        array = np.ascontiguousarray(array.transpose(1, 2, 0))
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3 or array.size == 0:
        raise DataError(
            f"an image of shape {tuple(np.shape(image))}, {array.dtype}: expected a PIL image, an array (H, W, 3) or a "
            "tensor (3, H, W), of uint8; augment before the pixels are normalised"
        )
    return array


def like(image: T, pixels: np.ndarray) -> T:
    """The pixels (H, W, 3) uint8 as what the image is: of PIL, an array or a tensor."""
    if isinstance(image, Image.Image):
        return cast(T, Image.fromarray(pixels))
    if isinstance(image, np.ndarray):
        return cast(T, pixels)
    import torch

    return cast(T, torch.from_numpy(pixels.transpose(2, 0, 1).copy()).to(cast(Any, image).device))


def generator_of(rng: np.random.Generator | int | None) -> np.random.Generator:
    """The generator itself, that of a seed, or one that torch's own generator seeds.

    Torch seeds its workers apart from each other and by ``torch.manual_seed``; numpy's global state is the same in all.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        import torch

        rng = int(torch.randint(2**62, ()))
    return np.random.default_rng(rng)
