"""Two copies of every image by DeepAugment, one by each network."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oodometer.core.errors import ModelError
from oodometer.core.random import rng_for
from oodometer.train.augment.copying import CopyMethod, CopyRequest, Unit
from oodometer.train.augment.deepaugment.deepaugment import SIDE, DeepAugment, runs
from oodometer.train.augment.deepaugment.learn import KINDS, learned_network, new_network
from oodometer.train.augment.kept_network import kept
from oodometer.train.augment.patches import learned_from

VERSION = 1


class DeepAugmentCopying:
    """DeepAugment of the images of a request by some networks, each of which makes one copy of each image."""

    def __init__(self, request: CopyRequest, augments: Mapping[str, DeepAugment]) -> None:
        self.request, self.augments = request, augments
        self.units: Sequence[Unit] = tuple(
            Unit(part, run.number, tuple(run.rows.tolist()))
            for part in augments
            for run in runs(len(request.images), seed=request.seed)
        )
        self._own = threading.local()

    def make(self, unit: Unit) -> list[np.ndarray]:
        """The copies of images that share a draw of weights."""
        images = [self.request.images[row] for row in unit.rows]
        keys = [self.request.keys[row] for row in unit.rows]
        return self._augment(unit.part).of_run(unit.number, images, keys, self.request.seed)

    def draw(self, image: np.ndarray, key: str, seed: int) -> dict[str, np.ndarray]:
        """One copy by each network."""
        return {part: self._augment(part)(image, seed=seed, keys=[key]) for part in self.augments}

    def _augment(self, part: str) -> DeepAugment:
        """Each thread has networks of its own, since it gives them other weights for a while."""
        if not hasattr(self._own, "augments"):
            self._own.augments = copy.deepcopy(dict(self.augments))
        own: DeepAugment = self._own.augments[part]
        return own


def prepare(request: CopyRequest) -> DeepAugmentCopying:
    """DeepAugment with networks that were learned on the images of the request."""
    return DeepAugmentCopying(request, {kind: DeepAugment(_network(kind, request)) for kind in KINDS})


def _network(kind: str, request: CopyRequest) -> Any:
    def learn() -> dict[str, Any]:
        request.tell(f"deepaugment: learning its network {kind} on {len(request.images)} images, about a minute")
        images = learned_from(request.images, rng_for("deepaugment", "learned from", seed=request.seed), side=SIDE)
        state: dict[str, Any] = learned_network(kind, images, seed=request.seed).state_dict()
        return state

    about = {"version": VERSION, "kind": kind, "images": request.digest, "seed": request.seed}
    network = new_network(kind, seed=request.seed).eval().requires_grad_(False)
    try:
        network.load_state_dict(kept(request.networks, f"deepaugment-{kind}", about, learn))
    except RuntimeError as error:
        raise ModelError(f"{request.networks}: holds another network named {kind}; remove it") from error
    return network


deepaugment = CopyMethod(KINDS, VERSION, prepare)
