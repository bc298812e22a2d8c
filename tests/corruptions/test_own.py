"""A user's own corruption is one decorated function."""

from __future__ import annotations

import numpy as np
import pytest

import oodometer as odo
from oodometer.corruptions.registry import corruption, corruptions


def test_a_decorated_function_is_a_corruption() -> None:
    @corruption("stripes_of_this_test", strengths=((1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4), (5, 0.5)))
    def stripes(image: np.ndarray, width: float, share: float, rng: np.random.Generator) -> np.ndarray:
        image[:: int(width) + 1] = rng.integers(0, 255)
        return image

    assert "stripes_of_this_test" in corruptions.names()
    image = odo.sample_image(40, 40)
    before = image.copy()
    made = odo.corrupt(image, "stripes_of_this_test", severity=2, key="a")
    np.testing.assert_array_equal(image, before)
    np.testing.assert_array_equal(made, odo.corrupt(image, "stripes_of_this_test", severity=2, key="a"))
    assert (made[::3] == made[0, 0, 0]).all()


def test_five_strengths_are_wanted() -> None:
    with pytest.raises(odo.UsageError, match="3 strengths; give one for each severity"):
        corruption("too_few", strengths=(1, 2, 3))
