"""Defences by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from oodometer.core.model import Forward
from oodometer.core.registry import Registry

Answer = Callable[[Forward, np.ndarray], np.ndarray]
"""A model's forward pass and its images, (N, H, W, 3) uint8 -> logits, (N, K) float32."""


@dataclass(frozen=True)
class Defence:
    """What is done at test time.

    Args:
        settings: All that it depends on, plain values: a model's digest covers them.
        answer: The answers of a model that is defended so.
    """

    settings: Mapping[str, float | int | str]
    answer: Answer


defences: Registry[Defence] = Registry(
    "defence",
    {
        "clahe": "oodometer.models.defences.clahe:CLAHE",
        **{f"crop-{at}": f"oodometer.models.defences.ten_crop:CROP_{at}" for at in range(1, 11)},
        "nlm": "oodometer.models.defences.non_local_means:NON_LOCAL_MEANS",
        "ten-crop": "oodometer.models.defences.ten_crop:TEN_CROP",
    },
    group="oodometer.defences",
)


GROUPS = {"each-crop": tuple(f"crop-{at}" for at in range(1, 11))}
"""Names that stand for several defences, each of which makes a model of its own."""


def on_pixels(change: Callable[[np.ndarray], np.ndarray]) -> Answer:
    """The model's answers to changed images; the change keeps (H, W, 3) uint8."""

    def answer(forward: Forward, images: np.ndarray) -> np.ndarray:
        return forward(np.stack([change(image) for image in images]))

    return answer
