"""Close pairs by each measure, of files of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from made_duplicates import KINDS
from oodometer.build.testset.likeness import (
    CROPS,
    DEFAULT_METRICS,
    DUPLICATE_WITHIN,
    STRUCTURE,
    Reach,
    check_metrics,
    close_between,
    close_inside,
)
from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for
from oodometer.corruptions.sample_image import sample_image
from oodometer.data.load import load_data
from shared_data import shared


def folder_of(place, images):
    """Images of one class under these names, as a data set."""
    (place / "owl").mkdir(parents=True)
    for name, image in images.items():
        image.save(place / "owl" / name)
    return load_data(place)


def names_of(data, found, metric):
    return {
        tuple(sorted(data.ids[at].rpartition("/")[2].partition(".")[0] for at in pair))
        for pair in found.pairs[metric].positions()
    }


def near(found):
    """The pairs that count as one picture before anybody looks."""
    return {
        tuple(sorted(pair))
        for metric, pairs in found.pairs.items()
        for pair in pairs.take(pairs.distance <= DUPLICATE_WITHIN[metric]).positions()
    }


def test_each_kind_of_copy_is_one_picture_and_nothing_else_is(tmp_path):
    images, expected = {}, set()
    for place in range(40):
        image = sample_image(64, 80, seed=2000 + place)
        images[f"{place:03}.png"] = Image.fromarray(image)
    for place, make in enumerate(KINDS.values()):
        copy = make(np.asarray(images[f"{place:03}.png"]), rng_for("copy", place))
        images[f"{100 + place:03}.png"] = Image.fromarray(np.ascontiguousarray(copy))
        expected.add((place, 40 + place))
    assert near(close_inside(folder_of(tmp_path, images))) == expected


def test_grey_alpha_16_bits_tiny_and_turned_files_are_looked_at_as_they_show(tmp_path):
    image = Image.fromarray(sample_image(64, 80, seed=3))
    grey = image.convert("L")
    deep = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    clear = image.convert("RGBA")
    turned = image.transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6
    folder = tmp_path / "set" / "owl"
    folder.mkdir(parents=True)
    for name, kind in {"rgb": image, "grey": grey, "deep": deep, "clear": clear}.items():
        kind.save(folder / f"{name}.png")
    turned.save(folder / "turned.jpg", quality=95, exif=exif)
    image.resize((12, 9)).save(folder / "tiny.png")
    data = load_data(tmp_path / "set")
    found = close_inside(data, [STRUCTURE], Reach(None, 0.45))
    # by construction: all six show one picture; 12 x 9 pixels hold less of it
    whole = {
        (a, b) for a in ("clear", "deep", "grey", "rgb", "turned") for b in ("clear", "deep", "grey", "rgb", "turned")
    }
    assert {pair for pair in whole if pair[0] < pair[1]} <= names_of(data, found, STRUCTURE)
    assert len(found.unreadable) == 0


@pytest.mark.parametrize("metric", [STRUCTURE, CROPS])
def test_black_and_white_pictures_of_one_colour_are_two_pictures(tmp_path, metric):
    flat = {f"{value}.png": Image.new("RGB", (40, 30), (value,) * 3) for value in (0, 2, 128, 255)}
    data = folder_of(tmp_path, flat)
    assert names_of(data, close_inside(data, [metric], Reach(None, 0.3)), metric) == {("0", "2")}


def test_what_can_not_be_read_is_told_and_in_no_pair(tmp_path):
    image = Image.fromarray(sample_image(64, 80, seed=3))
    folder_of(tmp_path, {"1.png": image, "2.png": image, "3.png": image})
    (tmp_path / "owl" / "1.png").write_bytes(b"no image")
    data = load_data(tmp_path)
    for found in (close_inside(data), close_between(data, data, reach=Reach(None, 0.01))):
        assert list(found.unreadable) == [0]
        assert all(0 not in pair for pairs in found.pairs.values() for pair in pairs.positions())


def test_an_unknown_metric_is_an_error():
    with pytest.raises(UsageError, match="did you mean crops"):
        check_metrics(["crop"])


@pytest.mark.slow
def test_copies_of_real_photographs_are_found_and_few_others(tmp_path):
    files = sorted(shared("imagenet-sample").glob("*/*.*"))[1::4]  # the radii were chosen on these, with other copies
    kinds, images = list(KINDS.items()), {}
    for place, file in enumerate(files):
        photograph = Image.open(file).convert("RGB")
        photograph.thumbnail((200, 200))
        images[f"{place:04}.png"] = photograph
        _, make = kinds[place % len(kinds)]
        copy = make(np.asarray(photograph), rng_for("real copy", place))
        images[f"{5000 + place:04}.png"] = Image.fromarray(np.ascontiguousarray(copy))
    found = close_inside(folder_of(tmp_path, images), DEFAULT_METRICS)
    expected = {(place, len(files) + place) for place in range(len(files))}
    proposed = near(found)
    # measured elsewhere: of 1,000 copies all but a few crops, and 4 other pairs among 2,000 photographs
    assert len(proposed & expected) >= 0.97 * len(expected)
    assert len(proposed - expected) <= 6
