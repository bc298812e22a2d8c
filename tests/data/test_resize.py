import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from oodometer.core.errors import DataError
from oodometer.core.preprocessing import INTERPOLATIONS, Geometry
from oodometer.data.decode import decode
from oodometer.data.resize import as_view, resized_size


def by_the_book(image, view):
    """Pillow on the whole image, and torchvision's functional.resize and center_crop, spelled out."""
    image = image.convert("RGB")
    width, height = image.size
    if view.resize is None:
        return np.asarray(image.resize((view.width, view.height), Image.Resampling[view.interpolation.upper()]))
    short, long = (width, height) if width <= height else (height, width)
    new_short, new_long = view.resize, int(view.resize * long / short)
    size = (new_short, new_long) if width <= height else (new_long, new_short)
    if size != image.size:
        image = image.resize(size, Image.Resampling[view.interpolation.upper()])
    left = int(round((size[0] - view.width) / 2.0))  # noqa: RUF046
    top = int(round((size[1] - view.height) / 2.0))  # noqa: RUF046
    return np.asarray(image.crop((left, top, left + view.width, top + view.height)))


@st.composite
def views(draw):
    height, width = draw(st.integers(1, 60)), draw(st.integers(1, 60))
    resize = draw(st.none() | st.integers(max(height, width), 90) | st.just(64))
    return Geometry(height, width, resize=resize, interpolation=draw(st.sampled_from(INTERPOLATIONS)))


@given(
    width=st.integers(1, 200),
    height=st.integers(1, 200),
    mode=st.sampled_from(["L", "RGB"]),
    view=views(),
    seed=st.integers(0, 100),
)
@example(width=48, height=150, mode="RGB", view=Geometry(24, 24, resize=32), seed=0)  # Pillow 13: vertical pass first
@example(width=1, height=101, mode="L", view=Geometry(8, 8, resize=9), seed=0)
@example(width=72, height=108, mode="RGB", view=Geometry(56, 56, resize=64, interpolation="lanczos"), seed=0)
@settings(deadline=None, derandomize=True, max_examples=400)
def test_bit_identical_to_the_whole_image(width, height, mode, view, seed):
    shape = (height, width) if mode == "L" else (height, width, 3)
    image = Image.fromarray(np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8))
    result = as_view(image, view)
    assert result.shape == (view.height, view.width, 3)
    np.testing.assert_array_equal(result, by_the_book(image, view))


@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize(("resize", "crop"), [(256, 224), (292, 260), (235, 224)])
def test_bit_identical_on_photographs(imagenet_sample, interpolation, resize, crop):
    view = Geometry(crop, crop, resize=resize, interpolation=interpolation)
    for path in sorted(imagenet_sample.glob("*/*.jpg"))[::40]:
        image = decode(path.read_bytes())
        np.testing.assert_array_equal(as_view(image, view), by_the_book(image, view))


def test_no_resampling_where_the_size_is_right(pixels):
    colours = pixels(0, 32, 50)
    np.testing.assert_array_equal(as_view(Image.fromarray(colours), Geometry(32, 32, resize=32)), colours[:, 9:41])
    np.testing.assert_array_equal(as_view(Image.fromarray(colours), Geometry(32, 50)), colours)


def test_the_longer_side_is_rounded_down():
    assert resized_size((500, 333), Geometry(224, 224, resize=256)) == (384, 256)
    assert resized_size((333, 500), Geometry(224, 224, resize=256)) == (256, 384)


def test_the_result_may_be_written_to(pixels):
    as_view(Image.fromarray(pixels()), Geometry(8, 8))[:] = 0


def test_a_sliver_that_would_fill_the_memory_is_refused():
    with pytest.raises(DataError, match="too many"):
        as_view(Image.new("L", (1, 9000)), Geometry(224, 224, resize=256))
