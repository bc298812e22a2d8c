"""Non-local means and the estimate of the noise, held against scikit-image and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from skimage.restoration import denoise_nl_means

from oodometer.models.defences.non_local_means import HIGH, denoised, noise_of, non_local_means


def noisy(height: int, width: int, sigma: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    few = Image.fromarray(rng.integers(0, 256, (6, 6, 3), dtype=np.uint8))
    smooth = np.asarray(few.resize((width, height), Image.Resampling.BICUBIC)) / 255
    return np.clip(smooth + rng.normal(0, sigma, smooth.shape), 0, 1)


@pytest.mark.parametrize("size", [(40, 48), (16, 20), (33, 64), (8, 8)], ids=str)
@pytest.mark.parametrize("sigma", [0.03, 0.1])
def test_it_is_as_by_scikit_image(size, sigma):
    pixels = noisy(*size, sigma)
    expected = denoise_nl_means(
        pixels, patch_size=5, patch_distance=6, h=0.8 * sigma, sigma=sigma, fast_mode=True, channel_axis=-1
    )
    # Its exponential is an approximation, good to some thousandths: less than one level of 255.
    assert np.abs(non_local_means(pixels, sigma, 0.8 * sigma) - expected).max() < 1 / 255


def noise_by_loops(channel: np.ndarray) -> float:
    """The median size of the diagonal coefficients of one level, by the definition of the transform."""
    height, width = channel.shape

    def at(row: int, column: int) -> float:
        row = -row - 1 if row < 0 else 2 * height - 1 - row if row >= height else row
        column = -column - 1 if column < 0 else 2 * width - 1 - column if column >= width else column
        return float(channel[row, column])

    found = []
    for row in range((height + 3) // 2):
        for column in range((width + 3) // 2):
            total = 0.0
            for i in range(4):
                for j in range(4):
                    total += HIGH[i] * HIGH[j] * at(2 * row + 1 - i, 2 * column + 1 - j)
            found.append(abs(total))
    return float(np.median([one for one in found if one != 0]) / 0.6744897501960817)


@pytest.mark.parametrize("size", [(20, 26), (17, 13)], ids=str)
def test_the_noise_is_that_of_plain_loops(size):
    pixels = noisy(*size, 0.1)
    assert noise_of(pixels) == pytest.approx(np.mean([noise_by_loops(pixels[..., at]) for at in range(3)]))


# golden: skimage.restoration.estimate_sigma(average_sigmas=True, channel_axis=-1) of scikit-image 0.26.0 with
# PyWavelets 1.8.0, of np.random.default_rng(0).normal(0.5, 0.1, size)
@pytest.mark.parametrize(("size", "expected"), [((40, 48, 3), 0.09449019162065142), ((33, 17, 3), 0.08221729129933493)])
def test_the_noise_is_that_of_scikit_image(size, expected):
    assert noise_of(np.random.default_rng(0).normal(0.5, 0.1, size)) == pytest.approx(expected, rel=1e-9)


def test_the_filter_is_daubechies():
    # closed form: orthonormal, two vanishing moments
    assert (HIGH**2).sum() == pytest.approx(1)
    assert HIGH.sum() == pytest.approx(0, abs=1e-12)
    assert (HIGH * np.arange(4)).sum() == pytest.approx(0, abs=1e-12)
    assert HIGH[:2] @ HIGH[2:] == pytest.approx(0, abs=1e-12)


def test_noise_goes_away_and_a_flat_image_stays():
    clean = noisy(64, 64, 0.0)
    seen = noisy(64, 64, 0.1)
    cleaned = denoised(np.rint(255 * seen).astype(np.uint8)) / 255
    assert np.sqrt(np.mean((cleaned - clean) ** 2)) < 0.5 * np.sqrt(np.mean((seen - clean) ** 2))
    flat = np.full((9, 9, 3), 77, dtype=np.uint8)
    assert (denoised(flat) == flat).all()


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (2, 3)], ids=str)
def test_any_size_will_do(size):
    image = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    assert denoised(image).shape == (*size, 3)
