"""One image as it is and under every shift."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.data.resize import as_view
from oodometer.sheets.page import LINE, MARGIN
from oodometer.shifts.imagenet_c import CANONICAL


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    Image.fromarray(odo.sample_image(300, 260)).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def drawn(photo: Path, *on: str, **options: object) -> np.ndarray:
    made = odo.sheet(photo, photo.with_name("sheet.png"), on=on, options=odo.SheetOptions(force=True, **options))
    with Image.open(made.path) as sheet:
        assert sheet.size == made.pixels
        return np.asarray(sheet.convert("RGB"))


def test_the_very_pixels_that_a_model_is_asked_about_clean_first(photo: Path) -> None:
    sheet = drawn(photo, "imagenet-c:raw/pixelate/1", "imagenet-c:raw/pixelate/5", seed=3)
    clean = as_view(Image.open(photo), CANONICAL)
    made = [clean, *(odo.corrupt(clean, "pixelate", severity, key="photo", seed=3) for severity in (1, 5))]
    top = MARGIN + 2 * LINE
    for place, pixels in enumerate(made):
        left = MARGIN + place * (224 + MARGIN)
        np.testing.assert_array_equal(sheet[top : top + 224, left : left + 224], pixels)
        assert (sheet[: MARGIN + LINE, left : left + 224] < 255).any()  # above each column stands which it is
    assert sheet.shape[1] == 3 * (224 + MARGIN) + MARGIN


def test_small_images_are_enlarged_by_a_whole_number(photo: Path) -> None:
    sheet = drawn(photo, "cifar-10-c/contrast/1")
    top = MARGIN + 2 * LINE
    block = sheet[top : top + 96, MARGIN : MARGIN + 96]  # 32 px three times
    np.testing.assert_array_equal(block, block[::3, ::3].repeat(3, axis=0).repeat(3, axis=1))


def test_corruptions_are_rows_and_many_rows_are_two_blocks(photo: Path) -> None:
    few = drawn(photo, "imagenet-c/contrast", "imagenet-c/brightness", side=32)
    many = drawn(photo, *(f"imagenet-c/{name}/1" for name in ("contrast", "brightness", "pixelate", "fog")), side=32)
    more = drawn(photo, "imagenet-c-extra", "imagenet-c/contrast", "imagenet-c/brightness", "greyscale", side=32)
    assert len(many) > len(few)
    assert len(more) < 2 * len(few) + len(few)  # seven rows, four of them high
    assert more.shape[1] > 1.5 * few.shape[1]


def test_the_same_corruption_of_two_families_is_two_rows(photo: Path) -> None:
    one = drawn(photo, "imagenet-c/contrast/1", side=32)
    both = drawn(photo, "imagenet-c/contrast/1", "imagenet-c:raw/contrast/1", side=32)
    assert len(both) > len(one) + 32


def test_a_shift_that_brings_its_own_images_is_refused(photo: Path) -> None:
    with pytest.raises(odo.UsageError, match="pgd-linf-2: can't be made of one image alone"):
        drawn(photo, "pgd-linf-2")
    with pytest.raises(odo.UsageError, match="is one image; leave out --by"):
        drawn(photo, "greyscale", by="style")
    with pytest.raises(odo.DataError, match="no such image"):
        odo.sheet(photo.with_name("none.png"), photo.with_name("s.png"))


def test_an_image_of_a_data_set_has_the_very_pixels_that_a_run_shows_a_model(photos: Path, tmp_path: Path) -> None:
    shown: list[np.ndarray] = []

    def answer(images: np.ndarray) -> np.ndarray:
        shown.extend(images)
        return np.zeros((len(images), 4), dtype=np.float32)

    data = odo.load_data(photos)
    seen = odo.Input(odo.Geometry(224, 224))
    model = odo.Model("watching", "test", "a" * 32, seen, data.space, lambda _: answer)
    shifts = odo.load_shifts("imagenet-c:raw/gaussian_noise/3", data=str(photos), seed=5)
    odo.run([model], shifts, store=str(tmp_path / "runs"), options=odo.RunOptions(threads=1))
    image_id = data.ids[17]
    path = tmp_path / "sheet.png"
    options = odo.SheetOptions(image=image_id, seed=5)
    odo.sheet(photos, path, on=["imagenet-c:raw/gaussian_noise/3"], options=options)
    with Image.open(path) as sheet:
        pixels = np.asarray(sheet.convert("RGB"))
    top, left = MARGIN + 2 * LINE, MARGIN + 224 + MARGIN
    noisy = pixels[top : top + 224, left : left + 224]
    assert any(np.array_equal(noisy, image) for image in shown)
    other = odo.SheetOptions(image=image_id, seed=6, force=True)
    odo.sheet(photos, path, on=["imagenet-c:raw/gaussian_noise/3"], options=other)
    with Image.open(path) as sheet:
        again = np.asarray(sheet.convert("RGB"))[top : top + 224, left : left + 224]
    assert not any(np.array_equal(again, image) for image in shown)


def test_an_image_that_the_data_do_not_have(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(odo.UsageError, match=r"no image 'red/00'; did you mean red/0\?"):
        odo.sheet(photos, tmp_path / "s.png", options=odo.SheetOptions(image="red/00"))
    with pytest.raises(odo.UsageError, match="red/0: is one image; leave out --rows"):
        odo.sheet(photos, tmp_path / "s.png", options=odo.SheetOptions(image="red/0", rows=2))
    with pytest.raises(odo.UsageError, match="names an image of a data set"):
        odo.sheet(photos / "red" / "0.jpg", tmp_path / "s.png", options=odo.SheetOptions(image="red/0"))
