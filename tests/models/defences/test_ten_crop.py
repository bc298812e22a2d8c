"""Ten crops: where they are, and that their mean is one of probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from oodometer.models.defences.ten_crop import answers_to_crops, ten_crops


def test_the_places_of_the_crops():
    image = np.arange(6 * 8).reshape(1, 6, 8, 1).astype(np.uint8)
    corners = [(0, 0), (0, 4), (3, 0), (3, 4), (2, 2)]  # by hand; half of 3 goes to the even number
    crops = ten_crops(image, 3, 4)
    for crop, (top, left) in zip(crops[:5], corners, strict=True):
        assert (crop == image[:, top : top + 3, left : left + 4]).all()
    for mirrored, crop in zip(crops[5:], crops[:5], strict=True):
        assert (mirrored == crop[:, :, ::-1]).all()


def test_the_answer_is_the_logarithm_of_the_mean_probability():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (3, 14, 14, 3), dtype=np.uint8)
    weights = rng.normal(size=(14 * 14 * 3, 5)) / 200

    def forward(batch: np.ndarray) -> np.ndarray:
        assert batch.shape == (3, 14, 14, 3)
        return (batch.reshape(len(batch), -1) @ weights).astype(np.float32)

    expected = np.zeros((3, 5))
    for at, image in enumerate(images):
        wide = np.asarray(Image.fromarray(image).resize((16, 16), Image.Resampling.BILINEAR))  # 14 x 8 / 7
        for top, left in [(0, 0), (0, 2), (2, 0), (2, 2), (1, 1)]:
            crop = wide[top : top + 14, left : left + 14]
            for shown in (crop, crop[:, ::-1]):
                logits = shown.reshape(-1) @ weights
                expected[at] += np.exp(logits) / np.exp(logits).sum() / 10
    found = answers_to_crops(forward, images)
    assert found.dtype == np.float32
    assert np.exp(found) == pytest.approx(expected, rel=1e-4)
    assert np.exp(found).sum(axis=1) == pytest.approx(1, rel=1e-5)


def test_an_impossible_class_stays_finite():
    found = answers_to_crops(lambda batch: np.tile([0.0, -900.0], (len(batch), 1)), np.zeros((2, 7, 7, 3), np.uint8))
    assert found == pytest.approx(np.array([[0.0, -900.0]] * 2))
