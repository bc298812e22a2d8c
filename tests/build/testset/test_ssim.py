"""SSIM against loops over windows and pixels, and where it has a closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.build.testset.pairs import Pairs
from oodometer.build.testset.ssim import grey, ssim, ssim_of_pairs
from oodometer.core.errors import DataError

quick = settings(deadline=None, derandomize=True, max_examples=15)


def slow_ssim(x: np.ndarray, y: np.ndarray) -> float:
    """Wang et al. 2004, equations 13 to 17, one window and one pixel after another."""
    bell = [[math.exp(-((i - 5) ** 2 + (j - 5) ** 2) / (2 * 1.5**2)) for j in range(11)] for i in range(11)]
    total = sum(map(sum, bell))
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    values = []
    for top in range(x.shape[0] - 10):
        for left in range(x.shape[1] - 10):
            cells = [
                (bell[i][j] / total, x[top + i, left + j], y[top + i, left + j]) for i in range(11) for j in range(11)
            ]
            mean_x, mean_y = sum(w * a for w, a, _ in cells), sum(w * b for w, _, b in cells)
            var_x = sum(w * (a - mean_x) ** 2 for w, a, _ in cells)
            var_y = sum(w * (b - mean_y) ** 2 for w, _, b in cells)
            both = sum(w * (a - mean_x) * (b - mean_y) for w, a, b in cells)
            values.append(
                (2 * mean_x * mean_y + c1) * (2 * both + c2) / ((mean_x**2 + mean_y**2 + c1) * (var_x + var_y + c2))
            )
    return sum(values) / len(values)


@quick
@given(st.integers(11, 16), st.integers(11, 16), st.floats(0, 1), st.integers(0, 10**6))
def test_against_the_loops(height, width, mixed, seed):
    rng = np.random.default_rng(seed)
    x, noise = rng.uniform(0, 255, (2, height, width))
    y = mixed * x + (1 - mixed) * noise
    assert float(ssim(x, y)) == pytest.approx(slow_ssim(x, y), abs=1e-9)  # reference: the loops above


def test_flat_pictures_have_the_luminance_term_alone():
    # closed form: (2ab + C1) / (a² + b² + C1), C1 = 6.5025; without deviations the other factor is 1
    expected = (2 * 100 * 150 + 6.5025) / (100**2 + 150**2 + 6.5025)
    assert float(ssim(np.full((12, 20), 100), np.full((12, 20), 150))) == pytest.approx(expected, abs=1e-12)


def test_equal_symmetric_and_within_bounds():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 255, (2, 20, 32, 32))
    assert ssim(x, x) == pytest.approx(np.ones(20), abs=1e-12)
    assert ssim(x, y) == pytest.approx(ssim(y, x), abs=1e-12)
    assert (np.abs(ssim(x, y)) < 0.2).all()
    assert ssim(x, y).shape == (20,)


def test_pairs_are_looked_up_and_mirrored():
    rng = np.random.default_rng(1)
    pictures, others = rng.integers(0, 256, (2, 5, 32, 32, 3), dtype=np.uint8)
    others[3] = pictures[1][:, ::-1]
    others[0] = pictures[4]
    pairs = Pairs(np.array([1, 4, 1]), np.array([3, 0, 3]), np.zeros(3), np.array([True, False, False]))
    found = ssim_of_pairs(pictures, others, pairs)
    assert found[:2] == pytest.approx([1, 1], abs=1e-12)
    assert found[2] == pytest.approx(float(ssim(grey(pictures[1]), grey(others[3]))), abs=1e-12)


@pytest.mark.parametrize("shapes", [((10, 20), (10, 20)), ((12, 12), (12, 13)), ((20,), (20,))])
def test_what_has_no_window_is_an_error(shapes):
    with pytest.raises(DataError, match="of at least 11 pixels a side"):
        ssim(*(np.ones(shape) for shape in shapes))
