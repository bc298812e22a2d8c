"""DeepAugment against the bare forward passes of its networks.

python benchmarks/augment_copies.py [--images 256] [--side 32] [--rounds 5]

The networks have their first weights, which are as fast as learned ones; all is done on one thread, and measured in
seconds of the processor.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from oodometer.train.augment import DeepAugment
from oodometer.train.augment.deepaugment.deepaugment import MOST_PIXELS
from oodometer.train.augment.deepaugment.learn import KINDS, new_network


def seconds(work: Callable[[], object]) -> float:
    """How long a processor is at work."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def bare_passes(augment: DeepAugment, images: np.ndarray) -> None:
    """All images once through the network and nothing else, in batches as large as DeepAugment's largest."""
    size = max(1, MOST_PIXELS // (images.shape[1] * images.shape[2]))
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        for start in range(0, len(pixels), size):
            augment.network(pixels[start : start + size])


def main() -> None:
    """Measure both in turn, several times, and print the medians and their ratio."""
    parser = argparse.ArgumentParser(description="DeepAugment against bare forward passes.")
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    shape = (asked.images, asked.side, asked.side, 3)
    images = np.random.default_rng(0).integers(256, size=shape, dtype=np.uint8)
    for kind in KINDS:
        augment = DeepAugment(new_network(kind, seed=0).eval().requires_grad_(False))
        works = (lambda one=augment: one(images), lambda one=augment: bare_passes(one, images))
        for work in works:
            work()
        times = [[seconds(work) for work in works] for _ in range(asked.rounds)]
        ours, bare = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(one / other for one, other in times)
        rates = f"{asked.images / ours:.0f} images a second, bare passes {asked.images / bare:.0f}"
        print(f"{kind}: {rates}, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
