"""What a model answers to images of a condition, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.catalogue.class_names import human_names
from oodometer.core.condition import Condition
from oodometer.core.labels import align, mapped_onto
from oodometer.core.model import Model
from oodometer.data.resize import plain_resize
from oodometer.sheets.shown import pixels_of

WRONG = "firebrick"


@dataclass(frozen=True)
class Answer:
    """The class that a model names, how sure it is, and whether that is right; None where nobody knows."""

    name: str
    confidence: float
    is_right: bool | None

    def __str__(self) -> str:
        return f"{self.name}\n{self.confidence:.0%}"

    @property
    def colour(self) -> str:
        """In which it is written."""
        return WRONG if self.is_right is False else "black"


def answers(model: Model, condition: Condition, positions: Sequence[int]) -> list[Answer]:
    """The model's answers to these images, over the classes of the condition."""
    logits = model.logits(np.stack([_shown_to(model, condition, position) for position in positions]))
    what = f"model {model.name}"
    dataset, label_map, space = condition.dataset, condition.label_map, model.space
    labels = dataset.labels[list(positions)]
    if label_map is not None:
        logits = mapped_onto(label_map, space, what=what).logits(logits)
        labels = label_map.labels(align(labels, dataset.space, label_map.source, what=what))
        space = label_map.target
    else:
        labels = align(labels, dataset.space, space, what=what)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    called = human_names(space)
    best = logits.argmax(axis=1).tolist()
    return [
        Answer(called[top], float(share[top]), None if label < 0 else top == label)
        for top, share, label in zip(best, shares, labels.tolist(), strict=True)
    ]


def _shown_to(model: Model, condition: Condition, position: int) -> np.ndarray:
    """As in a run: an image as it is through the model's own view, a transformed one by a plain resize."""
    view = model.input.view
    if condition.transform is None:
        return condition.dataset.views(position, [view])[0]
    pixels = pixels_of(condition, position)
    return pixels if pixels.shape[:2] == (view.height, view.width) else plain_resize(pixels, view)
