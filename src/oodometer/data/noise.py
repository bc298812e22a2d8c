"""Images of no class that nobody photographed: noise and blobs, made when they are asked for.

Constants as in Hendrycks, Mazeika & Dietterich 2019 (Outlier Exposure), for pixels in [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.labels import numbered
from oodometer.core.limits import MAX_INPUT_SIDE
from oodometer.core.random import rng_for
from oodometer.data.source import ArraySource

PREFIX = "noise:"
SIDE, N_IMAGES = 224, 2000
MOST_IMAGES = 1_000_000
MEAN, SIGMA = 0.5, 0.25
"""Of the Gaussian: 0 and 0.5 where pixels lie in [-1, 1]."""
BLOB_SIDE, BLOB_SHARE, BLOB_SIGMA, BLOB_LEAST = 32, 0.7, 1.5, 0.75
"""Of blobs: the side for which they are published, the share of white, the blur, and below what is black."""

Draw = Callable[[np.random.Generator, int], np.ndarray]
"""(generator, side) -> (side, side, 3) of floats in [0, 1]."""


def gaussian(rng: np.random.Generator, side: int) -> np.ndarray:
    """Each channel of each pixel from one normal distribution, cut to what a pixel can be."""
    return np.clip(rng.normal(MEAN, SIGMA, (side, side, 3)), 0, 1)


def uniform(rng: np.random.Generator, side: int) -> np.ndarray:
    """Each channel of each pixel anywhere between black and white."""
    return rng.random((side, side, 3))


def bernoulli(rng: np.random.Generator, side: int) -> np.ndarray:
    """Each channel of each pixel full or empty, with equal chances."""
    return rng.integers(0, 2, (side, side, 3)).astype(np.float64)


def blobs(rng: np.random.Generator, side: int) -> np.ndarray:
    """Shapes with sharp edges on black: 0 and 1 that are blurred, channels too, and cut off from below.

    They are published at 32 px. At another side the blurred field is enlarged before it is cut: as large in the image.
    """
    from scipy.ndimage import gaussian_filter

    white = (rng.random((BLOB_SIDE, BLOB_SIDE, 3)) < BLOB_SHARE).astype(np.float64)
    field = _enlarged(gaussian_filter(white, BLOB_SIGMA, mode="nearest"), side)
    return np.where(field < BLOB_LEAST, 0.0, field)


def _enlarged(field: np.ndarray, side: int) -> np.ndarray:
    from PIL import Image

    if side == len(field):
        return field
    planes = [Image.fromarray(field[..., channel].astype(np.float32)) for channel in range(3)]
    resized = [np.asarray(plane.resize((side, side), Image.Resampling.BICUBIC)) for plane in planes]
    return np.clip(np.stack(resized, axis=2).astype(np.float64), 0, 1)


DRAWS: Mapping[str, Draw] = {"bernoulli": bernoulli, "blobs": blobs, "gaussian": gaussian, "uniform": uniform}


@dataclass(frozen=True)
class Noise:
    """A set of made images; each depends on the kind, the side, its number and the seed, not on how many there are."""

    kind: str
    side: int = SIDE
    n: int = N_IMAGES
    seed: int = 0

    @property
    def title(self) -> str:
        """As it is asked for, without what goes without saying."""
        return f"{PREFIX}{self.kind}" + (f",size={self.side}" if self.side != SIDE else "")

    def read(self, index: int) -> np.ndarray:
        """Image ``index``, (side, side, 3) uint8."""
        rng = rng_for("noise", self.kind, self.side, index, seed=self.seed)
        levels = np.rint(DRAWS[self.kind](rng, self.side) * 255)
        return np.asarray(levels, dtype=np.uint8)

    def name(self, index: int) -> str:
        """For messages."""
        return f"{self.title} image {index}"

    def version(self, index: int) -> None:
        """Unknown, so that they are made anew in each run: nothing tells whether today's are those of yesterday."""


def is_noise(text: str) -> bool:
    """Whether a text asks for made images instead of naming a folder."""
    return text.startswith(PREFIX)


def parse_noise(text: str, *, seed: int = 0) -> Noise:
    """What a user asks for.

    >>> parse_noise("noise:blobs,size=32,n=100")
    Noise(kind='blobs', side=32, n=100, seed=0)
    """
    kind, *options = text.removeprefix(PREFIX).split(",")
    if kind not in DRAWS:
        raise UsageError(f"no noise named {kind!r}{did_you_mean(kind, DRAWS)}")
    given = dict(_option(one, text) for one in options)
    return Noise(kind, given.get("size", SIDE), given.get("n", N_IMAGES), seed)


def _option(text: str, asked: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    most = {"size": MAX_INPUT_SIDE, "n": MOST_IMAGES}.get(name)
    if most is None or not (number.isascii() and number.isdigit()) or not 1 <= int(number[:9]) <= most:
        raise UsageError(f"{asked}: can't be read at {text!r}; expected for example noise:blobs,size=32,n=1000")
    return name, int(number)


def made_noise(noise: Noise) -> Dataset:
    """The images as data, without labels."""
    width = len(str(MOST_IMAGES))
    return Dataset(
        name=noise.title,
        ids=tuple(f"{noise.kind}/{index:0{width}d}" for index in range(noise.n)),
        labels=np.full(noise.n, -1, dtype=np.int64),
        space=numbered(1),
        source=ArraySource(noise),
        rows=np.arange(noise.n),
        subset=f"{noise.n}, seed {noise.seed}",
    )
