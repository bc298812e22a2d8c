"""Features by a model: the directions of its logits, whatever the batches."""

from __future__ import annotations

import numpy as np
import pytest

from colour_model import colour_model
from oodometer.build.testset import model_features as module
from oodometer.build.testset.model_features import directions, model_features
from oodometer.core.errors import DataError
from oodometer.core.model import Compute


def some_views(n: int) -> list[np.ndarray]:
    return list(np.random.default_rng(0).integers(0, 256, (n, 32, 32, 3), dtype=np.uint8))


@pytest.mark.parametrize("batch", [1, 3, 256])
def test_features_are_the_directions_of_the_logits(monkeypatch, batch):
    monkeypatch.setattr(module, "BATCH", batch)
    views = some_views(7)
    found = model_features(colour_model(), iter(views))
    logits = colour_model().logits(np.stack(views)).astype(np.float64)
    centred = logits - logits.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred**2).sum(axis=1, keepdims=True))  # closed form
    assert found.vectors == pytest.approx(expected, abs=1e-6)
    assert found.mirrored is None


def test_mirrored_images_are_asked_about_too():
    left = np.zeros((32, 32, 3), np.uint8)
    left[:, :16] = (210, 50, 40)
    seen = []

    def watched(images):
        seen.append(images.copy())
        return images[:, 0, 0, :].astype(np.float32) @ np.eye(3, 4, dtype=np.float32)

    model = colour_model()
    object.__setattr__(model, "open", lambda compute: watched)
    found = model_features(model, [left], mirror=True, compute=Compute())
    assert (seen[1] == seen[0][:, :, ::-1]).all()
    # by construction: the corner is red in the image and black in its mirrored copy
    assert found.vectors[0].argmax() == 0
    assert found.mirrored.tolist() == [[0, 0, 0, 0]]


def test_a_constant_and_a_factor_change_nothing():
    logits = np.random.default_rng(1).normal(size=(5, 10))
    assert directions(3 * logits + 7) == pytest.approx(directions(logits), abs=1e-6)
    assert np.linalg.norm(directions(logits), axis=1) == pytest.approx(np.ones(5), abs=1e-6)


def test_no_images_have_no_features():
    assert model_features(colour_model(), [], mirror=True).vectors.shape == (0, 4)


@pytest.mark.parametrize("view", [np.zeros((8, 8, 3), np.uint8), np.zeros((32, 32, 3))])
def test_an_image_of_another_size_is_an_error(view):
    with pytest.raises(DataError, match=r"^image 2 is of shape .*: model colours wants \(32, 32, 3\) uint8$"):
        model_features(colour_model(), [*some_views(2), view])
