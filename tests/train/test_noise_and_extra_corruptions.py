"""Noise by its moments, and the four extra corruptions against those that models are tested on."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.corruptions.registry import corruptions
from oodometer.corruptions.severities import tables
from oodometer.train.augment import gaussian_blur, saturate, spatter
from oodometer.train.augment.by_size import constants_for, drawn_severities
from oodometer.train.augment.gaussian_noise import gaussian_noise
from oodometer.train.augment.speckle_noise import SIGMAS, speckle_noise
from oodometer.train.augment.uniform_noise import uniform_noise

GREY = np.full((400, 16, 16, 3), 100, dtype=np.uint8)
RNG = np.random.default_rng(0)
PHOTO = np.clip(
    90 + 60 * np.sin(np.arange(40)[:, None, None] / 5 + np.arange(3)) + RNG.normal(0, 25, (40, 36, 3)), 0, 255
).astype(np.uint8)


def changes(augment) -> np.ndarray:
    """By how much each value of grey images is changed, (N, values)."""
    return augment(GREY, np.random.default_rng(1)).reshape(len(GREY), -1).astype(np.float64) - 100


# reference: x (1 + n), n of one of the five deviations; 768 values give a deviation to 2.6 %, here five times that
def test_speckle_noise_has_one_of_five_deviations_in_half_of_the_images():
    deviations = changes(speckle_noise).std(axis=1)
    noisy = deviations[deviations > 0]
    assert abs(len(noisy) / 400 - 0.5) < 5 * np.sqrt(0.25 / 400)
    # where 100 (1 + n) is clipped the deviation is smaller: the two largest are told apart from each other alone
    nearest = np.abs(noisy[:, None] / 100 / np.array(SIGMAS) - 1)
    assert (nearest.min(axis=1) < 0.13).all()
    assert set(nearest.argmin(axis=1)) == {0, 1, 2, 3, 4}


def test_speckle_noise_leaves_black_alone_and_is_the_corruptions():
    assert not speckle_noise(np.zeros_like(GREY), np.random.default_rng(0)).any()
    assert tuple((sigma,) for sigma in SIGMAS) == tables()["speckle_noise"][224]


# reference: the moments of a normal whose deviation is uniform on (0, 25.5): variance 25.5^2 / 3, kurtosis 9 * 3 / 5
def test_gaussian_noise_is_normal_of_a_uniform_deviation():
    noise = changes(gaussian_noise)
    deviations = noise.std(axis=1)
    assert deviations.max() < 25.5 * 1.13
    assert np.histogram(deviations, bins=5, range=(0, 25.5))[0].min() > 50  # of 80; five deviations are 40
    assert noise.mean() == pytest.approx(0, abs=0.1)
    assert noise.var() == pytest.approx(25.5**2 / 3, rel=0.15)
    assert np.mean(noise**4) / noise.var() ** 2 == pytest.approx(5.4, rel=0.15)


# reference: noise uniform to both sides of a bound that is uniform on (0, 8): no value is beyond 8, variance 64 / 9
def test_uniform_noise_is_within_eight_levels():
    noise = changes(uniform_noise)
    assert np.abs(noise).max() == 8
    assert noise.var() == pytest.approx(64 / 9 + 1 / 12, rel=0.15)
    bounds = np.abs(noise).max(axis=1)
    assert np.histogram(bounds, bins=4, range=(0, 8))[0].min() > 50


def test_constants_are_those_of_the_corruptions():
    for name, ours in (
        ("gaussian_blur", {side: tuple((one,) for one in five) for side, five in gaussian_blur.SIGMAS.items()}),
        ("saturate", saturate.CONSTANTS),
        ("spatter", spatter.CONSTANTS),
    ):
        for side, five in ours.items():
            assert tables()[name][side] == five, (name, side)


# reference: the corruption itself, its plain form
@pytest.mark.parametrize("severity", range(5))
def test_blur_and_saturation_are_the_corruptions(severity):
    (sigma,) = tables()["gaussian_blur"][32][severity]
    expected = corruptions.get("gaussian_blur").apply(PHOTO, None, (sigma,))
    # both drop fractions, which may be hairs
    assert np.abs(gaussian_blur.blurred(PHOTO, sigma).astype(int) - expected).max() <= 1
    assert (gaussian_blur.blurred(PHOTO, sigma) == expected).mean() > 0.999
    constants = tables()["saturate"][32][severity]
    expected = corruptions.get("saturate").apply(PHOTO, None, constants)
    result = saturate.saturated(PHOTO, *constants)
    assert np.abs(result.astype(int) - expected).max() <= 1
    # the factor 1.5 gives many whole levels, of which the corruption keeps some and lowers some by a hair
    assert (result == expected).mean() > 0.9


def test_grey_becomes_red_as_in_the_definition():
    grey = np.full((2, 2, 3), 100, dtype=np.uint8)
    expected = corruptions.get("saturate").apply(grey, None, (2.5, 0.2))
    assert np.array_equal(saturate.saturated(grey, 2.5, 0.2), expected)


# reference: the corruption itself, its plain form
@pytest.mark.parametrize("severity", [3, 4])
def test_mud_is_the_corruptions(severity):
    draws = RNG.standard_normal(PHOTO.shape[:2])
    constants = tables()["spatter"][32][severity]
    expected = corruptions.get("spatter").apply(PHOTO, draws, constants)
    result = spatter.spattered(PHOTO, draws, constants)
    assert np.abs(result.astype(int) - expected).max() <= 1
    assert (result != PHOTO).any()


@pytest.mark.parametrize("severity", [0, 1, 2])
def test_water_lights_up_drops_and_nothing_else(severity):
    draws = RNG.standard_normal(PHOTO.shape[:2])
    mean, deviation, sigma, threshold, strength, _ = constants = tables()["spatter"][32][severity]
    black = np.zeros_like(PHOTO)
    lit = spatter.spattered(black, draws, constants)
    from scipy import ndimage

    depth = ndimage.gaussian_filter(mean + deviation * draws, sigma, mode="nearest")
    assert not lit[depth < threshold].any()
    # the brightest spot has the full strength of the water's colour, as in the corruption
    assert lit.max(axis=(0, 1)).tolist() == (np.array([175, 238, 238]) * strength + 1e-6).astype(int).tolist()
    assert not np.array_equal(lit, black)


def test_half_of_the_images_are_changed_at_all_severities_alike():
    drawn = drawn_severities(5000, np.random.default_rng(0))
    counts = [drawn.count(severity) for severity in range(5)]
    assert abs(drawn.count(None) / 5000 - 0.5) < 5 * np.sqrt(0.25 / 5000)
    assert max(abs(count / 5000 - 0.1) for count in counts) < 5 * np.sqrt(0.09 / 5000)


def test_larger_images_get_larger_constants():
    small, large = np.zeros((20, 40, 3)), np.zeros((300, 200, 3))
    assert constants_for(gaussian_blur.SIGMAS, small) == gaussian_blur.SIGMAS[32]
    assert constants_for(gaussian_blur.SIGMAS, large) == gaussian_blur.SIGMAS[224]
