"""Pixelation and JPEG: bit for bit those of Pillow."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from oodometer.core.random import rng_for
from oodometer.corruptions.digital import PUBLISHED_QUALITY, jpeg_round_trip, pillow_round_trip
from oodometer.corruptions.registry import corruptions

DIGITAL = ("pixelate", "jpeg_compression")
SIZES = ((224, 224), (32, 32), (150, 210), (299, 299))
SHARES = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2)


def by_pillow(image: np.ndarray, share: float) -> np.ndarray:
    height, width = image.shape[:2]
    small = Image.fromarray(image).resize((int(width * share), int(height * share)), Image.Resampling.BOX)
    return np.asarray(small.resize((width, height), Image.Resampling.BOX))


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("severity", range(1, 6))
def test_pixelate_is_the_published_function(
    picture: Callable, both_paths: Callable, severity: int, height: int, width: int
) -> None:
    # The pip package enlarges with NEAREST, the published function with BOX: Pillow itself is the reference.
    image = picture(height, width)
    (share,) = corruptions.get("pixelate").strength(severity, height, width)
    plain, fast = both_paths("pixelate", image, severity)
    assert np.array_equal(plain, by_pillow(image, share))
    assert np.array_equal(fast, plain)


@given(st.integers(32, 500), st.integers(32, 500), st.sampled_from(SHARES), st.integers(0, 2**32 - 1))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_pixelate_agrees_with_pillow_at_any_size(height: int, width: int, share: float, seed: int) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)
    pixelate = corruptions.get("pixelate")
    plain, fast = pixelate.apply(image, None, (share,)), pixelate.fast(image, rng_for(0), (share,))
    assert np.array_equal(fast, plain)
    # Pillow 13 averages the columns of images more than twice as tall as wide first: a rounding apart.
    apart = np.abs(plain.astype(int) - by_pillow(image, share)).max()
    assert apart <= (1 if height > 2 * width else 0)


def test_pixelate_agrees_with_pillow_on_photographs(photographs: list[np.ndarray], both_paths: Callable) -> None:
    for image in photographs:
        for severity in range(1, 6):
            assert np.array_equal(*both_paths("pixelate", image, severity))


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("severity", range(1, 6))
def test_jpeg_is_the_published_function(
    oracle: Callable, picture: Callable, severity: int, height: int, width: int
) -> None:
    made, image = corruptions.get("jpeg_compression"), picture(height, width)
    strength = made.strength(severity, height, width)
    expected = oracle("jpeg_compression", image, [int(strength[0])])
    assert np.array_equal(made.apply(image, None, strength), expected)
    assert np.array_equal(made.fast(image, rng_for(0), strength), expected)


def hard_images(height: int, width: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Noise, black and white noise, coloured squares: the largest coefficients there are."""
    noise = rng.integers(0, 256, (height, width, 3))
    signs = 255 * rng.integers(0, 2, (height, width, 3))
    squares = np.kron(255 * rng.integers(0, 2, (height // 8, width // 8, 3)), np.ones((8, 8, 1)))
    return [one.astype(np.uint8) for one in (noise, signs, squares, np.repeat(signs[..., :1], 3, axis=2))]


@pytest.mark.parametrize("quality", [*range(1, 30), *range(30, 100, 5), 99, 100])
def test_round_trip_agrees_with_pillow_in_every_bit(quality: int) -> None:
    # Pillow's wheels have libjpeg-turbo, whose accurate transform is the reference.
    rng = np.random.default_rng(quality)
    for height, width in 16 * rng.integers(1, 12, (3, 2)):
        for image in hard_images(height, width, rng):
            assert np.array_equal(jpeg_round_trip(image, quality), pillow_round_trip(image, quality))


@pytest.mark.parametrize("quality", [5, 7, 10, 15, 18, 25, 85, 95])
def test_round_trip_agrees_with_pillow_on_photographs(photographs: list[np.ndarray], quality: int) -> None:
    for image in photographs:
        assert np.array_equal(jpeg_round_trip(image, quality), pillow_round_trip(image, quality))


def test_round_trip_is_that_of_a_file(picture: Callable) -> None:
    image = picture(160, 208)
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=PUBLISHED_QUALITY)
    made = jpeg_round_trip(image, PUBLISHED_QUALITY)
    assert np.array_equal(made, np.asarray(Image.open(io.BytesIO(file.getvalue()))))
    assert made.flags.writeable


def test_round_trip_is_that_of_opencv(picture: Callable) -> None:
    cv2 = pytest.importorskip("cv2")
    image = picture(224, 224)
    for quality in (7, 25, PUBLISHED_QUALITY):
        _, data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
        assert np.array_equal(jpeg_round_trip(image, quality), cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1])


@pytest.mark.parametrize("name", DIGITAL)
def test_input_is_left_alone(name: str, picture: Callable) -> None:
    made, image = corruptions.get(name), picture(45, 32)
    before = image.copy()
    image.flags.writeable = False
    strength = made.strength(4, 45, 32)
    assert made.draw(rng_for(0), 45, 32, strength) is None
    found = [made.apply(image, None, strength)]
    if made.fast is not None:
        found.append(made.fast(image, rng_for(name), strength))
    for one in found:
        assert (one.dtype, one.shape) == (np.uint8, (45, 32, 3))
        assert np.array_equal(one, made.apply(before, None, strength))
    assert np.array_equal(image, before)
