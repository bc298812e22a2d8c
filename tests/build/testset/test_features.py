"""Vectors of images: what they may be."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.build.testset.features import Features
from oodometer.core.errors import UsageError

TWO = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_the_mirror_by_order_and_by_vectors():
    by_order = Features(TWO, mirror_order=np.array([2, 1, 0]))
    assert by_order.in_mirror(np.array([1, 0])).tolist() == [[5, 4, 3], [2, 1, 0]]
    by_vectors = Features(TWO, mirrored=TWO + 1)
    assert by_vectors.in_mirror(slice(1, 2)).tolist() == [[4, 5, 6]]
    assert len(by_order) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"vectors": TWO[0]}, r"features of shape \(3,\) and type float32: expected \(N, D\) float32"),
        ({"vectors": TWO.astype(np.float64)}, "type float64: expected"),
        ({"vectors": TWO, "mirrored": TWO[:1]}, r"mirrored features of shape \(1, 3\)"),
        ({"vectors": TWO, "mirrored": TWO.astype(np.float16)}, r"expected \(2, 3\) float32"),
        ({"vectors": TWO, "mirror_order": np.array([0, 1, 1])}, "each of the 3 places once"),
        ({"vectors": TWO, "mirror_order": np.array([1, 2, 0])}, "and twice mirrored be as it was"),
        ({"vectors": TWO, "mirror_order": np.arange(3), "mirrored": TWO}, "not both"),
    ],
)
def test_what_is_no_vector_of_an_image_is_an_error(given, message):
    with pytest.raises(UsageError, match=message):
        Features(**given)


def test_an_unknown_mirror_is_an_error():
    with pytest.raises(UsageError, match="don't say how the images look in a mirror"):
        Features(TWO).in_mirror(slice(None))
