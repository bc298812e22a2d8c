"""AugMix against Pillow and plain loops: every operation, the mixture, and the kinds of image it is used on."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from PIL import Image, ImageOps

from oodometer.core.errors import DataError, UsageError
from oodometer.train.augment import AugMix, augmix_operations
from oodometer.train.augment.augmix import augmix, augmix_10
from oodometer.train.augment.augmix_operations import OPERATIONS

RNG = np.random.default_rng(0)
RANDOM = RNG.integers(256, size=(17, 23, 3), dtype=np.uint8)
SMOOTH = (np.add.outer(np.arange(40), 2 * np.arange(50))[..., None] + np.array([0, 30, 60])).astype(np.uint8)
IMAGES = {
    "random": RANDOM,
    "smooth": SMOOTH,
    "narrow": (RANDOM // 4 + 90).astype(np.uint8),
    "one level": np.full((8, 9, 3), 77, dtype=np.uint8),
    "two levels": np.where(RANDOM < 128, 3, 250).astype(np.uint8),
    "one channel is flat": RANDOM * np.array([1, 0, 1], dtype=np.uint8),
    "tiny": RANDOM[:2, :3],
}


# reference: Pillow's ImageOps
@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
@pytest.mark.parametrize("name", ["autocontrast", "equalize"])
def test_tones_without_a_number(image, name):
    expected = np.asarray(getattr(ImageOps, name)(Image.fromarray(image)))
    assert np.array_equal(getattr(augmix_operations, name)(image), expected)


# reference: Pillow's ImageOps
@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
def test_tones_with_a_number(image):
    for bits in range(1, 9):
        expected = np.asarray(ImageOps.posterize(Image.fromarray(image), bits))
        assert np.array_equal(augmix_operations.posterize(image, bits), expected)
    for threshold in (0, 100, 180, 256):
        expected = np.asarray(ImageOps.solarize(Image.fromarray(image), threshold))
        assert np.array_equal(augmix_operations.solarize(image, threshold), expected)


def moved(image: np.ndarray, to_source) -> np.ndarray:
    """Each pixel taken from where its centre comes from, bilinear between centres, black where that is outside."""
    height, width, _ = image.shape
    result = np.zeros(image.shape)
    for y in range(height):
        for x in range(width):
            sx, sy = to_source(x + 0.5, y + 0.5)
            if not (0 <= sx < width and 0 <= sy < height):
                continue
            left, top = math.floor(sx - 0.5), math.floor(sy - 0.5)
            for row, down in ((top, 1 - (sy - 0.5 - top)), (top + 1, sy - 0.5 - top)):
                for column, across in ((left, 1 - (sx - 0.5 - left)), (left + 1, sx - 0.5 - left)):
                    nearest = image[min(max(row, 0), height - 1), min(max(column, 0), width - 1)]
                    result[y, x] += down * across * nearest
    return result


# reference: the loop above, in float64; Pillow computes in whole numbers of a fraction and may be off by one level
@pytest.mark.parametrize(
    ("name", "number", "to_source"),
    [
        ("shear_x", 0.21, lambda x, y: (x + 0.21 * y, y)),
        ("shear_y", -0.13, lambda x, y: (x, y - 0.13 * x)),
        ("translate_x", 3, lambda x, y: (x + 3, y)),
        ("translate_y", -2, lambda x, y: (x, y - 2)),
    ],
)
@pytest.mark.parametrize("image", [RANDOM, SMOOTH], ids=["random", "smooth"])
def test_shears_and_translations(image, name, number, to_source):
    result = getattr(augmix_operations, name)(image, number)
    assert np.abs(result - moved(image, to_source)).max() <= 1


# reference: the same loop with the rotation about the centre written out
def test_rotation():
    angle = math.radians(-17)
    cos, sin = math.cos(angle), math.sin(angle)
    cx, cy = SMOOTH.shape[1] / 2, SMOOTH.shape[0] / 2
    expected = moved(SMOOTH, lambda x, y: (cx + cos * (x - cx) - sin * (y - cy), cy + sin * (x - cx) + cos * (y - cy)))
    different = np.abs(augmix_operations.rotate(SMOOTH, -17) - expected).max(axis=2) > 1
    assert different.mean() < 0.01, "but for pixels at the very edge, which rounding puts in or out"


def test_how_far_the_operations_go():
    image, flat = SMOOTH, {"autocontrast", "equalize"}
    assert set(OPERATIONS) == {
        *flat,
        *("posterize", "rotate", "solarize", "shear-x", "shear-y", "translate-x", "translate-y"),
    }
    # reference: the released script: level / 10 of 4 bits, 30 degrees, 256 levels, 0.3, a third of the side, cut to
    # whole numbers but for the shear
    for far, sign in ((0.29, 1), (-0.29, -1)):
        expected = {
            "posterize": augmix_operations.posterize(image, 3),
            "rotate": augmix_operations.rotate(image, sign * 8),
            "solarize": augmix_operations.solarize(image, 256 - 74),
            "shear-x": augmix_operations.shear_x(image, sign * 0.087),
            "shear-y": augmix_operations.shear_y(image, sign * 0.087),
            "translate-x": augmix_operations.translate_x(image, sign * 4),
            "translate-y": augmix_operations.translate_y(image, sign * 3),
        }
        for name, wanted in expected.items():
            assert np.array_equal(OPERATIONS[name](image, far), wanted), name


def slow_augmix(image: np.ndarray, rng: np.random.Generator, *, severity: float) -> np.ndarray:
    """The same draws, but Pillow alone does the operations."""
    whole = Image.fromarray(image)
    width, height = whole.size

    def affine(picture, *matrix):
        return picture.transform(picture.size, Image.Transform.AFFINE, matrix, resample=Image.Resampling.BILINEAR)

    def operate(picture, which, level, sign):
        match which:
            case 0:
                return ImageOps.autocontrast(picture)
            case 1:
                return ImageOps.equalize(picture)
            case 2:
                return ImageOps.posterize(picture, 4 - int(level * 4 / 10))
            case 3:
                return picture.rotate(sign * int(level * 30 / 10), resample=Image.Resampling.BILINEAR)
            case 4:
                return affine(picture, 1, sign * level * 0.3 / 10, 0, 0, 1, 0)
            case 5:
                return affine(picture, 1, 0, 0, sign * level * 0.3 / 10, 1, 0)
            case 6:
                return ImageOps.solarize(picture, 256 - int(level * 256 / 10))
            case 7:
                return affine(picture, 1, 0, sign * int(level * width / 3 / 10), 0, 1, 0)
            case _:
                return affine(picture, 1, 0, 0, 0, 1, sign * int(level * height / 3 / 10))

    weights, part = rng.dirichlet([1, 1, 1]), rng.beta(1, 1)
    mixture = np.zeros(image.shape)
    for weight in weights:
        picture = whole
        for which in rng.integers(9, size=int(rng.integers(1, 4))):
            level = rng.uniform(0.1, severity)
            picture = operate(picture, which, level, 1 if rng.random() < 0.5 else -1)
        mixture += weight * np.asarray(picture)
    return (1 - part) * image + part * mixture


# reference: the loop above
@pytest.mark.parametrize(("mix", "severity"), [(augmix, 3), (augmix_10, 10)])
def test_a_batch_against_the_slow_way(mix, severity):
    images = np.stack([SMOOTH, SMOOTH[::-1], np.roll(SMOOTH, 9, axis=1)] * 20)
    rng = np.random.default_rng(5)
    expected = np.stack([slow_augmix(image, rng, severity=severity) for image in images])
    result = mix(images, np.random.default_rng(5))
    assert np.abs(result - expected).max() <= 0.5 + 1e-6


def test_one_image_of_every_kind():
    mix = AugMix(severity=5)
    array = mix(SMOOTH, 7)
    assert np.array_equal(array, mix(SMOOTH, np.random.default_rng(7)))
    assert not np.array_equal(array, mix(SMOOTH, 8))
    picture = mix(Image.fromarray(SMOOTH), 7)
    assert isinstance(picture, Image.Image)
    assert np.array_equal(np.asarray(picture), array)
    tensor = mix(torch.from_numpy(SMOOTH).permute(2, 0, 1), 7)
    assert (tensor.dtype, tensor.shape) == (torch.uint8, (3, 40, 50))
    assert np.array_equal(tensor.permute(1, 2, 0).numpy(), array)


def test_without_a_seed_torch_decides():
    def three() -> list[np.ndarray]:
        torch.manual_seed(3)
        return [AugMix()(SMOOTH) for _ in range(3)]

    with torch.random.fork_rng():
        first, again = three(), three()
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert not np.array_equal(first[0], first[1])


def test_width_and_depth():
    # One chain of one operation, mixed in: on the line between the image and one of the operations on it.
    rng = np.random.default_rng(2)
    mixed = AugMix(width=1, depth=1)(SMOOTH, rng).astype(np.float64)
    rng = np.random.default_rng(2)
    rng.dirichlet([1])
    part, which = rng.beta(1, 1), int(rng.integers(9, size=1)[0])
    far = rng.uniform(0.1, 3) / 10
    after = list(OPERATIONS.values())[which](SMOOTH, far if rng.random() < 0.5 else -far)
    assert np.abs(mixed - ((1 - part) * SMOOTH + part * after)).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("said", [{"width": 0}, {"depth": -1}, {"severity": 0.0}, {"severity": 11}])
def test_what_augmix_can_not_be(said):
    with pytest.raises(UsageError, match=r"AugMix of width .*: a width of at least 1, a depth of at least 0 \(drawn\)"):
        AugMix(**said)


@pytest.mark.parametrize(
    "image", [SMOOTH / 255, SMOOTH[..., 0], torch.zeros(3, 4, 4), np.zeros((0, 3, 3), np.uint8), SMOOTH[..., :2]]
)
def test_images_that_are_none(image):
    with pytest.raises(DataError, match=r"expected a PIL image, an array .*augment before the pixels are normalised"):
        AugMix()(image, 0)


def test_the_class_comes_without_torch():
    words = (
        "import sys; from oodometer.train.augment import AugMix; print(sorted({'torch', 'scipy'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"
    with pytest.raises(ImportError, match="AugMax"):
        from oodometer.train.augment import AugMax  # noqa: F401
