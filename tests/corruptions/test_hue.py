"""Hues turned on the colour wheel, against the standard library's HSV."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

from oodometer.corruptions.hue import DEGREES, turn_hue


def turned_by_colorsys(image: np.ndarray, degrees: int) -> np.ndarray:
    made = np.empty(image.shape)
    for place in np.ndindex(image.shape[:2]):
        hue, saturation, value = colorsys.rgb_to_hsv(*(image[place] / 255))
        made[place] = colorsys.hsv_to_rgb((hue + degrees / 360) % 1.0, saturation, value)
    return made * 255


@pytest.mark.parametrize("degrees", DEGREES)
def test_every_turn_is_that_of_the_standard_library(degrees: int) -> None:
    image = np.random.default_rng(0).integers(0, 256, (12, 20, 3), dtype=np.uint8)
    image[0, 0], image[0, 1], image[0, 2] = 0, 255, (7, 7, 200)
    before = image.copy()
    made = turn_hue(image, degrees)
    np.testing.assert_allclose(made, turned_by_colorsys(image, degrees), atol=0.5 + 1e-6)
    np.testing.assert_array_equal(image, before)
    assert (made.dtype, made.shape) == (np.uint8, image.shape)


def test_a_third_of_the_way_the_channels_change_places() -> None:
    image = np.random.default_rng(1).integers(0, 256, (30, 30, 3), dtype=np.uint8)
    np.testing.assert_array_equal(turn_hue(image, 120), np.roll(image, 1, axis=2))
    np.testing.assert_array_equal(turn_hue(image, 360), image)


def test_grey_stays_grey() -> None:
    grey = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    np.testing.assert_array_equal(turn_hue(grey, 90), grey)
