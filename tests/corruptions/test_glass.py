"""Glass blur against the pip package with the same offsets, and its fast path against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from oodometer.corruptions.gaussian import as_bytes, smoothed
from oodometer.corruptions.glass import glass_blur, with_copies
from oodometer.corruptions.kernels.blur import blurred_bytes

SIZES = ((224, 224), (32, 32), (64, 80), (150, 210), (300, 260))
SEVERITIES = (1, 2, 3, 4, 5)
WITHIN = 0.00035
"""Levels: the fast path adds 1/4096, and float32 is wrong by up to 0.0001."""


@pytest.fixture
def agrees(both_paths, agree, agree_but_for_ties):
    """``agrees(image, severity, seed=0)``: the fast path is the definition, but for rounding at either smoothing.

    Where the exact level is an integer, rounding decides it. The copies carry the levels of the first smoothing on, and
    the second mixes them; what they are is therefore followed step by step.
    """

    def check(image, severity, seed=0):
        size = image.shape[:2]
        sigma, reach, passes = glass_blur.strength(severity, *size)
        draws = glass_blur.draw(np.random.default_rng(seed), *size, (sigma, reach, passes))
        first, exact = blurred_bytes(image, sigma), smoothed(image, sigma)
        agree_but_for_ties(as_bytes(exact), first, exact * 255, WITHIN)
        exact = smoothed(with_copies(first, draws, int(reach)), sigma)
        slow, fast = both_paths("glass_blur", image, severity, seed)
        agree_but_for_ties(as_bytes(exact), fast, exact * 255, WITHIN)
        agree(slow, fast, share=1)

    return check


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", [(224, 224), (32, 32), (60, 90)])
def test_is_the_published_function(oracle, picture, size, severity):
    image = picture(*size)
    sigma, reach, passes = glass_blur.strength(severity, *size)
    draws = glass_blur.draw(np.random.default_rng(severity), *size, (sigma, reach, passes))
    pairs = draws[..., ::-1].reshape(-1, 2).astype(int)  # the published loop draws the column first
    published = oracle("glass_blur", image, (sigma, int(reach), int(passes)), pairs)
    assert (glass_blur.apply(image, draws, (sigma, reach, passes)) == published).all()


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_the_fast_path_is_the_same(picture, agrees, size, severity):
    agrees(picture(*size), severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_photographs(photographs, agrees, severity):
    for seed, image in enumerate(photographs):
        agrees(image, severity, seed)


@pytest.mark.parametrize("reach", [1, 2, 3, 4, 5])
def test_offsets_are_uniform(reach):
    draws = glass_blur.draw(np.random.default_rng(reach), 300, 300, (1.0, reach, 2))
    assert draws.min() == -reach
    assert draws.max() == reach - 1
    pairs = (draws[..., 0].astype(int) + reach) * 2 * reach + draws[..., 1] + reach
    counts = np.bincount(pairs.ravel(), minlength=4 * reach**2)
    assert len(counts) == 4 * reach**2
    assert stats.chisquare(counts).pvalue > 1e-4


def test_the_input_stays_as_it_is(picture):
    image = picture(70, 90)
    image.flags.writeable = False
    strength = glass_blur.strength(1, 70, 90)  # sigma 0.1: nothing is smoothed, and the copies begin at once
    before = image.copy()
    glass_blur.fast(image, np.random.default_rng(0), strength)
    glass_blur.apply(image, glass_blur.draw(np.random.default_rng(0), 70, 90, strength), strength)
    assert (image == before).all()
