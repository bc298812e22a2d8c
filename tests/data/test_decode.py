import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, features

from oodometer.core.errors import DataError
from oodometer.core.limits import MAX_PIXELS
from oodometer.data.decode import decode, pixels_of


def decoded(content):
    image = decode(content)
    assert image.mode in ("L", "RGB")
    result = pixels_of(image)
    assert result.dtype == np.uint8
    assert result.ndim == 3
    assert result.shape[2] == 3
    return result


def on_white(colours, alpha):
    """The colours over white by the textbook formula, exact in fractions and then rounded."""
    share = alpha[..., None].astype(np.float64) / 255
    return np.rint(colours * share + 255 * (1 - share)).astype(np.uint8)


def png(width, height, depth, colour_type, rows, extra=()):
    """A PNG written by hand, so that the expected pixels do not come from Pillow."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    parts = [chunk(b"IHDR", header), *(chunk(*one) for one in extra), chunk(b"IDAT", data), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_rgb_of_lossless_files_is_exact(encode, pixels):
    colours = pixels()
    for kind, options in (("PNG", {}), ("BMP", {}), ("TIFF", {}), ("WEBP", {"lossless": True}), ("PPM", {})):
        np.testing.assert_array_equal(decoded(encode(colours, kind, **options)), colours)


def test_jpeg_is_what_the_library_decodes(encode, pixels):
    content = encode(pixels(), "JPEG", quality=95)
    np.testing.assert_array_equal(decoded(content), np.asarray(Image.open(io.BytesIO(content)).convert("RGB")))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_grey_has_three_equal_channels(encode, pixels, kind):
    grey = np.full((9, 7), 77, dtype=np.uint8) if kind == "JPEG" else pixels()[:, :, 0]
    np.testing.assert_array_equal(decoded(encode(grey, kind)), np.repeat(grey[:, :, None], 3, axis=2))


def test_one_bit_is_black_and_white(encode, pixels):
    bits = pixels()[:, :, 0] > 127
    expected = np.repeat(np.where(bits, 255, 0).astype(np.uint8)[:, :, None], 3, axis=2)
    np.testing.assert_array_equal(decoded(encode(Image.fromarray(bits))), expected)


def test_sixteen_bits_are_scaled_not_clipped():
    values = np.array([[0, 128, 129, 257, 300], [32768, 40000, 65279, 65535, 1]], dtype=np.uint16)
    content = png(5, 2, 16, 0, [row.astype(">u2").tobytes() for row in values])
    expected = np.rint(values / 257.0).astype(np.uint8)  # 65535 / 255 = 257
    np.testing.assert_array_equal(decoded(content)[:, :, 0], expected)


def test_sixteen_bits_with_a_transparent_value():
    values = np.array([[0, 1000, 1001]], dtype=np.uint16)
    content = png(3, 1, 16, 0, [values.astype(">u2").tobytes()], [(b"tRNS", struct.pack(">H", 1000))])
    assert decoded(content)[0, :, 0].tolist() == [0, 255, 4]


def test_sixteen_bit_tiff(encode):
    values = np.array([[0, 65535], [25700, 51400]], dtype=np.uint16)
    assert decoded(encode(values, "TIFF"))[:, :, 1].tolist() == [[0, 255], [100, 200]]


def test_sixteen_bit_colours_keep_the_high_byte():
    values = np.array([[[0x1234, 0xFFFF, 0x0000], [0x8000, 0x00FF, 0x7FFF]]], dtype=np.uint16)
    content = png(2, 1, 16, 2, [values[0].astype(">u2").tobytes()], [(b"tRNS", struct.pack(">HHH", 300, 300, 300))])
    np.testing.assert_array_equal(decoded(content), (values >> 8).astype(np.uint8))


def test_thirty_two_bits_and_floats_are_refused(encode):
    assert_broken(encode(np.array([[0, 70000]], dtype=np.int32), "TIFF"), "32 bits")
    assert_broken(encode(np.array([[0, 0.5]], dtype=np.float32), "TIFF"), "floating-point")


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_alpha_is_put_on_white(encode, pixels, kind):
    colours, alpha = pixels(), pixels(1)[:, :, 0]
    alpha[0], alpha[1] = 0, 255
    options = {"lossless": True, "exact": True} if kind == "WEBP" else {}
    result = decoded(encode(np.dstack([colours, alpha]), kind, **options)).astype(int)
    assert np.abs(result - on_white(colours, alpha)).max() <= 1
    assert (result[0] == 255).all()
    np.testing.assert_array_equal(result[1], colours[1])


def test_grey_with_alpha(encode, pixels):
    grey, alpha = pixels()[:, :, 0], pixels(1)[:, :, 0]
    image = Image.merge("LA", [Image.fromarray(grey), Image.fromarray(alpha)])
    expected = on_white(np.repeat(grey[:, :, None], 3, axis=2), alpha).astype(int)
    assert np.abs(decoded(encode(image)) - expected).max() <= 1


def palette_image(indices, colours):
    image = Image.fromarray(indices)
    image.putpalette(colours.astype(np.uint8).tobytes())
    return image


def test_palette(encode, pixels):
    colours = pixels().reshape(-1, 3)[:8]
    indices = pixels(2)[:, :, 0] % 8
    for kind in ("PNG", "GIF"):
        np.testing.assert_array_equal(decoded(encode(palette_image(indices, colours), kind)), colours[indices])


def test_palette_with_one_transparent_colour(encode, pixels):
    colours = pixels().reshape(-1, 3)[:8]
    indices = pixels(2)[:, :, 0] % 8
    content = encode(palette_image(indices, colours), transparency=3)
    np.testing.assert_array_equal(decoded(content), np.where(indices[:, :, None] == 3, 255, colours[indices]))


def test_palette_with_half_transparent_colours(encode, pixels):
    colours, alphas = pixels().reshape(-1, 3)[:4], np.array([0, 100, 200, 255], dtype=np.uint8)
    indices = pixels(2)[:, :, 0] % 4
    content = encode(palette_image(indices, colours), transparency=alphas.tobytes())
    expected = on_white(colours[indices], alphas[indices]).astype(int)
    assert np.abs(decoded(content) - expected).max() <= 1


def test_a_transparent_colour_of_plain_pixels(encode):
    colours = np.array([[[10, 20, 30], [10, 20, 31]]], dtype=np.uint8)
    assert decoded(encode(colours, transparency=(10, 20, 30))).tolist() == [[[255, 255, 255], [10, 20, 31]]]


def test_cmyk(encode):
    inks = np.zeros((8, 8, 4), dtype=np.uint8)
    inks[:, :, 0], inks[:, :, 3] = 255, 51
    # closed form: channel = (255 - ink) (255 - black) / 255; JPEG may be off by a little
    expected = np.array([0, 204, 204])
    for kind in ("JPEG", "TIFF"):
        content = encode(Image.frombytes("CMYK", (8, 8), inks.tobytes()), kind)
        assert np.abs(decoded(content).astype(int) - expected).max() <= 3


# Where the top left pixel and its right neighbour of the upright picture lie in the stored one (EXIF 2.3, 4.6.4 A).
UPRIGHT = {
    1: lambda stored: stored,
    2: lambda stored: stored[:, ::-1],
    3: lambda stored: stored[::-1, ::-1],
    4: lambda stored: stored[::-1],
    5: lambda stored: stored.transpose(1, 0, 2),
    6: lambda stored: stored[::-1].transpose(1, 0, 2),
    7: lambda stored: stored[::-1, ::-1].transpose(1, 0, 2),
    8: lambda stored: stored[:, ::-1].transpose(1, 0, 2),
}


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF", "JPEG"])
def test_exif_rotation(encode, pixels, kind, orientation):
    colours = pixels()
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if kind == "WEBP" else {}
    stored = pixels_of(decode(encode(colours, kind, **options))) if kind == "JPEG" else colours
    content = encode(colours, kind, exif=exif, **options)
    np.testing.assert_array_equal(decoded(content), UPRIGHT[orientation](stored))


def test_corrupt_exif_is_no_reason_to_complain(encode):
    content = encode(0, "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\x05\0\x12\x01\x03\0\xff\xff\xff\x7f\xff\xff")
    assert decoded(content).shape == (12, 16, 3)


def test_the_first_frame_counts(encode, pixels):
    frames = [Image.fromarray(pixels(seed)) for seed in range(2)]
    content = encode(frames[0], "PNG", save_all=True, append_images=frames[1:])
    np.testing.assert_array_equal(decoded(content), pixels(0))


def assert_broken(content, reason):
    with pytest.raises(DataError, match=reason) as caught:
        decode(content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_file_cut_short_is_an_error(encode, pixels, kind, kept):
    content = encode(pixels(0, 64, 64), kind)
    assert_broken(content[: int(len(content) * kept)], "damaged|not an image")


@pytest.mark.parametrize("content", [b"", b"hello", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF\4\0\0\0WEBP"])
def test_what_is_no_image_is_an_error(content):
    assert_broken(content, "empty|not an image|damaged")


def test_a_decompression_bomb_is_an_error():
    side = int(MAX_PIXELS**0.5) + 1
    assert_broken(png(side, side, 1, 0, []), "decompression bomb")


def test_large_pictures_do_not_warn(encode, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    assert decoded(encode(0)).shape == (12, 16, 3)


def test_postscript_is_never_run(encode):
    assert_broken(encode(0, "EPS"), "not an image")


def test_avif(encode):
    if "avif" not in features.modules or not features.check("avif"):
        pytest.skip("this Pillow reads no AVIF")
    assert decoded(encode(0, "AVIF")).shape == (12, 16, 3)
