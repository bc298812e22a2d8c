"""A model of the coloured photographs of `photos`, whose answers are known: it is always right."""

from __future__ import annotations

import numpy as np

from oodometer.core.labels import LabelSpace
from oodometer.core.model import Input, Model
from oodometer.core.preprocessing import Geometry

COLOURS = np.array([(40, 60, 200), (40, 180, 60), (128, 128, 128), (210, 50, 40)], dtype=np.float64)
CLASSES = LabelSpace("colours", ("blue", "green", "grey", "red"))


def colour_model(name: str = "colours", digest: str = "a" * 32) -> Model:
    """Says which of the four colours the mean of the pixels is nearest to."""

    def answer(images: np.ndarray) -> np.ndarray:
        means = images.reshape(len(images), -1, 3).mean(axis=1, dtype=np.float64)
        return (-((means[:, None, :] - COLOURS) ** 2).sum(axis=2) / 1000).astype(np.float32)

    return Model(name, "test", digest, Input(Geometry(32, 32)), CLASSES, lambda _: answer)
