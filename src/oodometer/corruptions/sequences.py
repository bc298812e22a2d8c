"""The perturbation sequences of ImageNet-P (Hendrycks and Dietterich 2019): an image that changes little by little.

The image is taken as it is, larger than the frames: published were frames of 224 pixels from images whose shorter
side had been resized to 256. Each frame is the centre of the changed image. What lies outside the image is black, as
published: it shows in the corners of a square image that is turned by 15 degrees, and all around one that is scaled
to 0.4. All constants are those of 224 pixels, at any size.

The published frames went through a video codec afterwards; these did not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from PIL import Image
from scipy import ndimage

from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.core.random import rng_for
from oodometer.corruptions.corrupt import checked
from oodometer.corruptions.jit import jit
from oodometer.corruptions.motion import apply_motion_blur
from oodometer.corruptions.registry import Corruption, corruptions
from oodometer.corruptions.severities import LEAST_SIDE, Strength
from oodometer.corruptions.snow import SnowDraws, apply_snow, draw_snow
from oodometer.corruptions.spatter import WATER, draw_spatter, glisten, smoothed

NOISES = {
    "gaussian_noise": (0.03, 0.05, 0.08),
    "shot_noise": (300.0, 120.0, 60.0),
    "speckle_noise": (0.05, 0.10, 0.15),
}
"""The constant of each noise as published, and for its two harder sequences."""
MOTION = (10.0, 3.0)
"""Radius and sigma."""
SNOW = (0.05, 0.3, 3.0, 0.5, 14.0, 4.0, 0.85)
"""Loc, scale, zoom, threshold, radius, sigma and mix."""
SPATTER = (0.65, 0.27, 3.7, 0.69, 0.6)
"""Loc, scale, sigma, threshold and amount."""
DRIFT = (0.7, 0.15, 0.1, 0.05)
"""What a row of the spatter takes of the rows 2 and 1 above, of itself, and of the row below, from frame to frame."""


class Scene(NamedTuple):
    """What a sequence is made of."""

    image: np.ndarray
    size: int
    parts: tuple[str | int, ...]
    seed: int

    def rng(self, *more: str | int) -> np.random.Generator:
        """The generator of this sequence, or of one frame of it."""
        return rng_for("imagenet-p", *self.parts, *more, seed=self.seed)

    def corner(self) -> tuple[int, int]:
        """The top and left of the centre crop."""
        height, width = self.image.shape[:2]
        return round((height - self.size) / 2), round((width - self.size) / 2)

    def crop(self) -> np.ndarray:
        """The centre of the unchanged image."""
        top, left = self.corner()
        return np.ascontiguousarray(self.image[top : top + self.size, left : left + self.size])


Frames = Iterator[Callable[[], np.ndarray]]
"""Each frame as a function that makes it, so that one frame can be had without those before it."""


def sequence(image: np.ndarray, name: str, *, key: str, seed: int = 0, harder: int = 0, size: int = 224) -> np.ndarray:
    """The frames of a perturbation sequence, (F, size, size, 3) uint8; F is 31, for ``translate`` 41.

    Args:
        image: RGB or grey, at least as large as a frame; for the published frames, the shorter side is 256.
        name: One of `SEQUENCES`.
        key: The image's id: every draw depends on (name, harder, key, seed, frame) and nothing else.
        harder: 0, or 1 and 2 for the stronger noises.

    >>> from oodometer.corruptions.sample_image import sample_image
    >>> sequence(sample_image(80, 96), "rotate", key="an image", size=64).shape
    (31, 64, 64, 3)
    """
    return np.stack([make() for make in _frames(image, name, (harder, key), seed=seed, size=size)])


def frame_of(image: np.ndarray, name: str, frame: int, *, key: str, seed: int = 0, size: int = 224) -> np.ndarray:
    """One frame of a perturbation sequence, (size, size, 3) uint8; see `sequence`.

    >>> from oodometer.corruptions.sample_image import sample_image
    >>> image = sample_image(80, 96)
    >>> whole = sequence(image, "rotate", key="an image", size=64)
    >>> bool((frame_of(image, "rotate", 9, key="an image", size=64) == whole[9]).all())
    True
    """
    if not 0 <= frame < n_frames(name):
        raise UsageError(f"frame {frame} of {name}: must lie between 0 and {n_frames(name) - 1}")
    return next(islice(_frames(image, name, (0, key), seed=seed, size=size), frame, None))()


def n_frames(name: str) -> int:
    """The number of frames of a sequence.

    >>> n_frames("translate"), n_frames("tilt")
    (41, 31)
    """
    return 41 if name == "translate" else 31


def _frames(image: np.ndarray, name: str, parts: tuple[int, str], *, seed: int, size: int) -> Frames:
    """The frames of a sequence, after a look at what was asked for."""
    harder = parts[0]
    if name not in SEQUENCES:
        raise UsageError(f"no perturbation sequence named {name!r}{did_you_mean(name, SEQUENCES)}")
    if harder not in (0, 1, 2) or (harder and name not in NOISES):
        raise UsageError(f"harder={harder}: 0, or 1 or 2 for {', '.join(NOISES)}")
    pixels = checked(image)
    height, width = pixels.shape[:2]
    if size < LEAST_SIDE:
        raise UsageError(f"frames of {size} pixels are too small: at least {LEAST_SIDE}")
    if min(height, width) < size:
        raise DataError(f"an image of {width}x{height} pixels is too small for frames of {size} pixels")
    return MAKERS[name](Scene(pixels, size, (name, *parts), seed))


def _noise(scene: Scene) -> Frames:
    """The clean image, then each frame with noise of its own."""
    name, harder = str(scene.parts[0]), int(scene.parts[1])
    noise, strength = corruptions.get(name), (NOISES[name][harder],)
    crop = scene.crop()
    yield lambda: crop
    for frame in range(1, 31):
        yield partial(_with_noise, scene, noise, crop, frame, strength)


def _with_noise(scene: Scene, noise: Corruption, crop: np.ndarray, frame: int, strength: Strength) -> np.ndarray:
    return _made(noise, crop, scene.rng(frame), strength)


def _made(corruption: Corruption, image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The image under a corruption with constants of our own."""
    if corruption.fast is not None:
        return corruption.fast(image, rng, strength)
    height, width = image.shape[:2]
    return corruption.apply(image, corruption.draw(rng, height, width, strength), strength)


def _motion_blur(scene: Scene) -> Frames:
    crop = scene.crop()
    for frame in range(31):
        yield partial(apply_motion_blur, crop, (frame - 30) * 4, MOTION)


def _zoom_blur(scene: Scene) -> Frames:
    """The running mean of the image and its ever larger zooms."""
    total = scene.crop().astype(np.int64)
    yield partial(total.astype, np.uint8)
    for frame in range(1, 31):
        total += affine(scene, scale=1 + 0.004 * frame)
        yield partial((total // (frame + 1)).astype, np.uint8)


def _snow(scene: Scene) -> Frames:
    """The same flakes, blown from one side to the other."""
    crop = scene.crop()
    flakes = draw_snow(scene.rng(), scene.size, scene.size, SNOW).flakes
    for frame in range(31):
        yield partial(apply_snow, crop, SnowDraws(flakes, frame * 4 - 150), SNOW)


def _brightness(scene: Scene) -> Frames:
    brightness, crop = corruptions.get("brightness"), scene.crop()
    for frame in range(31):
        yield partial(_made, brightness, crop, scene.rng(), ((frame - 15) * 2 / 100,))


def _gaussian_blur(scene: Scene) -> Frames:
    """Cut at 6 sigma, where the corruption of that name is cut at 4."""
    pixels = scene.crop() / 255.0
    for frame in range(31):
        yield partial(_blurred, pixels, 0.25 + 0.035 * frame)


def _blurred(pixels: np.ndarray, sigma: float) -> np.ndarray:
    blurred = ndimage.gaussian_filter(pixels, (sigma, sigma, 0), mode="nearest", truncate=6.0)
    return np.asarray((np.clip(blurred, 0, 1) * 255).astype(np.uint8))


def _spatter(scene: Scene) -> Frames:
    """Drops of water that run down."""
    loc, scale, sigma, threshold, amount = SPATTER
    pixels = scene.crop() / 255.0
    draws = draw_spatter(scene.rng(), scene.size, scene.size, SPATTER).astype(np.float64)
    liquid = smoothed(loc + scale * draws, sigma)
    liquid = np.where(liquid < threshold, 0, liquid)
    for _ in range(31):
        yield partial(_wet, pixels, liquid, amount)
        liquid = drifted(liquid)


def _wet(pixels: np.ndarray, liquid: np.ndarray, amount: float) -> np.ndarray:
    drops = np.clip(liquid * 255, 0, 255).astype(np.uint8)
    shine = drops * glisten(drops)
    wet = pixels + (shine / max(shine.max(), 1) * amount)[..., None] * WATER
    return np.asarray((np.clip(wet, 0, 1) * 255).astype(np.uint8))


def drifted(liquid: np.ndarray) -> np.ndarray:
    """The liquid one frame later, about a row and a half further down; what leaves is lost."""
    height = len(liquid)
    padded = np.pad(liquid, ((2, 1), (0, 0)))
    return np.asarray(sum(share * padded[k : k + height] for k, share in enumerate(DRIFT)))


def _translate(scene: Scene) -> Frames:
    """From 20 pixels to the left to 20 to the right."""
    top, left = scene.corner()
    padded = np.pad(scene.image[top : top + scene.size], ((0, 0), (20, 20), (0, 0)))
    for frame in range(41):
        begin = left + 40 - frame
        yield padded[:, begin : begin + scene.size].copy


def _rotate(scene: Scene) -> Frames:
    for frame in range(31):
        yield partial(affine, scene, angle=frame - 15)


def _scale(scene: Scene) -> Frames:
    for frame in range(31):
        yield partial(affine, scene, scale=(frame * 2.5 + 40) / 100)


def _shear(scene: Scene) -> Frames:
    for frame in range(31):
        yield partial(affine, scene, shear=frame - 15)


def _tilt(scene: Scene) -> Frames:
    height, width = scene.image.shape[:2]
    for frame in range(31):
        inverse = np.linalg.inv(tilt(height, width, frame - 15))
        yield partial(warped, scene.image, inverse, *scene.corner(), scene.size)


def affine(scene: Scene, *, angle: float = 0, scale: float = 1, shear: float = 0) -> np.ndarray:
    """A frame of the image turned, scaled or sheared, by Pillow's bilinear interpolation.

    The published frames come from a torchvision of 2018, which turns about (W + 1, H + 1) / 2, half a pixel off the
    centre, by [cos(angle), -sin(angle + shear); sin(angle), cos(angle + shear)] times the scale.
    """
    turn, both = math.radians(angle), math.radians(angle + shear)
    forward = scale * np.array([[math.cos(turn), -math.sin(both)], [math.sin(turn), math.cos(both)]])
    backward = np.linalg.inv(forward)
    height, width = scene.image.shape[:2]
    centre = np.array([width / 2 + 0.5, height / 2 + 0.5])
    top, left = scene.corner()
    offset = centre + backward @ (np.array([left, top]) - centre)
    (a, b), (d, e) = backward
    out = Image.fromarray(scene.image).transform(
        (scene.size, scene.size),
        Image.Transform.AFFINE,
        (a, b, offset[0], d, e, offset[1]),
        resample=Image.Resampling.BILINEAR,
    )
    return np.array(out)


def tilt(height: int, width: int, degrees: float) -> np.ndarray:
    """The homography (3, 3) of an image turned about its horizontal and its vertical axis by the same angle.

    It maps (x, y, 1) of the image to the tilted one, seen from as far as the diagonal is long. The published matrices
    turn the plane one pixel in front of the axes: even without a tilt the image shrinks by 1 / (diagonal + 1).

    >>> still = tilt(300, 400, 0)
    >>> corner = still @ [0, 0, 1]
    >>> (corner[:2] / corner[2]).round(3).tolist()
    [0.399, 0.299]
    """
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    focus = math.hypot(height, width)
    into_space = np.array([[1, 0, -width / 2], [0, 1, -height / 2], [0, 0, 1]])
    turned_y = np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    turned_x = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    turned = turned_x @ turned_y @ into_space
    turned[2, 2] += focus
    project = np.array([[focus, 0, width / 2], [0, focus, height / 2], [0, 0, 1]])
    return np.asarray(project @ turned)


@jit
def warped(image: np.ndarray, inverse: np.ndarray, top: int, left: int, size: int) -> np.ndarray:
    """The crop (size, size, 3) of a warped image, black outside; ``inverse`` maps its (x, y, 1) to the image's.

    Bilinear, rounded, as OpenCV does it now; that of 2018 moved places to whole 32nds of a pixel first.
    """
    height, width = image.shape[:2]
    out = np.empty((size, size, 3), np.uint8)
    for i in range(size):
        for j in range(size):
            x, y = j + left, i + top
            depth = inverse[2, 0] * x + inverse[2, 1] * y + inverse[2, 2]
            at_x = (inverse[0, 0] * x + inverse[0, 1] * y + inverse[0, 2]) / depth
            at_y = (inverse[1, 0] * x + inverse[1, 1] * y + inverse[1, 2]) / depth
            x0, y0 = math.floor(at_x), math.floor(at_y)
            part_x, part_y = at_x - x0, at_y - y0
            for c in range(3):
                value = 0.5
                for k in range(4):
                    down, right = k // 2, k % 2
                    if 0 <= y0 + down < height and 0 <= x0 + right < width:
                        weight = (part_y if down else 1 - part_y) * (part_x if right else 1 - part_x)
                        value += weight * image[y0 + down, x0 + right, c]
                out[i, j, c] = np.uint8(value)
    return out


MAKERS: dict[str, Callable[[Scene], Frames]] = {
    "gaussian_noise": _noise,
    "shot_noise": _noise,
    "motion_blur": _motion_blur,
    "zoom_blur": _zoom_blur,
    "snow": _snow,
    "brightness": _brightness,
    "translate": _translate,
    "rotate": _rotate,
    "tilt": _tilt,
    "scale": _scale,
    "speckle_noise": _noise,
    "gaussian_blur": _gaussian_blur,
    "spatter": _spatter,
    "shear": _shear,
}
SEQUENCES = tuple(MAKERS)
"""The ten sequences of ImageNet-P, then its four others."""
