"""The recipes of papers by name: what their released scripts train small networks with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from oodometer.core.errors import UsageError, did_you_mean

OF_SMALL_IMAGES: dict[str, Any] = {
    "lr": 0.1,
    "batch": 128,
    "momentum": 0.9,
    "size": 32,
    "augment": "mirror,crop-black",
}
"""What both scripts of Hendrycks and Dietterich (2018) have in common."""

RECIPES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        # Section 4.2 gives epochs, schedule, momentum, augmentation and size; its script the other numbers.
        "icons-50": {**OF_SMALL_IMAGES, "epochs": 50, "weight_decay": 1e-4},
        # Appendix E gives the network alone. Its script also mixes images and drops out features, which is not done.
        "cifar-100-subtypes": {**OF_SMALL_IMAGES, "net": "wrn40-2", "epochs": 100, "weight_decay": 5e-4},
        # Natural adversarial examples (Hendrycks et al. 2021), section 5.1; network and size are to be said.
        "imagenet-a": {
            "epochs": 90,
            "warm_up": 5,
            "lr": 0.1,
            "schedule": "steps:30,60,80",
            "batch": 256,
            "momentum": 0.9,
            "weight_decay": 1e-4,
        },
        # Five epochs, as Hendrycks and Dietterich (2018) fine-tune; a tenth of the usual rate, theirs for ImageNet-22K.
        "fine-tune": {"epochs": 5, "lr": 0.01},
    }
)
"""Name to the options of a training, by their names in the command."""

BEGIN_TRAINED = frozenset({"fine-tune"})
"""Those that go on with a network that was trained before."""


def recipe_named(name: str) -> Mapping[str, Any]:
    """The options of that recipe.

    >>> recipe_named("icons-50")["epochs"]
    50
    """
    if name not in RECIPES:
        raise UsageError(f"--recipe {name}: no recipe of that name{did_you_mean(name, RECIPES)}")
    return RECIPES[name]
