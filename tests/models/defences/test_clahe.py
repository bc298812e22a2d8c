"""CLAHE, held against OpenCV."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image

from oodometer.models.defences.clahe import equalised, equalised_grey, luma_of


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """A smooth picture with noise on it: dark and bright places, and all levels."""
    rng = np.random.default_rng(seed)
    few = Image.fromarray(rng.integers(0, 256, (5, 5, 3), dtype=np.uint8))
    smooth = np.asarray(few.resize((width, height), Image.Resampling.BICUBIC)).astype(np.float64)
    return np.clip(smooth + rng.normal(0, 12, smooth.shape), 0, 255).astype(np.uint8)


SIZES = [(224, 224), (32, 32), (64, 80), (37, 224), (224, 37), (30, 33), (9, 9), (8, 16)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_channel_is_as_by_opencv_to_the_last_bit(size):
    grey = picture(*size)[..., 0]
    # reference: OpenCV with its defaults, said here in full
    expected = cv2.createCLAHE(clipLimit=40.0, tileGridSize=(8, 8)).apply(grey)
    assert (equalised_grey(grey) == expected).all()


@pytest.mark.parametrize("seed", range(3))
def test_colours_are_as_by_opencv_s_ycrcb_but_for_its_rounding(seed):
    image = picture(96, 120, seed)
    channels = cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb)
    assert (luma_of(image) == channels[..., 0]).all()
    channels[..., 0] = cv2.createCLAHE(clipLimit=40.0, tileGridSize=(8, 8)).apply(channels[..., 0])
    expected = cv2.cvtColor(channels, cv2.COLOR_YCrCb2RGB).astype(int)
    # on the way to Cr and Cb and back a channel is rounded twice
    assert np.abs(equalised(image).astype(int) - expected).max() <= 2


def test_a_dull_image_gets_contrast_and_grey_stays_grey():
    dull = (100 + picture(64, 64) // 10).astype(np.uint8)
    assert equalised(dull).std() > 3 * dull.std()
    grey = np.repeat(picture(64, 64)[..., :1], 3, axis=2)
    assert (np.ptp(equalised(grey), axis=2) == 0).all()


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (3, 2)], ids=str)
def test_any_size_will_do(size):
    assert equalised(picture(*size)).shape == (*size, 3)
