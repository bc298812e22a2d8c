"""A small style network, learned on the training images: to draw them again, then to draw them in other styles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oodometer.train.augment.descent import Descent, descend
from oodometer.train.augment.first_weights import give_first_weights
from oodometer.train.augment.patches import patches
from oodometer.train.augment.style.network import (
    SMALL,
    StyleNetwork,
    decoded,
    encoded,
    features_by_stage,
    new_network,
    restyled,
    statistics,
)
from oodometer.train.augment.tensors import as_tensor

BATCH, PATCH = 16, 32
STEPS = (400, 250)
"""Of drawing again, and of drawing in styles."""
RATE = 2e-3
STYLE_WEIGHT = 1.0
"""Of the style loss beside that of the content."""
DRAWING_WEIGHT = 20.0
"""Of drawing images again, which keeps the decoder from forgetting it."""


def learned_network(
    contents: Sequence[np.ndarray],
    styles: Sequence[np.ndarray],
    *,
    seed: int,
    steps: tuple[int, int] = STEPS,
) -> StyleNetwork:
    """The network after learning from images and styles of any size."""
    network = new_network(SMALL)
    give_first_weights(network.encoder, "style encoder", seed=seed)
    give_first_weights(network.decoder, "style decoder", seed=seed)
    both = [*network.encoder.parameters(), *network.decoder.parameters()]

    def drawing(rng: np.random.Generator) -> Any:
        return _drawing_loss(network, as_tensor(patches(contents, BATCH, PATCH, rng)))

    def styling(rng: np.random.Generator) -> Any:
        shown = as_tensor(patches(contents, BATCH, PATCH, rng))
        return _styling_loss(network, shown, as_tensor(patches(styles, BATCH, PATCH, rng)))

    descend(Descent("style, drawing", steps[0], RATE, seed), both, drawing)
    # From here on the features are what they are: a loss that may change its own measure would make them zero.
    network.encoder.requires_grad_(False)
    descend(Descent("style, styling", steps[1], RATE / 2, seed), list(network.decoder.parameters()), styling)
    network.decoder.requires_grad_(False)
    return network


def _drawing_loss(network: StyleNetwork, images: Any) -> Any:
    """How far drawn images are from what they should be."""
    from torch.nn import functional

    return functional.l1_loss(decoded(network, encoded(network, images), images.shape[2:]), images)


def _styling_loss(network: StyleNetwork, contents: Any, styles: Any) -> Any:
    """The content at the deepest features, and the statistics of the style at every stage."""
    from torch.nn import functional

    wanted = restyled(encoded(network, contents), statistics(encoded(network, styles)))
    drawn = decoded(network, wanted, contents.shape[2:])
    content = functional.mse_loss(encoded(network, drawn), wanted)
    pairs = zip(features_by_stage(network, drawn), features_by_stage(network, styles), strict=True)
    style = sum(
        functional.mse_loss(own, theirs)
        for some, others in pairs
        for own, theirs in zip(statistics(some), statistics(others), strict=True)
    )
    return content + STYLE_WEIGHT * style + DRAWING_WEIGHT * _drawing_loss(network, contents)
