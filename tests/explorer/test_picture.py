"""Pictures: those of the data that were given, and nothing else, whatever is asked for."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.core.model import Input, Model
from oodometer.explorer.pages.picture import png_of
from oodometer.shifts.imagenet_c import SMALL, corrupted
from oodometer.study.pictures import album_of


class Recorded:
    """A picture that remembers what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, bool]] = []

    def __call__(self, cell, image_id):
        self.asked.append((cell.condition_name, image_id, cell.condition.attack is not None))
        if image_id == "010.png":
            return None  # not on disk
        rng = np.random.default_rng(len(image_id))
        return rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)


@pytest.fixture
def album():
    return Recorded()


@pytest.fixture
def shown(shop, explore, album):
    return explore(shop.store, picture=album)[1]


def pixels_of(content):
    return np.asarray(Image.open(io.BytesIO(content)))


def test_a_picture_is_what_the_album_has(shown, album, hostile_id):
    answer = shown.get("/picture", params={"data": "val", "id": hostile_id, "on": "fam/fog/1"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert answer.headers["cache-control"] == "private, max-age=3600"
    # Small ones are shown larger, each pixel a square of four.
    expected = Recorded()(type("Cell", (), {"condition_name": "", "condition": {}}), hostile_id)
    np.testing.assert_array_equal(pixels_of(answer.content)[::4, ::4], expected)
    assert album.asked == [("fam/fog/1", hostile_id, False)]
    shown.get("/picture", params={"data": "val", "id": hostile_id, "on": "fam/fog/1"})
    assert len(album.asked) == 1  # drawn once


@pytest.mark.parametrize(
    "asked",
    [
        {"id": "../../../etc/passwd"},
        {"id": "/etc/hosts"},
        {"id": "no-such-image.png"},
        {"id": "000.png\x00.jpg"},
        {"id": "ünï", "on": "nothing"},
        {"id": "ünï", "data": "../val"},
        {"id": "ünï", "data": "other"},
        {"id": "'; DROP TABLE images; --"},
        {"id": "010.png"},
    ],
    ids=str,
)
def test_nothing_else_can_be_had(shown, album, asked):
    answer = shown.get("/picture", params={"data": "val", "on": "clean", **asked})
    assert answer.status_code == 404
    assert [id_ for _, id_, _ in album.asked] == ([] if asked["id"] != "010.png" else ["010.png"])
    assert shown.get("/picture", params={"data": "val", "id": "ünï", "on": "clean"}).status_code == 200


def test_without_images_no_page_asks_for_them(pages):
    answer = pages.get("/picture", params={"data": "val", "id": "ünï", "on": "clean"})
    assert answer.status_code == 404
    assert "with --data" in answer.text
    assert "<img" not in pages.get("/images").text


def test_pages_ask_for_pictures_where_there_are_some(shown):
    assert shown.get("/images").text.count("<img") == 24
    assert shown.get("/compare", params={"show": "both"}).text.count("<img") > 0
    assert shown.get("/image", params={"data": "val", "id": "ünï"}).text.count("<img") == 5  # itself, four conditions


def test_an_attacked_image_is_shown_before_the_attack(own_shop, explore, album):
    own_shop.add("plain", "pgd", skill=0.1, attack={"name": "pgd"})
    _, pages = explore(own_shop.store, picture=album)
    answer = pages.get("/picture", params={"data": "val", "id": "ünï", "on": "pgd"})
    assert (answer.status_code, album.asked) == (200, [("pgd", "ünï", False)])
    assert "before the attack" in pages.get("/image", params={"data": "val", "id": "ünï", "on": "pgd"}).text


def test_large_pictures_are_made_smaller():
    shape = pixels_of(png_of(np.zeros((600, 300, 3), dtype=np.uint8), 128)).shape
    assert shape == (128, 64, 3)


def test_the_images_of_a_run_and_no_others(photos, tmp_path, explore):
    """Run for real: what is shown are the photographs, whole and corrupted as the model saw them."""
    data = odo.load_data(photos)
    noisy = corrupted(data, "cifar10-c", "gaussian_noise", 3, quality=None, view=SMALL, seed=7)
    model = Model("grey", "test", "a" * 32, Input(odo.Geometry(8, 8)), data.space, lambda _: _darkness)
    run = odo.run([model], [odo.clean(data), noisy], store=str(tmp_path / "runs"), options=odo.RunOptions(threads=1))
    store = run.store
    (photos.parent / "secret.png").write_bytes((photos / "red" / "1.png").read_bytes())
    _, pages = explore(store, picture=album_of([str(photos)], store))
    at = next(at for at, one in enumerate(data.ids) if "red" in one)
    for condition, pixels in (
        ("clean", data.image(at)),
        ("cifar10-c/gaussian_noise/3", noisy.transform.apply(data.views(at, [SMALL])[0], data.ids[at])),
    ):
        asked = {"data": data.name, "id": data.ids[at], "on": condition, "size": "large"}
        shown = pixels_of(pages.get("/picture", params=asked).content)
        times = 512 // max(pixels.shape)
        np.testing.assert_array_equal(shown[::times, ::times], pixels)
    for outside in ("../secret", "../secret.png", str(photos.parent / "secret.png")):
        asked = {"data": data.name, "id": outside, "on": "clean"}
        assert pages.get("/picture", params=asked).status_code == 404


def _darkness(images):
    return np.tile(np.arange(4, dtype=np.float32), (len(images), 1))
