"""Spatter against the pip package and its steps against OpenCV, and its fast path against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.corruptions import spatter as module
from oodometer.corruptions.kernels import spatter as kernels
from oodometer.corruptions.spatter import spatter

SIZES = [(224, 224), (32, 32), (150, 210), (97, 65)]
SEVERITIES = [1, 2, 3, 4, 5]


def few(gap: np.ndarray) -> bool:
    """Whether no more than a few isolated pixels differ by more than a level: one in a thousand."""
    return bool((gap.max(axis=2) > 1).mean() <= 0.001)


def check_reference(oracle, image, severity, seed) -> None:
    height, width = image.shape[:2]
    strength = spatter.strength(severity, height, width)
    draws = spatter.draw(np.random.default_rng(seed), height, width, strength)
    expected = oracle("spatter", image, strength, [strength[0] + strength[1] * draws.astype(float)])
    gap = np.abs(spatter.apply(image, draws, strength).astype(int) - expected)
    assert few(gap)
    assert (gap > 0).mean() < 0.02


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_apply_is_the_published_function(oracle, picture, size, severity) -> None:
    check_reference(oracle, picture(*size), severity, seed=severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_apply_is_the_published_function_on_photographs(oracle, photographs, severity) -> None:
    for seed, image in enumerate(photographs):
        check_reference(oracle, image, severity, seed)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_fast_is_apply(both_paths, picture, size, severity, seed) -> None:
    slow, fast = both_paths("spatter", picture(*size), severity, seed)
    gap = np.abs(slow.astype(int) - fast)
    assert gap.max() <= 1
    assert (gap > 0).mean() < 0.001


@pytest.fixture(params=range(6))
def drops(request) -> np.ndarray:
    """Blobs on black as spatter has them, and noise as it never has."""
    rng = np.random.default_rng(request.param)
    plane = module.smoothed(rng.normal(0.65, 0.3, (90, 121)), 1 + request.param % 4)
    if request.param == 5:
        plane = rng.random((90, 121))
    return (np.where(plane < 0.68, 0, np.clip(plane, 0, 1)) * 255).astype(np.uint8)


def test_edges_are_opencvs(drops) -> None:
    cv2 = pytest.importorskip("cv2")
    expected = cv2.Canny(drops, 50, 150) == 255
    assert np.array_equal(module.edges(drops), expected)
    assert np.array_equal(kernels.edges(drops)[1:-1, 1:-1] == 2, expected)


def test_distances_are_opencvs(drops) -> None:
    cv2 = pytest.importorskip("cv2")
    edges = module.edges(drops)
    expected = np.minimum(cv2.distanceTransform(255 - 255 * edges.astype(np.uint8), cv2.DIST_L2, 5), 20)
    # OpenCV adds up the steps in float32 or in parts of 2 ** 16, as it was built.
    np.testing.assert_allclose(module.distances(edges) / module.UNIT, expected, atol=2e-4)
    assert np.array_equal(kernels.distances(kernels.edges(drops)), module.distances(edges))


def test_the_other_steps_are_opencvs(drops) -> None:
    cv2 = pytest.importorskip("cv2")
    assert np.array_equal((2 * module.box_sum(drops.astype(int)) + 9) // 18, cv2.blur(drops, (3, 3)))
    assert np.array_equal(module.equalised(drops), cv2.equalizeHist(drops))


def test_a_flat_histogram_stays() -> None:
    plane = np.full((4, 5), 20)
    assert np.array_equal(module.equalised(plane), plane)


def test_no_drop_no_change(picture) -> None:
    image = picture(40, 50)
    for strength in ((0.65, 0.3, 4, 50.0, 0.6, 0), (0.65, 0.3, 1, 50.0, 1.5, 1)):
        draws = spatter.draw(np.random.default_rng(0), 40, 50, strength)
        assert np.array_equal(spatter.apply(image, draws, strength), image)
        assert np.array_equal(spatter.fast(image, np.random.default_rng(0), strength), image)


def test_same_generator_same_spatter_and_the_input_stays(picture) -> None:
    image = picture(120, 90)
    image.flags.writeable = False
    before = image.copy()
    for severity in (1, 5):
        strength = spatter.strength(severity, 120, 90)
        first, second = (spatter.fast(image, np.random.default_rng(4), strength) for _ in range(2))
        assert np.array_equal(first, second)
        assert np.array_equal(image, before)
        assert not np.shares_memory(first, image)
