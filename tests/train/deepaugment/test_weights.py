"""Distortions of weights: each against a plain loop over filters, kernels and entries that draws the same numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from oodometer.core.random import rng_for
from oodometer.train.augment.deepaugment.weights import weight_distortions

N_OUT, N_IN = 6, 6
WEIGHT = np.random.default_rng(0).normal(size=(N_OUT, N_IN, 3, 3)).astype(np.float32)
BIAS = np.random.default_rng(1).normal(size=N_OUT).astype(np.float32)


def gelu(value):
    """x times the normal distribution function."""
    return value * 0.5 * (1 + math.erf(value / math.sqrt(2)))


def by_entry(change):
    """Change every entry of the weight by its place and value, in a plain loop."""
    made = np.zeros_like(WEIGHT)
    for place in np.ndindex(*WEIGHT.shape):
        made[place] = change(place, float(WEIGHT[place]))
    return made


def convolved(kernels):
    """Each filter as an image of channels through kernels (in, in, 3, 3), zeros around it."""
    made = np.zeros_like(WEIGHT)
    for out in range(N_OUT):
        wide = np.pad(WEIGHT[out], ((0, 0), (1, 1), (1, 1)))
        for channel, row, column in np.ndindex(N_IN, 3, 3):
            made[out, channel, row, column] = (wide[:, row : row + 3, column : column + 3] * kernels[channel]).sum()
    return made


def drawn_filters(rng, share):
    return {int(one) for one in rng.integers(N_OUT, size=max(1, round(share * N_OUT)))}


def some(rng, share, change):
    chosen = drawn_filters(rng, share)
    weight = by_entry(lambda place, value: change(value) if place[0] in chosen else value)
    bias = np.array([change(float(one)) if place in chosen else one for place, one in enumerate(BIAS)])
    return weight, bias


def turned(kernel, times):
    for _ in range(times):
        kernel = [[kernel[column][2 - row] for column in range(3)] for row in range(3)]
    return kernel


def shifts(rng):
    kernels = np.zeros((N_IN, N_IN, 3, 3))
    for channel in range(N_IN):
        row, column = rng.integers(3, size=2)
        kernels[:, channel, row, column] = rng.choice([1.0, -1.0])
    return convolved(kernels), BIAS


def rotated(rng):
    times, of_table = int(rng.integers(1, 4)), bool(rng.integers(2))
    if of_table:
        table = WEIGHT
        for _ in range(times):
            table = np.array([[table[column, N_IN - 1 - row] for column in range(N_OUT)] for row in range(N_IN)])
        return table, BIAS
    return np.array([[turned(kernel, times) for kernel in one] for one in WEIGHT]), BIAS


def largest(_):
    made = np.zeros_like(WEIGHT)
    for out, channel in np.ndindex(N_OUT, N_IN):
        best = max(np.ndindex(3, 3), key=lambda place: WEIGHT[out, channel][place])
        made[out, channel][best] = WEIGHT[out, channel][best]
    return made, BIAS


def uniform(rng):
    return rng.random(WEIGHT.shape, dtype=np.float32)


def gains(rng, most):
    strength = rng.random()
    drawn = uniform(rng)
    return by_entry(lambda place, value: value * (1 + most * strength * drawn[place])), BIAS


def masked(rng, low):
    drawn = uniform(rng)
    return by_entry(lambda place, value: value if drawn[place] > 0.5 else low * value), BIAS


def noise_kernels(rng):
    strength = rng.random()
    return convolved((2 * strength * rng.random((N_IN, N_IN, 3, 3), dtype=np.float32) - 1) / 6), BIAS


def added(rng):
    drawn = uniform(rng)
    return by_entry(lambda place, value: value + drawn[place] - 0.5), BIAS


LAPLACIAN = [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
EDGE = [[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]]

REFERENCES = {
    "reverse_channels": lambda _: (by_entry(lambda p, _v: WEIGHT[N_OUT - 1 - p[0], p[1], p[2], p[3]]), BIAS[::-1]),
    "negate": lambda _: (by_entry(lambda _p, v: -v), -BIAS),
    "negate_weight": lambda _: (by_entry(lambda _p, v: -v), BIAS),
    "zero": lambda _: (np.zeros_like(WEIGHT), 0 * BIAS),
    "minus_gelu": lambda _: (by_entry(lambda _p, v: -gelu(v)), BIAS),
    "laplacian": lambda _: (by_entry(lambda p, v: v * LAPLACIAN[p[2]][p[3]]), BIAS),
    "edge": lambda _: (by_entry(lambda p, v: v * EDGE[p[2]][p[3]]), BIAS),
    "gain": lambda rng: gains(rng, 4),
    "strong_gain": lambda rng: gains(rng, 8),
    "flip_columns": lambda _: (by_entry(lambda p, _v: WEIGHT[p[0], p[1], p[2], 2 - p[3]]), BIAS),
    "random_shifts": shifts,
    "noisy_kernels": noise_kernels,
    "dirichlet_kernels": lambda rng: (
        convolved(rng.dirichlet([0.1] * 9, size=(N_IN, N_IN)).reshape(N_IN, N_IN, 3, 3)),
        BIAS,
    ),
    "add_noise": added,
    "rotate": rotated,
    "rotate_kernels": lambda rng: (
        (lambda times: np.array([[turned(k, times) for k in one] for one in WEIGHT]))(int(rng.integers(1, 4))),
        BIAS,
    ),
    "random_signs": lambda rng: masked(rng, -1),
    "random_mask": lambda rng: masked(rng, 0),
    "mask_or_signs": lambda rng: masked(rng, 0) if rng.random() < 0.5 else masked(rng, -1),
    "negate_half": lambda rng: (some(rng, 0.5, lambda v: -v)[0], BIAS),
    "negate_fifth": lambda rng: (some(rng, 0.2, lambda v: -v)[0], BIAS),
    "negate_some": lambda rng: some(rng, 12 / 128, lambda v: -v),
    "zero_some": lambda rng: some(rng, 25 / 128, lambda _v: 0.0),
    "minus_gelu_some": lambda rng: some(rng, 25 / 128, lambda v: -gelu(v)),
    "keep_largest": largest,
}


def test_every_distortion_has_a_reference():
    assert sorted(REFERENCES) == weight_distortions.names()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_against_a_plain_loop(name, seed):
    weight, bias = torch.from_numpy(WEIGHT.copy()), torch.from_numpy(BIAS.copy())
    made, made_bias = weight_distortions.get(name)(weight, bias, rng_for("test", seed=seed))
    expected, expected_bias = REFERENCES[name](rng_for("test", seed=seed))
    np.testing.assert_allclose(made.numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(made_bias.numpy(), expected_bias, atol=1e-6)
    assert np.array_equal(weight.numpy(), WEIGHT), "what it is given stays as it was"
    assert np.array_equal(bias.numpy(), BIAS)


@pytest.mark.parametrize("name", sorted(REFERENCES))
@pytest.mark.parametrize("shape", [(8, 3, 5, 5), (4, 7, 1, 1), (1, 1, 3, 3)])
def test_convolutions_of_any_shape_without_bias(name, shape):
    weight = torch.ones(shape)
    made, bias = weight_distortions.get(name)(weight, None, rng_for("test"))
    assert (made.shape, bias) == (weight.shape, None)


def test_a_larger_kernel_has_the_laplacian_in_its_middle():
    made, _ = weight_distortions.get("laplacian")(torch.ones(1, 1, 5, 5), None, rng_for("test"))
    assert np.array_equal(made[0, 0].numpy(), np.pad(LAPLACIAN, 1))
