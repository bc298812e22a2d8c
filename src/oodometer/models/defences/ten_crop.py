"""Ten crops: the four corners and the centre, and their mirror images; the mean of the ten probability vectors.

The crops are cut from what the model is shown, enlarged by 8/7: so it is for files of ImageNet-C, whose 224 px are
enlarged to 256, and so it is for clean images here too. Cut from a wider view of the clean image, as is usual there,
the clean side would be seen at another scale than the corrupted one, which has no wider view.
"""

from __future__ import annotations

import numpy as np

from oodometer.core.model import Forward
from oodometer.core.preprocessing import Geometry
from oodometer.data.resize import plain_resize
from oodometer.models.defences.registry import Answer, Defence

ENLARGED = 256 / 224


def answers_to_crops(forward: Forward, images: np.ndarray) -> np.ndarray:
    """The logarithm of the mean probability over ten crops, (N, H, W, 3) uint8 -> (N, K) float32."""
    # One crop of all images at a time: ten times the memory would be needed for all at once.
    logs = [_log_softmax(forward(crop)) for crop in _crops_of(images)]
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(logs)), dtype=np.float32)


def answers_to_crop(number: int) -> Answer:
    """The model's answers to one of the ten crops, by number from 1."""

    def answer(forward: Forward, images: np.ndarray) -> np.ndarray:
        return forward(_crops_of(images)[number - 1])

    return answer


def _crops_of(images: np.ndarray) -> list[np.ndarray]:
    """The ten crops of images that are enlarged first, (N, H, W, 3) each."""
    height, width = images.shape[1:3]
    wide = Geometry(round(height * ENLARGED), round(width * ENLARGED))
    return ten_crops(np.stack([plain_resize(image, wide) for image in images]), height, width)


def ten_crops(images: np.ndarray, height: int, width: int) -> list[np.ndarray]:
    """Top left, top right, bottom left, bottom right, centre, then the mirror images of these, (N, h, w, 3) each."""
    down, across = images.shape[1] - height, images.shape[2] - width
    places = [(0, 0), (0, across), (down, 0), (down, across), (round(down / 2), round(across / 2))]
    crops = [images[:, top : top + height, left : left + width] for top, left in places]
    return [np.ascontiguousarray(crop) for crop in (*crops, *(crop[:, :, ::-1] for crop in crops))]


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


HOW = "256/224, bilinear"
TEN_CROP = Defence({"crops": 10, "enlarged": HOW}, answers_to_crops)

# Adversarial filtration asks whether any single crop is answered rightly, which the mean does not tell.
CROP_1, CROP_2, CROP_3, CROP_4, CROP_5, CROP_6, CROP_7, CROP_8, CROP_9, CROP_10 = (
    Defence({"crop": number, "enlarged": HOW}, answers_to_crop(number)) for number in range(1, 11)
)
