"""Near-duplicates of a picture: what happens to images on their way through the web."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from PIL import Image


def cropped(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Nine tenths of each side, from anywhere."""
    height, width = image.shape[:2]
    down, across = rng.integers(height - int(0.9 * height) + 1), rng.integers(width - int(0.9 * width) + 1)
    return image[down : down + int(0.9 * height), across : across + int(0.9 * width)]


def encoded_again(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """As a JPEG file of low quality."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=int(rng.integers(40, 80)))
    return np.asarray(Image.open(file).convert("RGB"))


def resized(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """To between one half and one and a half of each side, so that it is stretched too."""
    height, width = (max(1, int(side * rng.uniform(0.5, 1.5))) for side in image.shape[:2])
    return np.asarray(Image.fromarray(image).resize((width, height), Image.Resampling.BICUBIC))


def mirrored(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Left and right exchanged."""
    return image[:, ::-1]


def recoloured(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each channel times up to a quarter more or less, and up to 20 brighter or darker."""
    return np.clip(image * rng.uniform(0.75, 1.25, 3) + rng.uniform(-20, 20, 3), 0, 255).astype(np.uint8)


KINDS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "crop": cropped,
    "jpeg": encoded_again,
    "resize": resized,
    "mirror": mirrored,
    "colour": recoloured,
}
