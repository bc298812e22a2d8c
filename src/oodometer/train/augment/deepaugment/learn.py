"""The two networks of DeepAugment, learned on the training images: super-resolution and reconstruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oodometer.core.random import rng_for
from oodometer.train.augment.descent import Descent, descend
from oodometer.train.augment.first_weights import give_first_weights
from oodometer.train.augment.patches import patches
from oodometer.train.augment.tensors import as_tensor, resized
from oodometer.train.torch_threads import torch_threads

KINDS = ("edsr", "cae")
BATCH = 16
PATCH = 32
GAIN = {"edsr": 1 / 3, "cae": 2.0}
"""Of the first weights. What a distortion does grows with the weights it meets: with EDSR's by He's rule, one copy in
five was a surface of one colour."""
N_BEGIN = 256
"""Pieces whose principal components the auto-encoder begins with."""
STEPS = {"edsr": 350, "cae": 500}
RATE = {"edsr": 2e-3, "cae": 1e-3}


def new_network(kind: str, *, seed: int) -> Any:
    """The network of that kind with its first weights, which depend on the seed alone."""
    from oodometer.train.augment.deepaugment.cae import Cae
    from oodometer.train.augment.deepaugment.edsr import Edsr

    network = Edsr() if kind == "edsr" else Cae()
    give_first_weights(network, kind, seed=seed, gain=GAIN[kind])
    return network


def learned_network(kind: str, images: Sequence[np.ndarray], *, seed: int, steps: int | None = None) -> Any:
    """The network of that kind after learning from images of any size."""
    import torch

    network = new_network(kind, seed=seed).train()

    if kind == "cae":
        with torch_threads(1):
            network.begin_with(as_tensor(patches(images, N_BEGIN, PATCH, rng_for("cae", "begin", seed=seed))))

    def loss_of(rng: np.random.Generator) -> Any:
        wanted = as_tensor(patches(images, BATCH, PATCH, rng))
        given = resized(wanted, (PATCH // 2, PATCH // 2)) if kind == "edsr" else wanted
        return torch.nn.functional.l1_loss(network(given), wanted)

    descent = Descent(kind, STEPS[kind] if steps is None else steps, RATE[kind], seed)
    descend(descent, [one for one in network.parameters() if one.requires_grad], loss_of)
    return network.eval().requires_grad_(False)
