"""Defocus blur against the pip package, and its fast path against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.corruptions.defocus import defocus_blur, disk_kernel
from oodometer.corruptions.severities import tables

SIZES = ((224, 224), (32, 32), (64, 80), (150, 210), (300, 260))
SEVERITIES = (1, 2, 3, 4, 5)
WITHIN = 0.00035
"""Levels: the fast path adds 1/4096, and float32 is wrong by up to 0.0001."""


@pytest.fixture
def agrees(both_paths, exact_levels, agree_but_for_ties):
    """``agrees(image, severity)``: the fast path may differ only where the exact level is an integer up to rounding."""

    def check(image, severity):
        radius, _ = defocus_blur.strength(severity, *image.shape[:2])
        # Beyond radius 8 two weights below 0.0003 are merged; the kernel differs by 0.017 levels in absolute sum.
        within = WITHIN if radius <= 8 else 0.018
        of_one = "defocus_blur", image, severity
        agree_but_for_ties(*both_paths(*of_one), exact_levels(*of_one), within)

    return check


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_is_the_published_function(oracle, picture, exact_levels, agree_but_for_ties, size, severity):
    image = picture(*size)
    strength = defocus_blur.strength(severity, *size)
    published = oracle("defocus_blur", image, strength)
    exact = exact_levels("defocus_blur", image, severity)
    # The published kernel is of float32.
    agree_but_for_ties(defocus_blur.apply(image, None, strength), published, exact, within=1e-4)


@pytest.mark.parametrize("strength", sorted({one for side in tables()["defocus_blur"].values() for one in side}))
def test_the_kernel_is_that_of_opencv(oracle, strength):
    np.testing.assert_allclose(disk_kernel(*strength), oracle.module.disk(*strength), atol=1e-7)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_the_fast_path_is_the_same(picture, agrees, size, severity):
    agrees(picture(*size), severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_photographs(photographs, agrees, oracle, exact_levels, agree_but_for_ties, severity):
    strength = defocus_blur.strength(severity, 224, 224)
    for image in photographs:
        agrees(image, severity)
        slow, published = defocus_blur.apply(image, None, strength), oracle("defocus_blur", image, strength)
        agree_but_for_ties(slow, published, exact_levels("defocus_blur", image, severity), within=1e-4)


@pytest.mark.parametrize("severity", [4, 5])
def test_it_brightens_as_published(both_paths, severity):
    # The published kernels sum to 1.013 and 1.011 at severities 4 and 5.
    grey = np.full((224, 224, 3), 200, dtype=np.uint8)
    for made in both_paths("defocus_blur", grey, severity):
        assert (made == int(200 * disk_kernel(*defocus_blur.strength(severity, 224, 224)).sum())).all()
        assert (made >= 202).all()


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_noise_is_the_hardest_case(agrees, size, severity):
    # Full contrast at every pixel shows every weight of the kernel.
    agrees(np.random.default_rng(0).integers(0, 2, (*size, 3)).astype(np.uint8) * 255, severity)


def test_the_input_stays_as_it_is(picture):
    image = picture(70, 90)
    image.flags.writeable = False
    strength = defocus_blur.strength(3, 70, 90)
    assert (defocus_blur.fast(image, np.random.default_rng(0), strength) != image).any()
    assert (defocus_blur.apply(image, None, strength) != image).any()
