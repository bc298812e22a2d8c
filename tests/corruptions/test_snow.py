"""Snow against a reference of the published function, and its fast path against its definition."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from oodometer.corruptions.snow import SnowDraws, blurred, snow, zoomed

SIZES = [(224, 224), (32, 32), (150, 210), (97, 65)]
SEVERITIES = [1, 2, 3, 4, 5]


def _reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_snow", Path(__file__).parents[1] / "reference" / "snow.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _reference()


def whole_layer(draws: SnowDraws, height: int, width: int, strength: tuple[float, ...]) -> np.ndarray:
    """A layer of the image's size with our flakes in its centre; the rest must not matter, so it isn't a number."""
    rows, columns = draws.flakes.shape
    layer = np.full((height, width), np.nan)
    top, left = (height - rows) // 2, (width - columns) // 2
    layer[top : top + rows, left : left + columns] = strength[0] + strength[1] * draws.flakes.astype(float)
    return layer


@pytest.fixture
def check_reference(exact_levels, agree_but_for_ties):
    def check(image: np.ndarray, severity: int, seed: int) -> None:
        expected, made = referred(image, severity, seed)
        # The same sums in another order.
        agree_but_for_ties(made, expected, exact_levels("snow", image, severity, seed), within=1e-9)

    return check


def referred(image: np.ndarray, severity: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What the reference and ``apply`` make of the same draws."""
    height, width = image.shape[:2]
    strength = snow.strength(severity, height, width)
    draws = snow.draw(np.random.default_rng(seed), height, width, strength)
    expected = reference.snow(image, whole_layer(draws, height, width, strength), draws.angle, strength)
    return expected, snow.apply(image, draws, strength)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_apply_is_the_published_function(check_reference, picture, size, severity) -> None:
    check_reference(picture(*size), severity, seed=severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_apply_is_the_published_function_on_photographs(check_reference, photographs, severity) -> None:
    for seed, image in enumerate(photographs):
        check_reference(image, severity, seed)


def test_no_row_is_lost_to_rounding() -> None:
    # 150 px by 3: scipy's default mode finds the last row outside by 7e-15 and fills it with zeros.
    np.testing.assert_allclose(zoomed(np.ones((50, 50)), 3, 150, 150), 1, rtol=1e-12)


@pytest.mark.parametrize("angle", [-135, -110.3, -90, -61.7, -45])
def test_motion_blur_is_the_packages(oracle, angle) -> None:
    plane = np.random.default_rng(0).integers(0, 256, (80, 70)).astype(np.uint8)
    expected = oracle.module._motion_blur(plane.astype(np.float64), radius=12, sigma=8, angle=angle)
    # The package doesn't round.
    assert np.abs(blurred(plane, 12, 8, angle) - expected).max() <= 0.5001


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_fast_is_apply(both_paths, exact_levels, agree_but_for_ties, picture, size, severity, seed) -> None:
    # Strong colours are the whole numbers here: the pale copy doesn't touch them, and the two shares of a level add up
    # to it but for rounding.
    of_one = "snow", picture(*size), severity, seed
    agree_but_for_ties(*both_paths(*of_one), exact_levels(*of_one), within=1e-4)


def test_only_the_centre_is_drawn() -> None:
    draws = snow.draw(np.random.default_rng(0), 224, 100, (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65))
    assert draws.flakes.shape == (50, 23)
    assert -135 <= draws.angle <= -45


def test_same_generator_same_snow_and_the_input_stays(picture) -> None:
    image = picture(120, 90)
    image.flags.writeable = False
    before = image.copy()
    strength = snow.strength(2, 120, 90)
    first, second = (snow.fast(image, np.random.default_rng(4), strength) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(image, before)
    assert not np.shares_memory(first, image)
