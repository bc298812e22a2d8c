"""Gaussian blur against the pip package, and smoothing in float32 against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from oodometer.corruptions.gaussian import gaussian_blur
from oodometer.corruptions.kernels.blur import gaussian_smooth

SIZES = ((224, 224), (32, 32), (64, 80), (150, 210), (300, 260))
SEVERITIES = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_is_the_published_function(oracle, picture, size, severity):
    image = picture(*size)
    strength = gaussian_blur.strength(severity, *size)
    assert (gaussian_blur.apply(image, None, strength) == oracle("gaussian_blur", image, strength)).all()


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_the_fast_path_is_the_same(picture, both_paths, agree, size, severity):
    agree(*both_paths("gaussian_blur", picture(*size), severity), share=0.1)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_photographs(photographs, both_paths, agree, severity):
    for image in photographs:
        agree(*both_paths("gaussian_blur", image, severity), share=0.1)


@given(
    height=st.integers(1, 40),
    width=st.integers(1, 40),
    sigma=st.floats(0, 9),
    mode=st.sampled_from(["nearest", "reflect"]),
    truncate=st.sampled_from([3.0, 4.0]),
)
def test_smoothing_is_that_of_scipy(height, width, sigma, mode, truncate):
    plane = np.random.default_rng([height, width]).normal(size=(height, width)).astype(np.float32)
    expected = ndimage.gaussian_filter(plane.astype(np.float64), sigma, mode=mode, truncate=truncate)
    np.testing.assert_allclose(gaussian_smooth(plane, sigma, mode=mode, truncate=truncate), expected, atol=2e-6)


def test_the_input_stays_as_it_is(picture):
    image = picture(70, 90)
    image.flags.writeable = False
    strength = gaussian_blur.strength(5, 70, 90)
    assert (gaussian_blur.fast(image, np.random.default_rng(0), strength) != image).any()
    assert (gaussian_blur.apply(image, None, strength) != image).any()
