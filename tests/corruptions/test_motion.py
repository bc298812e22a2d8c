"""Motion blur against the pip package, and its fast path against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.corruptions.kernels.shifted_sums import weighted_sum
from oodometer.corruptions.motion import merged_taps, motion_blur, motion_taps, smeared

SIZES = ((224, 224), (32, 32), (64, 80), (150, 210), (300, 260))
SEVERITIES = (1, 2, 3, 4, 5)
ANGLES = (-45.0, -31.3, -0.7, 0.0, 12.0, 29.9, 45.0)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_is_the_published_function(oracle, picture, agree, agree_but_for_ties, size, severity):
    # The package cuts the fraction off where ImageMagick rounds; its inner function shows both.
    image = picture(*size)
    radius, sigma = motion_blur.strength(severity, *size)
    for angle in ANGLES:
        made = motion_blur.apply(image, angle, (radius, sigma))
        exact = oracle.module._motion_blur(image, radius=int(radius), sigma=sigma, angle=angle)
        rounded = np.uint8(np.floor(np.clip(exact, 0, 255) + 0.5))
        agree_but_for_ties(made, rounded, exact + 0.5, within=1e-9)
        agree(made, oracle("motion_blur", image, (int(radius), sigma), [angle]), share=1)


def exact_levels(image, severity, seed):
    """What the definition floors, so that it is rounded."""
    strength = motion_blur.strength(severity, *image.shape[:2])
    angle = motion_blur.draw(np.random.default_rng(seed), *image.shape[:2], strength)
    return smeared(image, angle, strength) + 0.5


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_the_fast_path_is_the_same(picture, both_paths, agree_but_for_ties, size, severity):
    image = picture(*size)
    for seed in range(5):
        agree_but_for_ties(*both_paths("motion_blur", image, severity, seed), exact_levels(image, severity, seed))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_photographs(photographs, both_paths, agree_but_for_ties, severity):
    for seed, image in enumerate(photographs):
        agree_but_for_ties(*both_paths("motion_blur", image, severity, seed), exact_levels(image, severity, seed))


@pytest.mark.parametrize("angle", ANGLES)
def test_merged_taps_are_the_same_taps(angle):
    def mean(taps):
        return (taps[0] * taps[1][:, None]).sum(axis=0)

    for radius, sigma in ((10, 3), (15, 8), (20, 15)):
        slow, fast = motion_taps(radius, sigma, angle), merged_taps(radius, sigma, angle)
        assert len(fast[0]) == len(np.unique(fast[0], axis=0))
        assert fast[1].sum() == pytest.approx(1)
        np.testing.assert_allclose(mean(slow), mean(fast), atol=0.02)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 96, 111, 500])
def test_weighted_sums_of_any_length(n):
    rng = np.random.default_rng(n)
    source = rng.uniform(-1, 1, 600).astype(np.float32)
    offsets, weights = rng.integers(0, 100, 7), rng.uniform(-1, 1, 7).astype(np.float32)
    total = np.full(n + 1, 9, dtype=np.float32)
    weighted_sum(total[:n], source, offsets, weights)
    expected = sum(weight * source[at : at + n].astype(np.float64) for at, weight in zip(offsets, weights, strict=True))
    np.testing.assert_allclose(total[:n], expected, atol=1e-6)
    assert total[n] == 9


def test_the_input_stays_as_it_is(picture):
    image = picture(70, 90)
    image.flags.writeable = False
    strength = motion_blur.strength(3, 70, 90)
    assert (motion_blur.fast(image, np.random.default_rng(0), strength) != image).any()
    assert (motion_blur.apply(image, 10.0, strength) != image).any()
