"""Pixels to PNG files and back, and pictures of other sizes."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from oodometer.build.icons.pictures import draw, pixels_of_png, png_of


@pytest.mark.parametrize("side", [1, 32, 64, 224])
def test_what_is_written_is_read_again(side: int) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    content = png_of(pixels)
    image = Image.open(io.BytesIO(content))
    image.verify()
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(content))), pixels)
    assert len(content) < 3 * side * side + side + 150


def test_the_bytes_are_those_of_the_standard() -> None:
    content = png_of(np.full((1, 1, 3), 255, np.uint8))
    # By hand, from RFC 1950, RFC 1951 and the PNG specification: one stored block with the filter 0 and three bytes.
    stored = (
        b"\x78\x01" + b"\x01\x04\x00\xfb\xff" + b"\0\xff\xff\xff" + zlib.adler32(b"\0\xff\xff\xff").to_bytes(4, "big")
    )
    assert content[41 : 41 + len(stored)] == stored
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert content.endswith(b"\0\0\0\0IEND\xaeB`\x82")


def test_pictures_of_another_size() -> None:
    pixels = np.zeros((64, 64, 4), np.uint8)
    pixels[:, 1::2] = (0, 0, 0, 255)
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    halved = pixels_of_png(target.getvalue(), 32)
    # Each pixel is the mean of two white and two black ones.
    assert halved.shape == (32, 32, 3)
    assert set(np.unique(halved)) <= {127, 128}
    assert pixels_of_png(target.getvalue(), 224).shape == (224, 224, 3)
    assert pixels_of_png(target.getvalue(), 64)[0, 0].tolist() == [255, 255, 255]


def test_what_can_not_be_drawn_is_one_line(error_of: Callable[..., str]) -> None:
    pytest.importorskip("resvg_py")
    assert "can't be drawn" in error_of(lambda: draw("<svg", 32))
