"""Fog against the pip package, and its fast path against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.corruptions.fog import FIRST_WIBBLE, fog, map_side, plasma
from oodometer.corruptions.kernels.fog import plasma_float32

SIZES = [(224, 224), (32, 32), (150, 210), (97, 65)]
SEVERITIES = [1, 2, 3, 4, 5]


def published_draws(draws: np.ndarray, side: int, decay: float) -> list[np.ndarray]:
    """The draws as the published code asks for them: three arrays in each level, within the bounds of that level."""
    uniforms = (2.0 * draws + 1) / 65536 - 1
    made, used, n, wibble = [], 0, 1, FIRST_WIBBLE
    while n < side:
        for _ in range(3):
            made.append(wibble * uniforms[used : used + n * n].reshape(n, n))
            used += n * n
        n *= 2
        wibble /= decay
    assert used == len(draws)
    return made


def check_reference(oracle, image, severity, seed) -> None:
    height, width = image.shape[:2]
    strength = fog.strength(severity, height, width)
    draws = fog.draw(np.random.default_rng(seed), height, width, strength)
    expected = oracle("fog", image, strength, published_draws(draws, map_side(height, width), strength[1]))
    gap = np.abs(fog.apply(image, draws, strength).astype(int) - expected)
    assert gap.max() <= 1
    # The package computes the plasma in float32: a rare value falls to the other side of a level.
    assert (gap > 0).mean() < 0.001


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_apply_is_the_published_function(oracle, picture, size, severity) -> None:
    check_reference(oracle, picture(*size), severity, seed=severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_apply_is_the_published_function_on_photographs(oracle, photographs, severity) -> None:
    for seed, image in enumerate(photographs):
        check_reference(oracle, image, severity, seed)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", [*SIZES, (300, 64)])
def test_fast_is_apply(both_paths, picture, size, severity) -> None:
    slow, fast = both_paths("fog", picture(*size), severity)
    gap = np.abs(slow.astype(int) - fast)
    assert gap.max() <= 1
    # float32: 0.001 % of the values were measured at 224 px.
    assert (gap > 0).mean() < 0.0005


def test_plasma_in_float32_is_the_plasma() -> None:
    draws = fog.draw(np.random.default_rng(1), 200, 256, (1.5, 1.7))
    single = plasma_float32(draws, 256, FIRST_WIBBLE, 1.7)[:, :256].astype(float)
    single = (single - single.min()) / (single.max() - single.min())
    # Eight levels of sums in float32, whose precision is 6e-8.
    np.testing.assert_allclose(single, plasma(draws, 256, 1.7), atol=2e-6)


def test_draws_are_uniform() -> None:
    draws = fog.draw(np.random.default_rng(0), 224, 224, (1.5, 2.0))
    assert draws.shape == (65535,)
    # Mean and standard deviation of the uniform distribution, within five standard errors.
    assert abs(draws.mean() - 32767.5) < 5 * 65536 / 12**0.5 / 65535**0.5
    assert draws.std() == pytest.approx(65536 / 12**0.5, rel=0.01)


@pytest.mark.parametrize("level", [0, 255])
def test_flat_images(both_paths, level) -> None:
    image = np.full((64, 48, 3), level, np.uint8)
    for result in both_paths("fog", image, 3):
        assert result.max() <= level


def test_same_generator_same_fog_and_the_input_stays(picture) -> None:
    image = picture(120, 90)
    image.flags.writeable = False
    before = image.copy()
    strength = fog.strength(2, 120, 90)
    first, second = (fog.fast(image, np.random.default_rng(4), strength) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(image, before)
    assert not np.shares_memory(first, image)
