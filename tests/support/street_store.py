"""A store of six models: clean images with labels, a street without, and the same street with its labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from known_stores import Filled, filled  # noqa: F401 - pytest finds it
from made_models import MadeModels, made_models, rows_of
from oodometer.core.dataset import Dataset
from oodometer.core.labels import LabelSpace
from oodometer.store.store import Store

MODELS = ("one", "two", "three", "four", "five", "six")
K, N_CLEAN, N_SHIFTED = 30, 3000, 2000
NAMES = tuple(f"kind {number}" for number in range(K))


@dataclass(frozen=True)
class Streets:
    """The store, and what is true of the images that have no labels in it."""

    store: Store
    shifted: MadeModels
    ids: tuple[str, ...]

    def name_of(self, image: str) -> str:
        """The class of an image, as the data call it."""
        return NAMES[self.shifted.labels[self.ids.index(image)]]


@pytest.fixture
def streets(filled: Filled, make_dataset: Callable[..., Dataset]) -> Streets:  # noqa: F811 - the fixture
    accuracies = np.linspace(0.6, 0.9, len(MODELS))
    clean = made_models(accuracies + 0.05, N_CLEAN, n_classes=K, seed=1)
    shifted = made_models(accuracies - 0.1, N_SHIFTED, n_classes=K, seed=2)
    ids = tuple(f"s/{number:04d}" for number in range(N_SHIFTED))
    space = LabelSpace("kinds", NAMES)
    none = np.full(N_SHIFTED, -1)
    for name, made, labels in (
        ("val", clean, clean.labels),
        ("street", shifted, none),
        ("road", shifted, shifted.labels),
    ):
        data = make_dataset(
            len(labels),
            space=space,
            labels=labels,
            name=name,
            ids=None if name == "val" else ids,
            contents=[f"{name}{at}".encode() for at in range(len(labels))],
        )
        for at, model in enumerate(MODELS):
            condition = "clean" if name == "val" else name
            rows = rows_of(made, at, labelled=name != "street")
            filled.put(data, rows, model=model, digest=f"{at:032x}", condition=condition)
    return Streets(filled.store, shifted, ids)
