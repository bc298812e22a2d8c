"""Augmentations of training images, one file each, by name; some can be used alone, in any pipeline of torch."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oodometer.train.augment.augmix import AugMix as AugMix
    from oodometer.train.augment.deepaugment.deepaugment import DeepAugment as DeepAugment
    from oodometer.train.augment.style.transfer import StyleTransfer as StyleTransfer

PLACES = {
    "AugMix": "oodometer.train.augment.augmix",
    "DeepAugment": "oodometer.train.augment.deepaugment.deepaugment",
    "StyleTransfer": "oodometer.train.augment.style.transfer",
}
"""What can be used alone, and the module that it comes from, imported when it is asked for."""

__all__ = ["AugMix", "DeepAugment", "StyleTransfer"]


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(PLACES[name]), name)
