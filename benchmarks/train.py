"""Augmenting a batch against its forward and backward passes, and a step of the loop against the bare step of torch.

python benchmarks/train.py [--batch 64] [--rounds 5]

ResNet-20 on images of 32 pixels, one thread.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from oodometer.core.model import Input
from oodometer.core.preprocessing import Geometry
from oodometer.core.random import rng_for
from oodometer.train.augment.registry import augmentations
from oodometer.train.loop import Work, make_optimizer, train_epoch
from oodometer.train.networks.registry import build_network
from oodometer.train.pixels import Pixels, as_input
from oodometer.train.recipe import Recipe

SIDE, N_CLASSES, N_STEPS = 32, 50, 4
GIVEN = Input(Geometry(SIDE, SIDE))
METHODS: dict[str, tuple[dict[str, Any], int]] = {
    "plain": ({}, 1),
    "augmix": ({"augment": ("mirror", "crop", "augmix")}, 1),
    "augmix, consistency": ({"augment": ("mirror", "crop", "augmix"), "objective": "consistency"}, 3),
    "stability": ({"objective": "stability"}, 2),
    "fgsm": ({"adversarial": "fgsm"}, 2),
    "fast": ({"adversarial": "fast"}, 2),
    "pgd": ({"adversarial": "pgd"}, 11),
}
"""Further methods, and how many forward and backward passes each needs; those of an adversary skip the weights."""


def seconds(work: Callable[[], object]) -> float:
    """How long a processor is at work; all is done on one thread, and what other programs do does not count."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def images_of(n: int) -> np.ndarray:
    """Smooth colours with noise on them, (N, 32, 32, 3)."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(256, size=(n, 4, 4, 3)).repeat(8, axis=1).repeat(8, axis=2)
    return np.clip(coarse + rng.normal(0, 10, coarse.shape), 0, 255).astype(np.uint8)


def network_of() -> Any:
    """A ResNet-20 that learns."""
    return build_network("resnet20", n_classes=N_CLASSES, size=(SIDE, SIDE)).train()


def passes(images: np.ndarray) -> Callable[[], object]:
    """The forward and backward passes of a batch."""
    network, ready = network_of(), as_input(images, GIVEN)
    labels = torch.arange(len(images)) % N_CLASSES
    return lambda: functional.cross_entropy(network(ready), labels).backward()


def bare_steps(images: np.ndarray, batch: int) -> Callable[[], object]:
    """All batches through a plain loop of torch, on pixels that are ready."""
    network = network_of()
    optimizer = make_optimizer(network, Recipe())
    ready = as_input(images, GIVEN).split(batch)
    labels = torch.arange(batch) % N_CLASSES

    def steps() -> None:
        for inputs in ready:
            optimizer.zero_grad(set_to_none=True)
            functional.cross_entropy(network(inputs), labels).backward()
            optimizer.step()

    return steps


def steps_of_loop(images: np.ndarray, batch: int, said: dict[str, Any]) -> Callable[[], object]:
    """All batches through the product's loop."""
    recipe = Recipe(batch=batch, **said)
    training = Pixels(images, np.arange(len(images)) % N_CLASSES, tuple(str(one) for one in range(len(images))))
    work = Work(network_of(), training, training, GIVEN, recipe)
    optimizer = make_optimizer(work.network, recipe)
    return lambda: train_epoch(work, optimizer, 0)


def compared(ours: Callable[[], object], peer: Callable[[], object], rounds: int) -> tuple[float, float, float]:
    """Seconds of both and the median of their ratios; each is first and last in turn, since machines are noisy."""
    ours(), peer()
    pairs = []
    for _ in range(rounds):
        first, second, third, fourth = (seconds(work) for work in (ours, peer, peer, ours))
        pairs.append(((first + fourth) / 2, (second + third) / 2))
    return min(a for a, _ in pairs), min(b for _, b in pairs), statistics.median(a / b for a, b in pairs)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Augmentations and steps of the loop.")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    said = parser.parse_args()
    torch.set_num_threads(1)
    batch = images_of(said.batch)
    peer = passes(batch)
    print(f"{'augmentation':22}{'ms per batch':>14}{'forward + backward':>20}{'ratio':>8}")
    for name in augmentations.names():
        augment = augmentations.get(name)
        ours, theirs, ratio = compared(lambda one=augment: one(batch, rng_for("benchmark")), peer, said.rounds)
        print(f"{name:22}{1000 * ours:14.1f}{1000 * theirs:20.1f}{ratio:8.2f}")
    images = images_of(said.batch * N_STEPS)
    print(f"\n{'step of the loop':22}{'ms':>14}{'bare step':>20}{'ratio':>8}{'passes':>8}")
    for name, (options, n_passes) in METHODS.items():
        loop = steps_of_loop(images, said.batch, options)
        ours, theirs, ratio = compared(loop, bare_steps(images, said.batch), said.rounds)
        print(f"{name:22}{1000 * ours / N_STEPS:14.1f}{1000 * theirs / N_STEPS:20.1f}{ratio:8.2f}{n_passes:8}")


if __name__ == "__main__":
    main()
