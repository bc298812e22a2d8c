"""A store of six models: clean images with labels, a street without, and the same street with its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from known_stores import Filled
from made_models import MadeModels, made_models, rows_of
from oodometer.core.dataset import Dataset, Progress, Scan
from oodometer.core.labels import LabelSpace
from oodometer.core.preprocessing import Geometry
from oodometer.store.store import Store, open_store

MODELS = ("one", "two", "three", "four", "five", "six")
K, N_CLEAN, N_SHIFTED = 30, 3000, 2000
NAMES = tuple(f"kind {number}" for number in range(K))


@dataclass(frozen=True)
class Unseen:
    """Images that nobody looks at; their contents are told apart by name and number."""

    name: str

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        raise AssertionError(f"nobody asks for image {index} of {self.name}")

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        progress(len(indices), len(indices))
        return Scan(tuple(f"{self.name}{index}".encode().rjust(16)[-16:] for index in indices.tolist()), {})


@dataclass(frozen=True)
class Streets:
    """The store, and what is true of the images that have no labels in it."""

    store: Store
    shifted: MadeModels
    ids: tuple[str, ...]

    def name_of(self, image: str) -> str:
        """The class of an image, as the data call it."""
        return NAMES[self.shifted.labels[self.ids.index(image)]]


@pytest.fixture(scope="session")
def streets(tmp_path_factory: pytest.TempPathFactory) -> Streets:
    """It is only read."""
    filled = Filled(open_store(str(tmp_path_factory.mktemp("streets") / "runs"), create=True))
    accuracies = np.linspace(0.6, 0.9, len(MODELS))
    clean = made_models(accuracies + 0.05, N_CLEAN, n_classes=K, seed=1)
    shifted = made_models(accuracies - 0.1, N_SHIFTED, n_classes=K, seed=2)
    none = np.full(N_SHIFTED, -1)
    sets = (("val", clean, clean.labels), ("street", shifted, none), ("road", shifted, shifted.labels))
    for name, made, labels in sets:
        ids = tuple(f"{'v' if name == 'val' else 's'}/{number:04d}" for number in range(len(labels)))
        data = Dataset(name, ids, labels, LabelSpace("kinds", NAMES), Unseen(name), np.arange(len(labels)))
        for at, model in enumerate(MODELS):
            condition = "clean" if name == "val" else name
            rows = rows_of(made, at, labelled=name != "street")
            filled.put(data, rows, model=model, digest=f"{at:032x}", condition=condition)
    return Streets(filled.store, shifted, ids)
