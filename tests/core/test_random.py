"""Keyed randomness: the same key, the same draws, whatever was drawn before; keys that look alike differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from oodometer.core.random import key_words, rng_for

quick = settings(deadline=None, derandomize=True, max_examples=100)
key_parts = st.lists(st.one_of(st.text(max_size=6), st.integers(-5, 1000)), min_size=1, max_size=4).map(tuple)


def test_the_order_of_the_keys_changes_nothing():
    keys = [("snow", severity, f"image {index}") for severity in range(5) for index in range(20)]
    forward = {key: rng_for(*key).random(3).tolist() for key in keys}
    backward = {key: rng_for(*key).random(3).tolist() for key in reversed(keys)}
    assert forward == backward


def test_drawing_from_one_key_does_not_disturb_another():
    alone = rng_for("fog", 1).random(5)
    other, mixed = rng_for("fog", 2), rng_for("fog", 1)
    drawn = []
    for _ in range(5):
        other.random(7)
        drawn.append(mixed.random())
    np.testing.assert_array_equal(drawn, alone)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        (("a", "b"), ("ab",)),
        (("a", "b"), ("b", "a")),
        (("a", ""), ("a",)),
        (("", "a"), ("a", "")),
        (("1:a",), ("1", "a")),
        (("1:a,1:b",), ("a", "b")),
        (("a", 1, 23), ("a", 12, 3)),
        (("a", 1), ("a", -1)),
        (("a", 0), ("a",)),
        (("snow", 3), ("snow", "03")),
    ],
)
def test_keys_that_look_alike_differ(one, other):
    assert key_words(*one, seed=0).tolist() != key_words(*other, seed=0).tolist()
    assert rng_for(*one).random() != rng_for(*other).random()


def test_the_seed_is_not_just_another_part():
    assert rng_for("a", 1, seed=0).random() != rng_for("a", seed=1).random()
    assert rng_for("a", seed=0).random() != rng_for("a", seed=1).random()
    assert rng_for("a").random() == rng_for("a", seed=0).random()


def test_a_number_and_its_digits_are_one_key():
    # By design: a severity may come from a table as text. What differs as text differs as key.
    assert rng_for("snow", 3).random() == rng_for("snow", "3").random()


@quick
@given(key_parts, key_parts, st.integers(0, 3), st.integers(0, 3))
def test_different_keys_have_different_words(one, other, seed, second):
    same = (tuple(map(str, one)), seed) == (tuple(map(str, other)), second)
    assert (key_words(*one, seed=seed).tolist() == key_words(*other, seed=second).tolist()) == same


def test_first_draws_of_many_keys_are_uniform():
    # 20,000 keys that differ in one digit, 50 bins. A right generator fails with probability 0.001 for a seed chosen
    # at random; the keys are fixed, so the test is as well.
    draws = [
        rng_for("gaussian_noise", severity, f"n{image:05d}").random() for severity in (1, 2) for image in range(10_000)
    ]
    counts, _ = np.histogram(draws, bins=50, range=(0, 1))
    assert chisquare(counts).pvalue > 0.001


def test_neighbouring_keys_are_not_correlated():
    draws = np.array([rng_for("snow", image).standard_normal() for image in range(5000)])
    # The correlation of independent draws has a standard deviation of 1 / sqrt(n); 4 of them: p < 1e-4.
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4 / np.sqrt(len(draws))


@pytest.mark.parametrize(
    ("parts", "seed", "words", "raw"),
    # Made without this package, by hashlib and NumPy's Philox alone (its raw stream is fixed by its specification):
    #   text = "4:snow,1:3,11:n01440764/1,1:0,"
    #   key = np.frombuffer(hashlib.blake2b(text.encode(), digest_size=16).digest(), dtype="<u8")
    #   np.random.Philox(key=key).random_raw(2)
    [
        (
            ("snow", 3, "n01440764/1"),
            0,
            [0xC5F3985F90101DE2, 0xDA284C6C3F73AB94],
            [0x44135419A513C131, 0x9C2428A01A2A1C1F],
        ),
        (("",), 0, [0x69DBEA61C91C37E3, 0x9E4C8DD234FE4782], [0x408C73931AC9EBFE, 0xFC30205EFDCABB6E]),
        (("fog", 5, "über"), 12, [0xEA0B4BC0EA4F7A4C, 0x985194644991DAE3], [0x3F6B3C2D8CC6A74C, 0xCE631BB989BFE5FF]),
    ],
)
def test_golden_values(parts, seed, words, raw):
    assert key_words(*parts, seed=seed).tolist() == words
    assert rng_for(*parts, seed=seed).bit_generator.random_raw(2).tolist() == raw
