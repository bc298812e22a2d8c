"""Distortions of activations: each against a plain loop over channels and positions that draws the same numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from oodometer.core.random import rng_for
from oodometer.train.augment.deepaugment.activations import BODY, BOTTLENECK, HEAD, activation_distortions

N, HEIGHT, WIDTH = 12, 5, 4
VALUES = np.random.default_rng(0).uniform(-1, 1, size=(N, HEIGHT, WIDTH)).astype(np.float32)


def gelu(value):
    return value * 0.5 * (1 + math.erf(value / math.sqrt(2)))


def by_value(change):
    made = np.zeros_like(VALUES)
    for place in np.ndindex(*VALUES.shape):
        made[place] = change(place, float(VALUES[place]))
    return made


def moved(channel, row, column):
    """A channel of which each position shows its neighbour, 0 to 2 standing for -1 to 1; zeros come in."""
    wide = np.pad(VALUES[channel], 1)
    return wide[row : row + HEIGHT, column : column + WIDTH]


def copied(rng):
    made = VALUES.copy()
    for target, source in rng.integers(N, size=(5, 2)):
        made[target] = made[source]
    return made


def uniform(rng, shape):
    return rng.random(shape, dtype=np.float32)


def flipped_some(rng):
    sides = ((0,), (1,), (0, 1))[int(rng.integers(3))]
    made = VALUES.copy()
    for channel in rng.integers(N, size=5):
        made[channel] = np.flip(made[channel], sides)
    return made


def noisy(rng):
    kernels = (uniform(rng, (N, N, 3, 3)) - 0.5) * 0.2
    made = VALUES.copy()
    for out, channel, row, column in np.ndindex(N, N, 3, 3):
        made[out] += kernels[out, channel, row, column] * moved(channel, row, column)
    return made


def tapped(rng):
    made = VALUES.copy()
    for channel in range(N):
        if rng.random() < 0.5:
            other = int(rng.integers(N))
            row, column = rng.integers(3, size=2)
            if (other, row, column) != (channel, 1, 1):  # which is there already
                made[channel] += moved(other, row, column)
    return made


def shifted(rng):
    row, column = rng.integers(3, size=2)
    made = np.zeros_like(VALUES)
    for channel in range(N):
        if rng.random() < 0.2:
            row, column = rng.integers(3, size=2)
        made[channel] = moved(channel, row, column)
    return made


def scaled(rng):
    strength = rng.random()
    drawn = uniform(rng, VALUES.shape)
    return by_value(lambda p, v: v * (3 + 4 * strength * drawn[p]))


def at_positions(rng, share, otherwise):
    drawn = uniform(rng, (HEIGHT, WIDTH))
    return by_value(lambda p, v: v if drawn[p[1:]] > share else otherwise * v)


def at_values(rng, share, otherwise):
    drawn = uniform(rng, VALUES.shape)
    return by_value(lambda p, v: v if drawn[p] >= share else otherwise * v)


REFERENCES = {
    "none": lambda _: VALUES,
    "copy_channels": copied,
    "keep_most": lambda rng: at_values(rng, 0.05, 0),
    "flip_signs": lambda rng: at_values(rng, 0.025, -1),
    "negate": lambda _: by_value(lambda _p, v: -v),
    "relu_or_gelu": lambda rng: by_value(
        (lambda is_relu: lambda _p, v: max(v, 0.0) if is_relu else gelu(v))(rng.integers(3) == 1)
    ),
    "flip": lambda rng: VALUES[::-1, ::-1] if rng.integers(3) == 1 else VALUES[::-1, :, ::-1],
    "scale": scaled,
    "zero_positions": lambda rng: at_positions(rng, 0.2, 0),
    "negate_positions": lambda rng: at_positions(rng, 0.1, -1),
    "permute_channels": lambda rng: np.stack([*(VALUES[one] for one in rng.permutation(10)), *VALUES[10:]]),
    "flip_some_channels": flipped_some,
    "flip_all_channels": lambda rng: np.flip(VALUES, ((1,), (2,), (1, 2))[int(rng.integers(3))]),
    "noisy_identity": noisy,
    "extra_taps": tapped,
    "shift_channels": shifted,
}


def test_every_distortion_has_a_reference_and_a_place():
    assert sorted(REFERENCES) == activation_distortions.names()
    assert set(REFERENCES) | {"skip"} == {*HEAD, *BODY, *BOTTLENECK}
    assert (len(HEAD), len(BODY), len(BOTTLENECK)) == (4, 5, 9)  # as many as in the release


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_against_a_plain_loop(name, seed):
    values = torch.from_numpy(VALUES.copy())
    made = activation_distortions.get(name)(values, rng_for("test", seed=seed))
    np.testing.assert_allclose(made.numpy(), REFERENCES[name](rng_for("test", seed=seed)), atol=1e-5)
    assert np.array_equal(values.numpy(), VALUES), "what it is given stays as it was"


@pytest.mark.parametrize("name", sorted(REFERENCES))
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 2, 7), (64, 3, 3)])
def test_any_shape(name, shape):
    assert activation_distortions.get(name)(torch.ones(shape), rng_for("test")).shape == shape
