"""Features of pixels: distances by plain formulas, and what SSIM over a whole picture has to do with them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from oodometer.build.testset.pixel_features import (
    mirrored_pictures,
    pixel_features,
    small_pictures,
    structure_features,
    structure_radius,
)
from oodometer.core.errors import DataError, UsageError
from oodometer.corruptions.sample_image import sample_image

quick = settings(deadline=None, derandomize=True, max_examples=100)


def some_pictures(n: int = 6) -> np.ndarray:
    return small_pictures([sample_image(40, 60, seed=seed) for seed in range(n)])


def test_small_pictures_are_pillows():
    images = [sample_image(40, 90, seed=1), sample_image(32, 32, seed=2), sample_image(7, 5, seed=3)]
    # reference: Pillow on the whole image
    expected = [np.asarray(Image.fromarray(one).resize((32, 32), Image.Resampling.BILINEAR)) for one in images]
    assert (small_pictures(images) == np.stack(expected)).all()
    assert small_pictures([]).shape == (0, 32, 32, 3)


def test_the_distance_of_pixels_is_their_root_mean_square_difference():
    pictures = some_pictures()
    vectors = pixel_features(pictures).vectors.astype(np.float64)
    one, other = pictures[0] / 255, pictures[1] / 255
    expected = np.sqrt(((one - other) ** 2).mean())  # closed form
    assert np.linalg.norm(vectors[0] - vectors[1]) == pytest.approx(expected, rel=1e-6)


def test_blocks_are_means_and_never_further_apart():
    pictures = some_pictures()
    full, soft = (pixel_features(pictures, side=side).vectors.astype(np.float64) for side in (32, 4))
    assert soft.shape == (6, 48)
    # closed form: the mean of the first block, over 255 and the root of 48 numbers
    assert soft[0, 0] == pytest.approx(pictures[0, :8, :8, 0].mean() / 255 / np.sqrt(48), rel=1e-6)
    for i in range(6):
        for j in range(i):
            assert np.linalg.norm(soft[i] - soft[j]) <= np.linalg.norm(full[i] - full[j]) + 1e-6


@pytest.mark.parametrize("of", [pixel_features, lambda some: pixel_features(some, side=8), structure_features])
def test_the_mirror_is_that_of_the_pictures(of):
    pictures = some_pictures()
    expected = of(np.ascontiguousarray(mirrored_pictures(pictures))).vectors
    assert of(pictures).in_mirror(slice(None)) == pytest.approx(expected, abs=1e-6)


def grey_of(picture: np.ndarray) -> np.ndarray:
    return picture[..., 0] * 0.299 + picture[..., 1] * 0.587 + picture[..., 2] * 0.114


def ssim_of_one_window(x: np.ndarray, y: np.ndarray) -> float:
    """Wang et al. 2004, equation 13, with the whole picture as the window and equal weights."""
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    both = ((x - x.mean()) * (y - y.mean())).mean()
    luminance = (2 * x.mean() * y.mean() + c1) / (x.mean() ** 2 + y.mean() ** 2 + c1)
    return luminance * (2 * both + c2) / (x.var() + y.var() + c2)


@quick
@given(st.floats(0, 1), st.floats(0, 1.5), st.integers(0, 80), st.integers(0, 10**6))
def test_what_is_alike_in_ssim_is_within_its_radius(mixed, contrast, brighter, seed):
    rng = np.random.default_rng(seed)
    base = sample_image(32, 32, seed=seed % 50)
    noise = rng.integers(0, 256, base.shape)
    other = np.clip((mixed * base + (1 - mixed) * noise) * contrast + brighter, 0, 255).astype(np.uint8)
    one, two = structure_features(np.stack([base, other])).vectors.astype(np.float64)
    alike = ssim_of_one_window(grey_of(base), grey_of(other))
    if alike >= 0:
        assert np.linalg.norm(one - two) <= structure_radius(min(alike, 1.0)) + 1e-4  # reference: the bound's proof


def test_with_equal_contrast_and_brightness_the_bound_is_reached():
    base = sample_image(32, 32, seed=4)
    turned = np.ascontiguousarray(base[::-1, ::-1])  # the same values, so the same mean and deviation
    one, two = structure_features(np.stack([base, turned])).vectors.astype(np.float64)
    alike = ssim_of_one_window(grey_of(base), grey_of(turned))
    # closed form: |x - y|² = 2 (1 - s) for vectors of length 1 whose cosine is s
    assert np.linalg.norm(one - two) ** 2 == pytest.approx(2 * (1 - alike), abs=1e-5)
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-6)


def test_flat_pictures_are_alike_whatever_their_brightness():
    flat = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 90, 255)])
    vectors = structure_features(flat).vectors
    assert vectors == pytest.approx(np.append(np.zeros(1024), 1)[None].repeat(3, 0), abs=1e-6)


@pytest.mark.parametrize(
    "image",
    [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((4, 4, 4), np.uint8), np.zeros((0, 4, 3), np.uint8)],
)
def test_what_is_no_image_is_an_error(image):
    with pytest.raises(DataError, match=r"^image 1 is of shape .*: expected \(H, W, 3\) uint8$"):
        small_pictures([sample_image(8, 8), image])


@pytest.mark.parametrize("of", [pixel_features, structure_features])
@pytest.mark.parametrize("pictures", [np.zeros((2, 8, 8, 3), np.uint8), np.zeros((2, 32, 32, 3))])
def test_what_is_no_small_picture_is_an_error(of, pictures):
    with pytest.raises(DataError, match="as small_pictures makes them"):
        of(pictures)


@pytest.mark.parametrize("side", [0, 5, 64])
def test_blocks_that_do_not_fit_are_an_error(side):
    with pytest.raises(UsageError, match="must divide 32, for example 8"):
        pixel_features(some_pictures(), side=side)


@pytest.mark.parametrize("least", [-0.1, 1.1, np.nan])
def test_no_ssim_is_an_error(least):
    with pytest.raises(UsageError, match=r"must lie in \[0, 1\]"):
        structure_radius(least)
