"""Glass blur against the pip package with the same offsets, and its fast path against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from oodometer.corruptions.glass import glass_blur

SIZES = ((224, 224), (32, 32), (64, 80), (150, 210), (300, 260))
SEVERITIES = (1, 2, 3, 4, 5)


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
def test_the_fast_path_is_the_same(picture, both_paths, agree, size, severity):
    agree(*both_paths("glass_blur", picture(*size), severity), share=0.4)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_photographs(photographs, both_paths, agree, severity):
    for seed, image in enumerate(photographs[:2]):
        agree(*both_paths("glass_blur", image, severity, seed), share=0.4)


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
