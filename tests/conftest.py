"""What many tests share: a cache of their own, small photographs, and where the real ones may lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Real data that may lie beside the project; tests that use it skip where it is missing."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OODOMETER_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def imagenet_sample() -> Path:
    folder = SHARED / "imagenet-sample"
    if not folder.is_dir():
        pytest.skip("the ImageNet sample is not here")
    return folder


COLOURS = {"blue": (40, 60, 200), "green": (40, 180, 60), "grey": (128, 128, 128), "red": (210, 50, 40)}


def coloured_photo(colour: tuple[int, int, int], seed: int, size: tuple[int, int]) -> Image.Image:
    """A noisy picture of one colour, so that a model's answer to it is known."""
    rng = np.random.default_rng(seed)
    pixels = np.asarray(colour) + rng.normal(0, 20, (size[1], size[0], 3))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Four classes of ten pictures each, of many sizes."""
    root = tmp_path / "val"
    for place, (name, colour) in enumerate(COLOURS.items()):
        (root / name).mkdir(parents=True)
        for number in range(10):
            picture = coloured_photo(colour, 100 * place + number, (40 + 3 * number, 60 - number))
            picture.save(root / name / f"{number}.{'png' if number % 2 else 'jpg'}")
    return root


def by_colour(images: np.ndarray) -> np.ndarray:
    """A model that tells the four colours apart, (N, H, W, 3) -> (N, 4)."""
    means = images.reshape(len(images), -1, 3).mean(axis=1, dtype=np.float64)
    prototypes = np.array(list(COLOURS.values()), dtype=np.float64)
    distances = ((means[:, None, :] - prototypes) ** 2).sum(axis=2)
    return (-distances / 1000).astype(np.float32)
