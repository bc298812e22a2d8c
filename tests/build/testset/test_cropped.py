"""Copies that show a part of a picture."""

from __future__ import annotations

import numpy as np
import pytest

from made_duplicates import cropped
from oodometer.build.testset.cropped import crop_distances
from oodometer.build.testset.pairs import Pairs
from oodometer.build.testset.pixel_features import small_pictures
from oodometer.core.random import rng_for
from oodometer.corruptions.sample_image import sample_image

N = 12


@pytest.fixture(scope="module")
def originals():
    return [sample_image(64, 80, seed=1000 + seed) for seed in range(N)]


def every_pair(*, mirrored: bool = False) -> Pairs:
    first, second = (places.reshape(-1) for places in np.mgrid[:N, :N])
    return Pairs(first, second, np.zeros(N * N), np.full(N * N, mirrored))


def by_pair(pairs: Pairs) -> dict[tuple[int, int], float]:
    return dict(zip(pairs.positions(), pairs.distance.tolist(), strict=True))


@pytest.mark.parametrize("turned", [False, True])
def test_crops_are_closer_to_their_originals_than_any_other_picture(originals, turned):
    copies = [cropped(image, rng_for("crop", place)) for place, image in enumerate(originals)]
    shown = small_pictures([np.ascontiguousarray(copy[:, ::-1]) if turned else copy for copy in copies])
    found = crop_distances(small_pictures(originals), shown, every_pair(mirrored=turned))
    assert {first for first, second in found.positions()[:N] if first == second} == set(range(N))  # by construction


def test_it_does_not_matter_which_of_the_two_was_cropped(originals):
    whole = small_pictures(originals)
    parts = small_pictures([cropped(image, rng_for("crop", place)) for place, image in enumerate(originals)])
    there = by_pair(crop_distances(whole, parts, every_pair()))
    back = by_pair(crop_distances(parts, whole, every_pair()))
    assert {(second, first): far for (first, second), far in back.items()} == pytest.approx(there, abs=1e-5)


def test_a_window_that_is_searched_for_is_found_exactly(originals):
    # By construction: the outer tenth of 40 pixels is 2 on each side; a window of 0.9 lies there in whole pixels of it.
    scene = np.kron(np.random.default_rng(0).integers(0, 256, (40, 40, 1)), np.ones((8, 8, 3))).astype(np.uint8)
    flat = np.full((64, 64, 3), 128, np.uint8)
    pictures = small_pictures([scene, scene[:288, :288], flat])
    pairs = Pairs(np.array([0, 0]), np.array([1, 2]), np.zeros(2), np.zeros(2, bool))
    found = by_pair(crop_distances(pictures, pictures, pairs))
    assert found[0, 1] < 0.2 < 1 < found[0, 2]


def test_no_pairs_are_no_pairs(originals):
    none = every_pair().take(np.zeros(N * N, bool))
    assert len(crop_distances(small_pictures(originals), small_pictures(originals), none)) == 0
