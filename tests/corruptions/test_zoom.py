"""Zoom blur against the pip package, and its fast path against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from oodometer.corruptions.zoom import enlarged_axis, zoom_blur, zooms

SIZES = ((224, 224), (32, 32), (64, 80), (80, 64), (150, 210), (300, 260))
SEVERITIES = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_is_the_published_function(oracle, picture, size, severity):
    image = picture(*size)
    strength = zoom_blur.strength(severity, *size)
    assert (zoom_blur.apply(image, None, strength) == oracle("zoom_blur", image, zooms(strength))).all()


@pytest.mark.parametrize("size", [*range(32, 60), 64, 150, 210, 224, 225, 299, 300, 333, 500])
def test_axes_are_those_of_scipy(size):
    for zoom in np.arange(1, 1.31, 0.01):
        kept = int(np.ceil(size / zoom))
        start = (size - kept) // 2
        expected = ndimage.zoom(np.eye(size)[start : start + kept], (zoom, 1), order=1)[:size]
        before, here, after = enlarged_axis(size, float(zoom))
        made = np.zeros((size, size + 1))
        np.add.at(made, (np.arange(size), before), here)
        np.add.at(made, (np.arange(size), before + 1), after)
        assert len(expected) == size
        np.testing.assert_allclose(made[:, :size], expected, atol=1e-9)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_the_fast_path_is_the_same(picture, both_paths, exact_levels, agree_but_for_ties, size, severity):
    of_one = "zoom_blur", picture(*size), severity
    agree_but_for_ties(*both_paths(*of_one), exact_levels(*of_one))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_photographs(photographs, both_paths, exact_levels, agree_but_for_ties, severity):
    for image in photographs:
        of_one = "zoom_blur", image, severity
        agree_but_for_ties(*both_paths(*of_one), exact_levels(*of_one))


def test_noise_is_the_hardest_case(both_paths, exact_levels, agree_but_for_ties):
    image = np.random.default_rng(0).integers(0, 2, (224, 150, 3)).astype(np.uint8) * 255
    for severity in SEVERITIES:
        of_one = "zoom_blur", image, severity
        agree_but_for_ties(*both_paths(*of_one), exact_levels(*of_one))


def test_the_input_stays_as_it_is(picture):
    image = picture(70, 90)
    image.flags.writeable = False
    strength = zoom_blur.strength(3, 70, 90)
    assert (zoom_blur.fast(image, np.random.default_rng(0), strength) != image).any()
    assert (zoom_blur.apply(image, None, strength) != image).any()
