"""Copies of pictures that were planted among others are found: which kind by which feature."""

from __future__ import annotations

import numpy as np
import pytest

from made_duplicates import KINDS
from oodometer.build.testset.duplicate_groups import groups_of
from oodometer.build.testset.neighbours import nearest_within, pairs_between, pairs_within
from oodometer.build.testset.pixel_features import pixel_features, small_pictures, structure_features, structure_radius
from oodometer.build.testset.ssim import ssim_of_pairs
from oodometer.core.random import rng_for
from oodometer.corruptions.sample_image import sample_image

N_ORIGINALS, EACH = 150, 8
PLACES = {kind: [(EACH * at + i, N_ORIGINALS + EACH * at + i) for i in range(EACH)] for at, kind in enumerate(KINDS)}
"""The original and the copy, for each kind."""


@pytest.fixture(scope="module")
def pictures():
    images = [sample_image(64, 80, seed=seed) for seed in range(N_ORIGINALS)]
    copies = [
        make(images[original], rng_for("copy", original))
        for kind, make in KINDS.items()
        for original, _ in PLACES[kind]
    ]
    return small_pictures([*images, *copies])


def expected(*kinds):
    return {pair for kind in kinds for pair in PLACES[kind]}


# The radii are those of benchmarks/near_duplicates.py, which says what they find among many more.
def test_pixels_find_what_was_encoded_again_resized_or_mirrored(pictures):
    found = pairs_within(pixel_features(pictures), 0.1, mirror=True)
    assert expected("jpeg", "resize", "mirror") <= set(found.positions()) <= expected(*KINDS)
    mirrored = {pair for pair, is_so in zip(found.positions(), found.mirrored, strict=True) if is_so}
    assert mirrored == expected("mirror")


def test_without_the_mirror_mirrored_copies_are_not_found(pictures):
    assert not set(pairs_within(pixel_features(pictures), 0.1).positions()) & expected("mirror")


def test_structure_finds_what_was_recoloured_too(pictures):
    found = pairs_within(structure_features(pictures), structure_radius(0.94), mirror=True)
    assert set(found.positions()) == expected("jpeg", "resize", "mirror", "colour")
    assert (ssim_of_pairs(pictures, pictures, found) > 0.6).all()


def test_soft_pixels_find_what_was_cropped_among_the_nearest(pictures):
    found = nearest_within(pixel_features(pictures, side=4), 5)
    assert expected("crop", "jpeg", "resize", "colour") <= set(found.positions())


def test_copies_in_another_set_are_found_there(pictures):
    new, old = pictures[N_ORIGINALS:], pictures[:N_ORIGINALS]
    found = pairs_between(pixel_features(new), pixel_features(old), 0.1, mirror=True)
    turned = {(original, copy + N_ORIGINALS) for copy, original in found.positions()}
    assert expected("jpeg", "resize", "mirror") <= turned <= expected(*KINDS)


def test_a_copy_of_a_copy_is_in_the_group(pictures):
    again = np.concatenate([pictures, pictures[-1:]])
    found = pairs_within(structure_features(again), structure_radius(0.94), mirror=True)
    groups = groups_of(found.positions())
    original, copy = PLACES["colour"][-1]
    assert (original, copy, copy + 1) in groups
    assert len(groups) == 4 * EACH
