"""Small pictures inside a page."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from oodometer.report.html.thumbnails import every_pixel, thumbnail


def shown(address: str) -> Image.Image:
    head, _, content = address.partition(";base64,")
    image = Image.open(io.BytesIO(base64.b64decode(content, validate=True)))
    assert head == f"data:image/{image.format.lower()}"
    return image


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((32, 32), (128, 128)),
        ((48, 20), (96, 40)),
        ((64, 50), (64, 50)),
        ((500, 375), (128, 96)),
        ((1, 1000), (1, 128)),
    ],
)
def test_at_most_128_pixels(size, expected):
    pixels = np.random.default_rng(0).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    assert shown(thumbnail(pixels)).size == expected


def test_small_ones_keep_every_pixel():
    pixels = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
    image = shown(thumbnail(pixels))
    assert image.format == "PNG"
    np.testing.assert_array_equal(np.asarray(image)[1::4, 1::4], pixels)


def test_photographs_are_small_and_look_alike():
    ramp = np.linspace(0, 255, 400).astype(np.uint8)
    pixels = np.stack([np.tile(ramp, (300, 1)), np.tile(ramp[:300, None], (1, 400)), np.full((300, 400), 90)], axis=2)
    address = thumbnail(pixels.astype(np.uint8))
    assert len(address) < 5000
    expected = np.asarray(Image.fromarray(pixels.astype(np.uint8)).resize((128, 96)), dtype=float)
    assert np.abs(np.asarray(shown(address).convert("RGB"), dtype=float) - expected).mean() < 4


@pytest.mark.parametrize("side", [32, 224])
def test_every_pixel_is_kept(side):
    pixels = np.random.default_rng(0).integers(0, 255, (side, side, 3), dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(shown(every_pixel(pixels)).convert("RGB")), pixels)
