"""A batch under attack: only what is answered rightly is attacked, a few images at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.attacks.answers import Answers, answers_of, import_torch, wrong
from oodometer.core.attack import Attacked, Target

CPU_PIXELS = 2 * 224 * 224
"""Per pass on a CPU. EfficientNet-Lite0, forwards and backwards, ms per image on one core: 68 for 1 image, 65 for 2,
78 for 4, 102 for 8, 153 for 32: the activations of more than a few images do not stay in the cache."""

GPU_IMAGES = 64
"""Per pass on a GPU, enough to keep it busy: a backward pass needs all activations, of a ResNet-50 90 MB per image."""


@dataclass(frozen=True)
class Victims:
    """Images that are answered rightly before the attack.

    Args:
        images: (N, 3, H, W) in [0, 1].
        labels: (N,).
        logits: The answers before the attack, (N, M).
    """

    answers: Answers
    images: Any
    labels: Any
    logits: Any
    ids: Sequence[str]


Perturb = Callable[[Victims], tuple[Any, Counter[str]]]
"""Gives the answers under attack, (N, M), and what was found."""


def attack_all(
    target: Target, images: np.ndarray, labels: np.ndarray, ids: Sequence[str], perturb: Perturb
) -> Attacked:
    """The answers under attack, (N, M); images that are answered wrongly as they are keep those answers."""
    answers, parts, findings = answers_of(target), [], Counter[str]()
    size = images_per_pass(*images.shape[1:3], device=target.device)
    for start in range(0, len(images), size):
        some = slice(start, start + size)
        logits, found = _attack_some(target.device, answers, (images[some], labels[some], ids[some]), perturb)
        parts.append(logits.cpu().numpy())
        findings.update(found)
    return Attacked(np.concatenate(parts).astype(np.float32, copy=False), findings)


def images_per_pass(height: int, width: int, *, device: str) -> int:
    """How many images one pass should take.

    >>> images_per_pass(224, 224, device="cpu"), images_per_pass(32, 32, device="cpu")
    (2, 98)
    >>> images_per_pass(224, 224, device="cuda")
    64
    """
    return max(1, CPU_PIXELS // (height * width)) if device == "cpu" else GPU_IMAGES


def _attack_some(
    device: str, answers: Answers, given: tuple[np.ndarray, np.ndarray, Sequence[str]], perturb: Perturb
) -> tuple[Any, Counter[str]]:
    torch = import_torch()
    images, labels, ids = given
    # A copy: torch shares memory, and warns of what it must not write. Contiguous: networks may call view() on it.
    pixels = torch.from_numpy(images.transpose(0, 3, 1, 2).copy()).to(device).float() / 255
    classes = torch.from_numpy(labels.astype(np.int64)).to(device)
    with torch.no_grad():
        logits = answers(pixels).float()
    right = ~wrong(logits, classes)
    n_right = int(right.sum())
    if n_right == 0:
        return logits, Counter(attacked=0)
    kept = [one for one, is_right in zip(ids, right.tolist(), strict=True) if is_right]
    victims = Victims(answers, pixels[right], classes[right], logits[right], kept)
    logits[right], findings = perturb(victims)
    return logits, Counter(attacked=n_right) + findings
