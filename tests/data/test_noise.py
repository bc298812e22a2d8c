"""Made images of no class: what they are made of, and that each is its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for
from oodometer.data.noise import DRAWS, Noise, is_noise, made_noise, parse_noise


@pytest.mark.parametrize("kind", sorted(DRAWS))
def test_an_image_is_the_same_in_any_order_and_in_any_number(kind: str) -> None:
    few, many = made_noise(Noise(kind, 40, 3)), made_noise(Noise(kind, 40, 9))
    assert many.ids[:3] == few.ids
    for index in (2, 0):
        np.testing.assert_array_equal(few.image(index), many.image(index))
    assert not np.array_equal(few.image(0), few.image(1))
    assert not np.array_equal(few.image(0), made_noise(Noise(kind, 40, 3, seed=1)).image(0))
    assert (few.image(0).shape, few.image(0).dtype) == ((40, 40, 3), np.uint8)
    assert few.labels.tolist() == [-1] * 3
    assert few.title == f"noise:{kind},size=40[3, seed 0]"
    assert few.digest == made_noise(Noise(kind, 40, 3)).digest != many.digest


def test_gaussian_noise_has_the_published_distribution_cut_at_black_and_white() -> None:
    pixels = Noise("gaussian").read(0) / 255
    n = pixels.size
    # Black are those below half a level of N(0.5, 0.25): the share by scipy, its interval the binomial's.
    share = norm.cdf(0.5 / 255, 0.5, 0.25)
    assert abs((pixels == 0).sum() - n * share) < 5 * np.sqrt(n * share)
    inside = norm.cdf(0.75, 0.5, 0.25) - norm.cdf(0.25, 0.5, 0.25)
    assert np.mean((pixels > 0.25) & (pixels < 0.75)) == pytest.approx(inside, abs=0.01)


def test_bernoulli_noise_is_full_or_empty_in_each_channel_alone() -> None:
    pixels = Noise("bernoulli", 100).read(0)
    assert set(np.unique(pixels)) == {0, 255}
    low, high = binom.interval(1 - 1e-6, pixels.size, 0.5)
    assert low < (pixels == 255).sum() < high
    assert abs(np.corrcoef(pixels[..., 0].ravel(), pixels[..., 1].ravel())[0, 1]) < 0.05


def test_uniform_noise_has_every_level_equally_often() -> None:
    counts = np.bincount(Noise("uniform").read(0).ravel(), minlength=256)[1:255]  # the ends are half as wide
    expected = 224 * 224 * 3 / 255
    assert ((counts - expected) ** 2 / expected).sum() == pytest.approx(254, abs=6 * np.sqrt(2 * 254))


def plain_blobs(white: np.ndarray) -> np.ndarray:
    """By the formula: weights exp(-d²/2σ²) to four sigma along each of the three axes, the edge repeated."""
    offsets = np.arange(-6, 7)
    weights = np.exp(-(offsets**2) / (2 * 1.5**2))
    weights /= weights.sum()
    for axis in range(3):
        padded = np.pad(white, [(6, 6) if axis == other else (0, 0) for other in range(3)], mode="edge")
        moved = [np.take(padded, np.arange(white.shape[axis]) + 6 + offset, axis=axis) for offset in offsets]
        white = sum(weight * part for weight, part in zip(weights, moved, strict=True))
    return np.where(white < 0.75, 0, white)


def test_blobs_are_the_published_ones_at_32_pixels() -> None:
    white = (rng_for("noise", "blobs", 32, 5, seed=2).random((32, 32, 3)) < 0.7).astype(float)
    made = Noise("blobs", 32, seed=2).read(5)
    np.testing.assert_allclose(made, plain_blobs(white) * 255, atol=0.51)
    assert 0.05 < (made > 0).mean() < 0.5


def test_blobs_of_another_size_have_sharp_edges_and_as_much_black() -> None:
    small, large = (np.stack([Noise("blobs", side).read(index) for index in range(40)]) for side in (32, 224))
    assert (small > 0).mean() == pytest.approx((large > 0).mean(), abs=0.03)
    assert large[large > 0].min() >= round(0.75 * 255)


def test_what_a_user_asks_for() -> None:
    assert parse_noise("noise:uniform", seed=3) == Noise("uniform", 224, 2000, 3)
    assert (is_noise("noise:blobs"), is_noise("noise/"), is_noise("noise")) == (True, False, False)
    for text, said in (
        ("noise:gausian", "no noise named 'gausian'; did you mean gaussian?"),
        ("noise:blobs,size=0", "can't be read at 'size=0'"),
        ("noise:blobs,n=1e3", "can't be read at 'n=1e3'"),
        ("noise:blobs,n=9999999", "can't be read at 'n=9999999'"),
        ("noise:blobs,sigma=3", "can't be read at 'sigma=3'"),
    ):
        with pytest.raises(UsageError) as error:
            parse_noise(text)
        assert said in str(error.value)
