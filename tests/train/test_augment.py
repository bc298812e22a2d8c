"""Augmentations: every one keeps the form, depends on its key alone, and does what its name says."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for
from oodometer.train.augment import crop as crop_module
from oodometer.train.augment.erase import AREA, erase
from oodometer.train.augment.registry import Moment, augmentations, augmented, parse_augmentations

IMAGES = np.random.default_rng(0).integers(256, size=(40, 16, 12, 3), dtype=np.uint8)


@pytest.mark.parametrize("name", augmentations.names())
def test_all_of_them(name):
    before = IMAGES.copy()
    augment = augmentations.get(name)
    first, again, other = (augment(IMAGES, rng_for("test", key)) for key in (1, 1, 2))
    assert (first.shape, first.dtype) == (IMAGES.shape, np.uint8)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first, IMAGES)
    assert np.array_equal(IMAGES, before), "what it is given stays as it was"


def test_a_batch_depends_on_its_moment_alone():
    names = ("mirror", "crop", "erase")
    augmented(IMAGES, names, Moment(0, 0, 0))
    batches = [
        augmented(IMAGES, names, Moment(*one)) for one in ((0, 1, 0), (0, 1, 0), (1, 1, 0), (0, 2, 0), (0, 1, 5))
    ]
    assert np.array_equal(batches[0], batches[1])
    assert all(not np.array_equal(batches[0], one) for one in batches[2:])


def test_draws_of_one_augmentation_do_not_depend_on_the_others():
    moment = Moment(3, 4, 0)
    alone = augmented(IMAGES, ("crop",), moment)
    mirrored = augmented(IMAGES, ("mirror",), moment)
    assert np.array_equal(augmented(mirrored, ("crop",), moment), augmented(IMAGES, ("mirror", "crop"), moment))
    assert not np.array_equal(alone, mirrored)


def test_mirror_turns_about_half():
    turned = augmentations.get("mirror")(np.repeat(IMAGES, 25, axis=0), rng_for("test"))
    same = (turned == np.repeat(IMAGES, 25, axis=0)).all(axis=(1, 2, 3))
    assert np.array_equal(turned[~same], np.repeat(IMAGES, 25, axis=0)[~same][:, :, ::-1])
    assert abs((~same).mean() - 0.5) < 5 * np.sqrt(0.25 / 1000)  # five standard errors of 1000 coins


# reference: a plain loop over np.pad and slices, for each of the 81 places
@pytest.mark.parametrize(("crop", "mode"), [(crop_module.crop, "edge"), (crop_module.crop_black, "constant")])
def test_crop_is_a_window_of_the_widened_image(crop, mode):
    cropped = crop(np.repeat(IMAGES, 25, axis=0), rng_for("test"))
    places = set()
    for image, result in zip(np.repeat(IMAGES, 25, axis=0), cropped, strict=True):
        wide = np.pad(image, ((4, 4), (4, 4), (0, 0)), mode=mode)
        found = [
            (top, left)
            for top in range(9)
            for left in range(9)
            if np.array_equal(wide[top : top + 16, left : left + 12], result)
        ]
        assert found
        places.add(found[0])
    assert len(places) == 81


def test_erase_fills_one_rectangle_of_some_images():
    images = np.zeros((400, 32, 32, 3), dtype=np.uint8)
    changed = erase(images, rng_for("test")).any(axis=3)
    touched = changed[changed.any(axis=(1, 2))]
    assert abs(len(touched) / 400 - 0.5) < 5 * np.sqrt(0.25 / 400)
    for one in touched:
        rows, columns = np.flatnonzero(one.any(axis=1)), np.flatnonzero(one.any(axis=0))
        inside = one[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        assert inside.mean() > 0.99  # noise is black by chance, once in 256^3
        assert AREA[0] * 0.7 < inside.size / 1024 < AREA[1] * 1.1  # sides are rounded to pixels


def test_names():
    assert parse_augmentations("mirror, crop") == ("mirror", "crop")
    with pytest.raises(UsageError, match="the augmentation 'crop' is there twice; name it once"):
        parse_augmentations("crop,crop")
