"""Gaussian blur against the pip package."""

from __future__ import annotations

import pytest

from oodometer.corruptions.gaussian import gaussian_blur

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
