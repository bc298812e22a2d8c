"""Images in memory: their statistics, what a network sees of them, copies among them."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.errors import DataError
from oodometer.core.model import Input
from oodometer.core.preprocessing import Geometry
from oodometer.data.load import load_data
from oodometer.train import pixels as module
from oodometer.train.pixels import Pixels, as_input, digest_of_pixels, read_pixels, same_pixels, statistics_of

IMAGES = np.random.default_rng(0).integers(256, size=(6, 8, 8, 3), dtype=np.uint8)


def pixels(images: np.ndarray) -> Pixels:
    return Pixels(images, np.arange(len(images)), tuple(str(one) for one in range(len(images))))


# reference: numpy on the pixels themselves
def test_statistics():
    given = statistics_of(IMAGES, Geometry(8, 8))
    np.testing.assert_allclose(given.mean, (IMAGES / 255).mean(axis=(0, 1, 2)), atol=5e-5)
    np.testing.assert_allclose(given.std, (IMAGES / 255).std(axis=(0, 1, 2)), atol=5e-5)
    assert statistics_of(np.zeros_like(IMAGES), Geometry(8, 8)).std == (0.01, 0.01, 0.01)


def test_what_a_network_sees():
    given = Input(Geometry(8, 8), mean=(0.4, 0.5, 0.6), std=(0.2, 0.25, 0.3))
    wanted = ((IMAGES / 255 - np.array(given.mean)) / np.array(given.std)).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(as_input(IMAGES, given).numpy(), wanted, atol=1e-5)


def test_images_of_unequal_size_are_resized_by_the_view(photos):
    read = read_pixels(load_data(photos), Geometry(16, 16))
    assert read.images.shape == (40, 16, 16, 3)
    assert np.array_equal(read.images[3], load_data(photos).views(3, [Geometry(16, 16)])[0])


def test_copies_of_test_images_are_found():
    training = pixels(IMAGES)
    assert same_pixels(training, [pixels(IMAGES[[4]]), pixels(IMAGES[[1]].copy())]).tolist() == [
        False, True, False, False, True, False,
    ]  # fmt: skip


def test_the_digest_knows_ids_labels_and_pixels():
    one = pixels(IMAGES)
    other = IMAGES.copy()
    other[0, 0, 0, 0] ^= 1
    digests = {
        digest_of_pixels(one),
        digest_of_pixels(pixels(other)),
        digest_of_pixels(Pixels(IMAGES, one.labels[::-1], one.ids)),
        digest_of_pixels(Pixels(IMAGES, one.labels, one.ids[::-1])),
    }
    assert len(digests) == 4
    assert digest_of_pixels(pixels(IMAGES.copy())) in digests


def test_what_does_not_fit_into_memory_is_refused(photos, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 2 * 10**6)
    with pytest.raises(DataError) as caught:
        read_pixels(load_data(photos), Geometry(224, 224))
    assert str(caught.value) == (
        "val: 40 images of 224x224 take 0.0 GB in memory, and training keeps at most 0; use fewer images or a smaller "
        "--size"
    )
