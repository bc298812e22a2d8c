"""Shorter vectors: never further apart, and as close as the principal components are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.build.testset.shorter_vectors import moving, shortening
from oodometer.core.errors import DataError

quick = settings(deadline=None, derandomize=True, max_examples=40)


def spread(n: int, d: int, seed: int) -> np.ndarray:
    """Vectors whose numbers vary the less the later they come, as the frequencies of a picture do."""
    rng = np.random.default_rng(seed)
    return (5 + rng.normal(size=(n, d)) / np.arange(1, d + 1)).astype(np.float32)


def distances(vectors: np.ndarray) -> np.ndarray:
    vectors = vectors.astype(np.float64)
    return np.linalg.norm(vectors[:, None] - vectors[None], axis=2)


@quick
@given(st.integers(1, 30), st.integers(1, 40), st.integers(1, 20), st.integers(0, 10**6))
def test_no_distance_is_longer(n, d, dimensions, seed):
    vectors = spread(n, d, seed)
    short = shortening(vectors, dimensions).of(vectors)
    assert short.shape == (n, min(d, dimensions))
    assert (distances(short) <= distances(vectors) + 1e-5).all()  # rounding to 32 bits


def test_distances_are_kept_about_as_well_as_by_principal_components():
    vectors = spread(500, 100, seed=0)
    short = shortening(vectors, 8).of(vectors)
    # reference: the singular values of all vectors
    values = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    assert short.var(axis=0).sum() * 500 == pytest.approx(values[:8].sum(), rel=0.01)


def test_equal_vectors_and_none_are_shortened_too():
    same = np.full((4, 100), 3, np.float32)
    assert shortening(same, 8).of(same).tolist() == [[0] * 8] * 4
    assert shortening(same[:0], 8).of(same[:0]).shape == (0, 8)


def test_what_is_short_keeps_its_length_and_moves_to_the_middle():
    vectors = spread(50, 5, seed=1)
    short = shortening(vectors, 8)
    assert short.basis is None
    assert short.of(vectors) == pytest.approx(vectors - vectors.mean(axis=0), abs=1e-6)
    assert moving(vectors).middle == pytest.approx(vectors.mean(axis=0), abs=1e-6)


@pytest.mark.parametrize("dimensions", [8, 30])
def test_nan_is_an_error(dimensions):
    vectors = spread(9, 20, seed=0)
    vectors[6, 3] = np.inf
    with pytest.raises(DataError, match="are NaN or infinite"):
        shortening(np.ones((3, 20), np.float32), dimensions).of(vectors)
