"""One copy of every image in the style of another image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oodometer.core.random import rng_for
from oodometer.train.augment.copying import CopyMethod, CopyRequest, Unit
from oodometer.train.augment.kept_network import kept
from oodometer.train.augment.patches import learned_from
from oodometer.train.augment.style.learn import learned_network
from oodometer.train.augment.style.network import SMALL, StyleNetwork, new_network
from oodometer.train.augment.style.transfer import SIDE, StyleTransfer

VERSION = 1
PER_UNIT = 32


class StyleCopying:
    """A style transfer of the images of a request."""

    def __init__(self, request: CopyRequest, transfer: StyleTransfer) -> None:
        self.request, self.transfer = request, transfer
        starts = range(0, len(request.images), PER_UNIT)
        self.units: Sequence[Unit] = tuple(
            Unit("style", number, tuple(range(start, min(start + PER_UNIT, len(request.images)))))
            for number, start in enumerate(starts)
        )

    def make(self, unit: Unit) -> list[np.ndarray]:
        """The stylised images."""
        request = self.request
        return [self.transfer(request.images[row], seed=request.seed, keys=[request.keys[row]]) for row in unit.rows]

    def draw(self, image: np.ndarray, key: str, seed: int) -> dict[str, np.ndarray]:
        """One stylised image."""
        return {"style": self.transfer(image, seed=seed, keys=[key])}


def prepare(request: CopyRequest) -> StyleCopying:
    """A style transfer by the user's network, or one that was learned on the images of the request."""
    styles = request.images if request.styles is None else request.styles
    network = _network(request) if request.style_network is None else request.style_network
    return StyleCopying(request, StyleTransfer(network, styles))


def _network(request: CopyRequest) -> StyleNetwork:
    def learn() -> dict[str, Any]:
        request.tell(f"style: learning its network on {len(request.images)} images, about two minutes")
        rng = rng_for("style", "learned from", seed=request.seed)
        contents = learned_from(request.images, rng, side=SIDE)
        styles = contents if request.styles is None else learned_from(request.styles, rng, side=SIDE)
        made = learned_network(contents, styles, seed=request.seed)
        return {"encoder": made.encoder.state_dict(), "decoder": made.decoder.state_dict()}

    about = {"version": VERSION, "images": request.digest, "styles": request.styles_digest, "seed": request.seed}
    state = kept(request.networks, "style", about, learn)
    network = new_network(SMALL)
    network.encoder.load_state_dict(state["encoder"])
    network.decoder.load_state_dict(state["decoder"])
    for module in (network.encoder, network.decoder):
        module.eval().requires_grad_(False)
    return network


style = CopyMethod(("style",), VERSION, prepare)
