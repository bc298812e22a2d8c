"""A small set that a network learns in a moment: four classes, told apart by the bright quarter of the image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oodometer.core.dataset import Dataset
from oodometer.data.load import load_data

pytest.importorskip("torch")

SIDE = 12


def quarters(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Images (N, 12, 12, 3) uint8 and labels."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 120, size=(n, SIDE, SIDE, 3))
    labels = np.arange(n) % 4
    for image, label in zip(images, labels, strict=True):
        top, left = divmod(int(label), 2)
        image[6 * top : 6 * top + 6, 6 * left : 6 * left + 6] += 100
    return images.astype(np.uint8), labels


@pytest.fixture
def make_quarters(tmp_path: Path) -> Callable[..., Dataset]:
    """A factory of such data sets, with a column style: every third image is round."""

    def make(n: int = 160, *, labels: np.ndarray | None = None) -> Dataset:
        images, own = quarters(n)
        path = tmp_path / "quarters.npz"
        np.savez(path, images=images, labels=own if labels is None else labels)
        style = np.where(np.arange(n) % 3 == 0, "round", "square")
        return replace(load_data(path), columns={"style": style})

    return make
