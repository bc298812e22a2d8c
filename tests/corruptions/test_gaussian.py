"""Gaussian blur against the pip package."""

from __future__ import annotations

import pytest

from oodometer.corruptions.gaussian import gaussian_blur

SIZES = ((224, 224), (32, 32), (64, 80), (150, 210), (300, 260))
SEVERITIES = (1, 2, 3, 4, 5)
WITHIN = 0.00035
"""Levels: the fast path adds 1/4096, and float32 is wrong by up to 0.0001."""


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_is_the_published_function(oracle, picture, size, severity):
    image = picture(*size)
    strength = gaussian_blur.strength(severity, *size)
    assert (gaussian_blur.apply(image, None, strength) == oracle("gaussian_blur", image, strength)).all()


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_the_fast_path_is_the_same(picture, both_paths, exact_levels, agree_but_for_ties, size, severity):
    of_one = "gaussian_blur", picture(*size), severity
    agree_but_for_ties(*both_paths(*of_one), exact_levels(*of_one), WITHIN)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_photographs(photographs, both_paths, exact_levels, agree_but_for_ties, severity):
    for image in photographs:
        of_one = "gaussian_blur", image, severity
        agree_but_for_ties(*both_paths(*of_one), exact_levels(*of_one), WITHIN)
