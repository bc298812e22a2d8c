"""The elastic transform against a slow reference of its own (see there why), and its fast path."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from oodometer.corruptions.elastic import LEFT_OUT, TRUNCATE, WIDE_RADIUS, ElasticDraws, displacement, elastic_transform
from oodometer.corruptions.kernels.elastic import mirror_all, reflect_all

SIZES = ((224, 224), (32, 32), (64, 80), (80, 64), (150, 210), (300, 260))
SEVERITIES = (1, 2, 3, 4, 5)


@pytest.fixture(scope="module")
def reference():
    pytest.importorskip("cv2")
    place = Path(__file__).parents[1] / "reference" / "elastic.py"
    spec = importlib.util.spec_from_file_location("reference_elastic", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", [(224, 224), (32, 32), (60, 90), (90, 60)])
def test_is_the_published_function(reference, picture, exact_levels, agree_but_for_ties, size, severity):
    image = picture(*size)
    alpha, sigma, shift = elastic_transform.strength(severity, *size)
    draws = elastic_transform.draw(np.random.default_rng(severity), *size, (alpha, sigma, shift))
    made = elastic_transform.apply(image, draws, (alpha, sigma, shift))
    expected = reference.elastic(image, draws.shifts, draws.fields, alpha, sigma)
    # The reference keeps the image between its two steps in float32, as OpenCV does.
    agree_but_for_ties(made, expected, exact_levels("elastic_transform", image, severity, severity), within=1e-4)


def test_the_affine_part_of_the_reference_is_that_of_opencv(reference, picture):
    import cv2

    pixels = np.float32(picture(60, 90)) / np.float32(255)
    matrix = np.array([[1.1, 0.2, -7.3], [-0.1, 0.9, 4.1]])
    expected = cv2.warpAffine(pixels, matrix, (90, 60), borderMode=cv2.BORDER_REFLECT_101)
    apart = np.abs(reference.warp(pixels, matrix) - expected) * 255
    # Before version 5 the same; since then exact places, up to 1/64 pixel from the rounded ones.
    assert apart.max() < (0.01 if int(cv2.__version__.split(".")[0]) < 5 else 2 * 255 / 64)


def error_of(severity, height, width):
    """Levels that the fast path may be wrong by before the floor: float32, and wide smoothing by few cosines."""
    _, sigma, _ = elastic_transform.strength(severity, height, width)
    # Cosines are wrong by less than LEFT_OUT pixels in the mean and 5 LEFT_OUT anywhere (see below); a pixel is worth
    # up to 255 levels at an edge.
    return 0.05 if TRUNCATE * sigma > WIDE_RADIUS else 0.00125


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_the_fast_path_is_the_same(picture, both_paths, exact_levels, agree_but_for_ties, size, severity):
    for seed in range(3):
        of_one = "elastic_transform", picture(*size), severity, seed
        agree_but_for_ties(*both_paths(*of_one), exact_levels(*of_one), error_of(severity, *size))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_photographs(photographs, both_paths, exact_levels, agree_but_for_ties, severity):
    for seed, image in enumerate(photographs):
        of_one = "elastic_transform", image, severity, seed
        agree_but_for_ties(*both_paths(*of_one), exact_levels(*of_one), error_of(severity, 224, 224))


@pytest.mark.parametrize("size", [(224, 224), (224, 300), (400, 260)])
@pytest.mark.parametrize(("alpha", "sigma"), [(488, 170.8), (488, 19.52), (12.2, 2.44), (720, 28.8), (720, 252)])
def test_smoothing_is_that_of_scipy(size, alpha, sigma):
    field = np.random.default_rng(0).uniform(-1, 1, size).astype(np.float32)
    expected = ndimage.gaussian_filter(field.astype(np.float64), sigma, mode="reflect", truncate=3) * alpha
    assert np.abs(displacement(field, alpha, sigma) - expected).max() < 5 * LEFT_OUT


@pytest.mark.parametrize("n", [2, 3, 32])
@pytest.mark.parametrize("reach", [1, 30, 64, 1000])
@pytest.mark.parametrize(("fold", "mode"), [(mirror_all, "reflect"), (reflect_all, "symmetric")])
def test_places_outside_are_those_of_numpy(fold, mode, n, reach):
    rng = np.random.default_rng(0)
    line = rng.uniform(0, 1, n)
    wide = np.pad(line, 1001, mode=mode)
    places = rng.integers(-reach, reach, 97).astype(np.int32)
    share = rng.uniform(0, 1, 97).astype(np.float32)
    expected = wide[places + 1001] * (1 - share) + wide[places + 1002] * share
    fold(places, share, n)
    here, there = line[places], np.r_[line, 0][places + 1]
    np.testing.assert_allclose(here * (1 - share) + there * share, expected, atol=1e-6)


def test_no_shift_and_no_field_is_no_change(picture):
    image = picture(50, 70)
    nothing = ElasticDraws(np.zeros((3, 2)), np.zeros((2, 50, 70), dtype=np.float32))
    made = elastic_transform.apply(image, nothing, (10.0, 2.0, 3.0)).astype(int)
    assert np.abs(made - image).max() <= 1


def test_points_move_by_their_shifts():
    # A point of the centre square, moved down and right by (3, 2), is found there.
    image = np.zeros((90, 90, 3), dtype=np.uint8)
    image[74:77, 74:77] = 255  # around (75, 75), the first of the three points
    draws = ElasticDraws(np.array([[3.0, 2.0]] * 3), np.zeros((2, 90, 90), dtype=np.float32))
    made = elastic_transform.apply(image, draws, (0.0, 0.0, 3.0))
    assert (made[76:79, 77:80] >= 254).all()
    assert made.sum(axis=(0, 1)).max() <= 9 * 255 + 9


def test_the_input_stays_as_it_is(picture):
    image = picture(70, 90)
    image.flags.writeable = False
    strength = elastic_transform.strength(3, 70, 90)
    draws = elastic_transform.draw(np.random.default_rng(0), 70, 90, strength)
    assert (elastic_transform.fast(image, np.random.default_rng(0), strength) != image).any()
    assert (elastic_transform.apply(image, draws, strength) != image).any()
