"""ImageNet-C-bar: each definition against a slow one pixel by pixel, and each fast path against its definition."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from oodometer.corruptions.kernels import c_bar_math as bar_math
from oodometer.corruptions.registry import BAR, corruptions

Value = Callable[[int, int], np.ndarray]
SIZES = [(224, 224), (32, 32), (150, 210), (97, 65)]


def _reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_bar", Path(__file__).parents[1] / "reference" / "bar.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _reference()


def spectral(image: np.ndarray, draws, constant: float, *, blue: bool) -> Value:
    fields = [
        reference.spectral_field(left, middle, blue=blue) for left, middle in zip(draws.left, draws.middle, strict=True)
    ]
    if blue:
        return lambda y, x: image[y, x] * float(fields[0][y, x] > constant * 3 / 10 - 2.5)
    return lambda y, x: image[y, x] + constant * 64 / 10 * np.array([field[y, x] for field in fields])


def refraction(image: np.ndarray, draws, constant: float) -> Value:
    side = image.shape[0]
    light = [[reference.caustic_light(y, x, *draws) for x in range(side)] for y in range(side)]
    surface = reference.smoothed(np.array(light))
    return lambda y, x: reference.caustic_refraction(image, y, x, surface, side, constant)


def expected(name: str, image: np.ndarray, draws, constant: float) -> Value:
    """The function that gives one pixel of the corrupted image by the reference."""
    if name in ("blue_noise_sample", "brownish_noise"):
        return spectral(image, draws, constant, blue=name == "blue_noise_sample")
    if name == "caustic_refraction":
        return refraction(image, draws, constant)
    arguments = {
        "single_frequency_greyscale": lambda: (draws[:2], draws.phase, constant),
        "cocentric_sine_waves": lambda: (draws[:2], *draws[2:], constant),
        "plasma_noise": lambda: (*draws, constant),
        "sparkles": lambda: ([one.centre for one in draws], [one.lengths for one in draws]),
        "inverse_sparkles": lambda: (*draws, constant),
        "checkerboard_cutout": lambda: tuple(draws),
        "perlin_noise": lambda: (*draws, image.shape[0], constant),
    }[name]()
    function = getattr(reference, name)
    return lambda y, x: function(image[y, x].astype(float), y, x, *arguments)


@pytest.mark.parametrize("name", BAR)
@pytest.mark.parametrize(("side", "severities"), [(224, (1, 4)), (32, (1, 2, 3, 4, 5)), (41, (3,))])
def test_apply_is_the_reference(name: str, side: int, severities: tuple[int, ...], picture) -> None:
    image = picture(side, side)
    made = corruptions.get(name)
    rng = np.random.default_rng(5)
    for severity in severities:
        strength = made.strength(severity, side, side)
        draws = made.draw(rng, side, side, strength)
        found = made.apply(image, draws, strength)
        value = expected(name, image, draws, strength[0])
        for y, x in [(0, 0), (0, side - 1), (side - 1, 0), (side - 1, side - 1), *rng.integers(side, size=(150, 2))]:
            wanted = np.clip(value(int(y), int(x)), 0, 255).astype(np.uint8)
            assert np.abs(found[y, x].astype(int) - wanted).max() <= 1, (severity, y, x)


@pytest.mark.parametrize("name", BAR)
@pytest.mark.parametrize("shape", SIZES)
def test_fast_is_apply(name: str, shape: tuple[int, int], picture, both_paths) -> None:
    image = picture(*shape)
    image.setflags(write=False)
    for severity in range(1, 6):
        slow, fast = both_paths(name, image, severity, seed=severity)
        difference = np.abs(slow.astype(int) - fast)
        assert difference.max() <= 1
        assert np.mean(difference > 0) < 1e-4  # seen: 2e-5 for sparkles, 0 for the others


@pytest.mark.parametrize("name", BAR)
def test_fast_is_apply_on_photographs(name: str, photographs, both_paths) -> None:
    for seed, image in enumerate(photographs):
        slow, fast = both_paths(name, image, 3, seed=seed)
        assert np.abs(slow.astype(int) - fast).max() <= 1


@pytest.mark.parametrize("name", BAR)
def test_draws_leave_both_generators_at_the_same_place(name: str, picture) -> None:
    image, made = picture(33, 40), corruptions.get(name)
    strength = made.strength(2, 33, 40)
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    made.draw(first, 33, 40, strength)
    made.fast(image, second, strength)
    assert first.random() == second.random()


@pytest.mark.parametrize("name", BAR)
def test_input_is_unchanged_and_not_returned(name: str, picture) -> None:
    image, made = picture(32, 48), corruptions.get(name)
    before = image.copy()
    strength = made.strength(3, 32, 48)
    outputs = [
        made.apply(image, made.draw(np.random.default_rng(0), 32, 48, strength), strength),
        made.fast(image, np.random.default_rng(0), strength),
    ]
    np.testing.assert_array_equal(image, before)
    for out in outputs:
        assert out.dtype == np.uint8
        assert out.shape == image.shape
        assert out.flags.writeable
        assert not np.shares_memory(out, image)


def test_noise_has_the_stated_deviation() -> None:
    # By definition each channel of brownish noise has standard deviation 6.4 constant; at 1, nothing is clipped.
    made = corruptions.get("brownish_noise")
    grey = np.full((224, 224, 3), 128, np.uint8)
    out = made.fast(grey, np.random.default_rng(3), (1.0,))
    # 1/12 is the variance of rounding to whole levels
    assert out.std(axis=(0, 1)) == pytest.approx(math.sqrt(6.4**2 + 1 / 12), rel=2e-2)


def test_blue_noise_masks_as_many_pixels_as_a_normal_variable_says() -> None:
    # A sum of many independent phases is normal: a share of Phi(threshold) of the pixels is black.
    from scipy.stats import norm

    made = corruptions.get("blue_noise_sample")
    white = np.full((224, 224, 3), 255, np.uint8)
    for constant in (4.0, 5.6):
        out = made.fast(white, np.random.default_rng(4), (constant,))
        assert np.mean(out == 0) == pytest.approx(norm.cdf(constant * 0.3 - 2.5), abs=0.01)


def test_non_square_noise_is_alike_in_both_directions() -> None:
    # The mean square slope along y and along x of isotropic noise is the same.
    made = corruptions.get("brownish_noise")
    out = np.stack(
        [made.fast(np.full((64, 192, 3), 128, np.uint8), np.random.default_rng(k), (2.0,)) for k in range(8)]
    )
    values = out.astype(float)
    ratio = np.mean(np.diff(values, axis=1) ** 2) / np.mean(np.diff(values, axis=2) ** 2)
    assert ratio == pytest.approx(1, abs=0.1)


def test_sine_cosine_and_angle_against_the_standard_library() -> None:
    rng = np.random.default_rng(0)
    for x in [0.0, math.pi, -math.pi / 2, *rng.uniform(-500, 500, 500)]:
        assert bar_math.sine(x) == pytest.approx(math.sin(x), abs=3e-13)
        assert bar_math.cosine(x) == pytest.approx(math.cos(x), abs=3e-13)
    for y, x in [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-2.0, 0.0), (3.0, 3.0), *rng.normal(size=(500, 2))]:
        assert bar_math.arctangent2(y, x) == pytest.approx(math.atan2(y, x), abs=1e-13)
    assert bar_math.arctangent2(0.0, 0.0) == 0
