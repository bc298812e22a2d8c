"""Noises: ``apply`` against the pip package, ``fast`` against closed forms of the distribution."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import chi2, poisson

from oodometer.core.random import rng_for
from oodometer.corruptions import noise
from oodometer.corruptions.kernels.noise import BLOCKS, CHUNK, alias_tables, fill_words
from oodometer.corruptions.registry import corruptions

NOISES = ("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise")
SIZES = ((224, 224), (32, 32), (150, 210))
LEVELS = (0, 1, 17, 90, 128, 200, 254, 255)
TRANSITIONS = {
    "gaussian_noise": noise.gaussian_transitions,
    "shot_noise": noise.shot_transitions,
    "impulse_noise": noise.impulse_transitions,
    "speckle_noise": noise.speckle_transitions,
}


def strengths(name: str) -> list[tuple[float, ...]]:
    """Those of every severity at every side that has some of its own."""
    made = corruptions.get(name)
    return sorted({made.strength(severity, side, side) for severity in range(1, 6) for side in (32, 64, 224, 299)})


def surprise(levels: np.ndarray, chances: np.ndarray) -> float:
    """The p-value of the chi-square test; outcomes expected fewer than 10 times count as one."""
    expected, found = chances * levels.size, np.bincount(levels.ravel(), minlength=256)
    often = expected >= 10
    found, expected = (np.append(part[often], part[~often].sum()) for part in (found, expected))
    if expected[-1] < 1e-6:
        assert found[-1] == 0
        found, expected = found[:-1], expected[:-1]
    statistic = ((found - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, len(found) - 1)) if len(found) > 1 else 1.0


class Given:
    """A generator that returns what it was given."""

    def __init__(self, *draws: np.ndarray) -> None:
        self.draws = list(draws)

    def random(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.draws.pop(0).reshape(shape)


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("severity", range(1, 6))
@pytest.mark.parametrize("name", NOISES)
def test_apply_is_the_published_function(
    oracle: Callable, picture: Callable, name: str, severity: int, height: int, width: int
) -> None:
    made, image = corruptions.get(name), picture(height, width)
    strength = made.strength(severity, height, width)
    draws = made.draw(np.random.default_rng(severity), height, width, strength)
    if name == "impulse_noise":
        with patch("numpy.random.default_rng", lambda _: Given(draws.struck, draws.colour)):
            expected = oracle(name, image, strength)
    elif name == "shot_noise":
        expected = oracle(name, image, strength, [poisson.ppf(draws, image / 255 * strength[0])])
    else:
        expected = oracle(name, image, strength, [strength[0] * draws])
    assert np.array_equal(made.apply(image, draws, strength), expected)


@pytest.mark.parametrize("name", NOISES)
def test_chances_add_up_to_one(name: str) -> None:
    for strength in strengths(name):
        chances = TRANSITIONS[name](*strength)
        assert chances.min() >= 0
        np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NOISES)
def test_apply_has_the_distribution_in_closed_form(name: str) -> None:
    made = corruptions.get(name)
    least = []
    for severity in range(1, 6):
        strength = made.strength(severity, 224, 224)
        chances = TRANSITIONS[name](*strength)
        for level in LEVELS:
            image = np.full((100, 200, 3), level, np.uint8)
            draws = made.draw(np.random.default_rng([severity, level]), 100, 200, strength)
            least.append(surprise(made.apply(image, draws, strength), chances[level]))
    assert min(least) > 1e-4  # of 40 tests


def test_additive_noise_keeps_the_mean_and_the_variance() -> None:
    # Closed form: truncation takes half a level off the mean and adds 1/12 to the variance (Sheppard 1898).
    levels, (spread,) = np.arange(256), (255 * 0.04,)
    chances = noise.gaussian_transitions(0.04)[128]
    assert chances @ levels == pytest.approx(127.5, abs=1e-9)
    assert chances @ (levels - 127.5) ** 2 == pytest.approx(spread**2 + 1 / 12, rel=1e-6)
    chances = noise.speckle_transitions(0.06)[100]
    assert chances @ levels == pytest.approx(99.5, abs=1e-9)
    assert chances @ (levels - 99.5) ** 2 == pytest.approx(36 + 1 / 12, rel=1e-6)
    assert noise.impulse_transitions(0.2)[50] @ levels == pytest.approx(0.8 * 50 + 0.2 * 127.5, abs=1e-9)


def chances_of_tables(thresholds: np.ndarray, aliases: np.ndarray, full: int) -> np.ndarray:
    """What an alias table draws from, (R, C)."""
    n_rows, n_columns = thresholds.shape
    mass = thresholds.astype(float)
    np.add.at(mass, (np.arange(n_rows)[:, None], aliases), full - thresholds)
    return mass / (full * n_columns)


def test_alias_tables_lose_nothing() -> None:
    rng = np.random.default_rng(0)
    for n_columns, bits in ((2, 4), (16, 24), (256, 24), (512, 23)):
        total = n_columns << bits
        cuts = np.sort(rng.integers(0, total + 1, (20, n_columns - 1)), axis=1)
        counts = np.diff(cuts, axis=1, prepend=0, append=total)
        counts[0], counts[1] = 0, 1 << bits
        counts[0, 0] = total
        found = chances_of_tables(*alias_tables(counts, bits), full=1 << bits)
        assert np.array_equal(found * total, counts)


@pytest.mark.parametrize("name", ["shot_noise", "speckle_noise"])
def test_tables_of_levels_hold_the_closed_form(name: str) -> None:
    build = {"shot_noise": noise._shot_table, "speckle_noise": noise._speckle_table}[name]
    for strength in strengths(name):
        table, factor = build(*strength)
        n_columns = table.shape[1]
        thresholds, aliases = (table >> 8).astype(np.int64), (table & 255).astype(np.int64)
        levels = np.arange(n_columns) * factor >> 16
        found, rows = np.zeros((256, 256)), np.arange(256)[:, None]
        outcomes = levels < 256
        assert not thresholds[:, ~outcomes].any()
        np.add.at(found, (rows, levels[outcomes]), thresholds[:, outcomes] / 2**24)
        np.add.at(found, (rows, aliases), 1 - thresholds / 2**24)
        # A chance is rounded to one part in n_columns 2²⁴; the likeliest outcome takes what is left over.
        error = np.abs(found / n_columns - TRANSITIONS[name](*strength))
        assert np.sort(error, axis=1)[:, :-1].max() <= 0.51 / (n_columns << 24)
        assert error.max() <= 0.5 / (1 << 24)


def test_table_of_offsets_holds_the_closed_form() -> None:
    for (sigma,) in strengths("gaussian_noise"):
        table = noise._gaussian_table(sigma)
        thresholds, aliases = (table >> 9).astype(np.int64)[None], (table & 511).astype(np.int64)[None]
        offsets = chances_of_tables(thresholds, aliases, full=1 << 23)[0, :511]
        for level in LEVELS:
            moved = np.bincount(np.clip(level + np.arange(-255, 256), 0, 255), offsets, minlength=256)
            np.testing.assert_allclose(moved, noise.gaussian_transitions(sigma)[level], rtol=0, atol=2**-24)


# reference: Random123's kat_vectors, "philox4x32 7": counter, key, words.
KNOWN = (
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "5f6fb709 0d893f64 4f121f81 4f730a48"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "5207ddc2 45165e59 4d8ee751 8c52f662"),
)


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_words_are_those_of_philox(counter: str, key: str, expected: str) -> None:
    low, high, *rest = (int(word, 16) for word in counter.split())
    whole = np.array([*(int(word, 16) for word in key.split()), *rest], np.uint32)
    words = np.empty(CHUNK, np.uint32)
    fill_words(words, np.uint64(low | high << 32), whole)
    assert [f"{word:08x}" for word in words[::BLOCKS]] == expected.split()


@pytest.mark.parametrize("name", NOISES)
def test_fast_has_the_distribution_in_closed_form(name: str) -> None:
    made = corruptions.get(name)
    least = []
    for strength in strengths(name):
        chances = TRANSITIONS[name](*strength)
        for level in LEVELS:
            image = np.full((224, 448, 3), level, np.uint8)
            least.append(surprise(made.fast(image, rng_for(name, level), strength), chances[level]))
    assert min(least) > 1e-5  # of up to 160 tests


@pytest.mark.parametrize("name", NOISES)
def test_fast_draws_every_level_by_its_own_row(name: str) -> None:
    made = corruptions.get(name)
    image = np.random.default_rng(0).integers(0, 256, (512, 512, 3)).astype(np.uint8)
    for severity in (1, 3, 5):
        strength = made.strength(severity, 224, 224)
        noisy = made.fast(image, rng_for(name, severity), strength)
        chances = TRANSITIONS[name](*strength)
        assert min(surprise(noisy[image == level], chances[level]) for level in range(256)) > 1e-5


@pytest.mark.parametrize("name", NOISES)
def test_neighbours_are_independent(name: str) -> None:
    made = corruptions.get(name)
    width = 256
    noisy = made.fast(np.full((512, width, 3), 120, np.uint8), rng_for(name, 0), made.strength(4, 224, 224))
    values = noisy.ravel().astype(float) - noisy.mean()
    power = (values**2).mean()
    # The neighbouring channel, pixel and row, and the distances at which the generator's words are laid out.
    for lag in (1, 2, 3, 6, 3 * width, 3 * width + 3, BLOCKS, 2 * BLOCKS, CHUNK, 4 * CHUNK):
        correlation = (values[lag:] * values[:-lag]).mean() / power
        assert abs(correlation) < 5 / np.sqrt(values.size - lag), lag
    spectrum = np.abs(np.fft.rfft(values)[1:]) ** 2 / (power * values.size)
    # Of n exponential variables of mean 1 the largest is below ln n + 12 but for 6 in a million.
    assert spectrum.max() < np.log(spectrum.size) + 12


@pytest.mark.parametrize("name", NOISES)
def test_keys_are_independent(name: str) -> None:
    made, image = corruptions.get(name), np.full((128, 128, 3), 120, np.uint8)
    strength = made.strength(4, 224, 224)
    noisy = np.stack([made.fast(image, rng_for(name, key), strength).ravel() for key in range(12)])
    correlations = np.corrcoef(noisy)[np.triu_indices(12, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(image.size)


# What this code gives: a change of any draw must be noticed, and must be the same on every machine.
GOLDEN = {
    "gaussian_noise": "8cc8a85c7fd5c17c",
    "shot_noise": "7e3c0c92c430dc27",
    "impulse_noise": "0026d684674927a1",
    "speckle_noise": "f8f29b4cba010cf4",
}


@pytest.mark.parametrize("name", NOISES)
def test_bytes_never_change(name: str) -> None:
    made = corruptions.get(name)
    image = (np.arange(50 * 70 * 3) * 37 % 256).astype(np.uint8).reshape(50, 70, 3)
    digest = hashlib.blake2b(digest_size=8)
    for severity in range(1, 6):
        digest.update(made.fast(image, rng_for(name, severity, "golden"), made.strength(severity, 224, 224)).tobytes())
    assert digest.hexdigest() == GOLDEN[name]


@pytest.mark.parametrize("name", NOISES)
def test_threads_draw_the_same(name: str) -> None:
    made, image = corruptions.get(name), np.full((64, 64, 3), 99, np.uint8)
    strength = made.strength(3, 64, 64)

    def work(key: int) -> bytes:
        return made.fast(image, rng_for(name, key), strength).tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(16))) == [work(key) for key in range(16)]


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(("height", "width"), [(32, 32), (33, 57), (300, 41)])
def test_input_is_left_alone_whatever_its_size(name: str, height: int, width: int, picture: Callable) -> None:
    made, image = corruptions.get(name), picture(height, width)
    before = image.copy()
    image.flags.writeable = False
    strength = made.strength(5, height, width)
    for noisy in (
        made.fast(image, rng_for(name), strength),
        made.apply(image, made.draw(rng_for(name), height, width, strength), strength),
    ):
        assert (noisy.shape, noisy.dtype) == (image.shape, np.uint8)
        assert not np.array_equal(noisy, image)
        assert np.array_equal(image, before)
    assert np.array_equal(made.fast(image, rng_for(name), strength), made.fast(before, rng_for(name), strength))


def test_black_has_no_speckle_and_no_shot_noise() -> None:
    black = np.zeros((40, 40, 3), np.uint8)
    for name in ("speckle_noise", "shot_noise"):
        assert not corruptions.get(name).fast(black, rng_for(name), corruptions.get(name).strength(5, 224, 224)).any()
