"""Defocus blur against the pip package, and its fast path against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.corruptions.defocus import defocus_blur, disk_kernel
from oodometer.corruptions.severities import tables

SIZES = ((224, 224), (32, 32), (64, 80), (150, 210), (300, 260))
SEVERITIES = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_is_the_published_function(oracle, picture, agree, size, severity):
    image = picture(*size)
    strength = defocus_blur.strength(severity, *size)
    agree(defocus_blur.apply(image, None, strength), oracle("defocus_blur", image, strength), share=0.3)


@pytest.mark.parametrize("strength", sorted({one for side in tables()["defocus_blur"].values() for one in side}))
def test_the_kernel_is_that_of_opencv(oracle, strength):
    np.testing.assert_allclose(disk_kernel(*strength), oracle.module.disk(*strength), atol=1e-7)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_the_fast_path_is_the_same(picture, both_paths, agree, size, severity):
    agree(*both_paths("defocus_blur", picture(*size), severity), share=0.3)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_photographs(photographs, both_paths, oracle, agree, severity):
    for image in photographs:
        slow, fast = both_paths("defocus_blur", image, severity)
        agree(slow, fast, share=0.3)
        agree(slow, oracle("defocus_blur", image, defocus_blur.strength(severity, 224, 224)), share=0.3)


@pytest.mark.parametrize("severity", [4, 5])
def test_it_brightens_as_published(both_paths, severity):
    # The published kernels sum to 1.013 and 1.011 at severities 4 and 5.
    grey = np.full((224, 224, 3), 200, dtype=np.uint8)
    for made in both_paths("defocus_blur", grey, severity):
        assert (made == int(200 * disk_kernel(*defocus_blur.strength(severity, 224, 224)).sum())).all()
        assert (made >= 202).all()


def test_noise_is_the_hardest_case(both_paths, agree):
    # Full contrast at every pixel shows what the fast path leaves out at the border of the grid.
    image = np.random.default_rng(0).integers(0, 2, (96, 130, 3)).astype(np.uint8) * 255
    for severity in SEVERITIES:
        agree(*both_paths("defocus_blur", image, severity), share=0.05)


def test_the_input_stays_as_it_is(picture):
    image = picture(70, 90)
    image.flags.writeable = False
    strength = defocus_blur.strength(3, 70, 90)
    assert (defocus_blur.fast(image, np.random.default_rng(0), strength) != image).any()
    assert (defocus_blur.apply(image, None, strength) != image).any()
