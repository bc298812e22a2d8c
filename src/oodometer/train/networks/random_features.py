"""Random convolutional features (Coates, Lee & Ng 2011; Coates & Ng 2011) with a linear classifier.

The filters are patches of training images, chosen by chance, in whitened form. Patches of an image are normalised in
contrast and whitened, compared with every filter, and what exceeds a threshold, on either side of zero, is averaged
over the four quarters of the image. Only the linear classifier on these features is trained.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from oodometer.core.errors import UsageError

PATCH = 6
"""Pixels in each direction, as in the paper for images of 32 pixels."""
N_PATCHES = 50_000
"""From which the whitening is estimated."""
CONTRAST = 1e-3
"""Added to the variance of a patch: the authors' 10 for pixels up to 255, where these have a deviation of about 100."""
WHITENING = 0.1
"""Added to the eigenvalues of the covariance, as by the authors."""
THRESHOLD = 0.25
"""What a filter's answer must exceed to count: the soft threshold of Coates & Ng 2011."""


def random_features(n_classes: int, size: tuple[int, int], *, filters: int) -> Any:
    """The network with so many filters, of which none is chosen before ``prepare``."""
    if min(size) < PATCH + 1:
        raise UsageError(f"random-features: images must have at least {PATCH + 1} pixels in each direction")
    return RandomFeatures(n_classes, filters)


class RandomFeatures(nn.Module):  # type: ignore[misc]
    """Whitened patches as filters, thresholds, quarters, and a linear classifier."""

    def __init__(self, n_classes: int, filters: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.zeros(filters, 3, PATCH, PATCH))
        self.register_buffer("offset", torch.zeros(filters))
        self.norm = nn.BatchNorm1d(8 * filters, affine=False)
        self.classifier = nn.Linear(8 * filters, n_classes)
        nn.init.zeros_(self.classifier.weight)
        nn.init.zeros_(self.classifier.bias)

    def n_kept(self) -> int:
        """The numbers in the filters."""
        return int(self.weight.numel())

    def prepare(self, images: torch.Tensor, labels: np.ndarray, rng: np.random.Generator) -> None:  # noqa: ARG002
        """Choose the filters among the patches of the training images, (N, 3, H, W)."""
        patches = _contrast_normalised(_patches(images, rng))
        mean, whitening = patches.mean(dim=0), whitening_of(patches)
        chosen = patches[rng.choice(len(patches), len(self.offset), replace=len(patches) < len(self.offset))]
        directions = functional.normalize((chosen - mean) @ whitening, dim=1)
        whole = directions @ whitening
        # The mean of a patch is subtracted by the filter itself.
        centred = whole - whole.mean(dim=1, keepdim=True)
        self.weight.copy_(centred.reshape(self.weight.shape))
        self.offset.copy_(whole @ mean)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The logits."""
        box = torch.full((1, 3, PATCH, PATCH), 1 / (3 * PATCH * PATCH), dtype=x.dtype, device=x.device)
        mean, square = functional.conv2d(x, box), functional.conv2d(x * x, box)
        deviation = torch.sqrt(functional.relu(square - mean * mean) + CONTRAST)
        answers = functional.conv2d(x, self.weight) / deviation - self.offset[:, None, None]
        both = torch.cat([functional.relu(answers - THRESHOLD), functional.relu(-answers - THRESHOLD)], dim=1)
        return self.classifier(self.norm(_quarters(both)))


def whitening_of(patches: torch.Tensor) -> torch.Tensor:
    """The symmetric matrix that makes the covariance of the patches nearly the identity, (D, D)."""
    values, vectors = torch.linalg.eigh(torch.cov(patches.T))
    return vectors @ torch.diag((values + WHITENING).rsqrt()) @ vectors.T


def _quarters(answers: torch.Tensor) -> torch.Tensor:
    """The mean of each filter over the four quarters, (N, C, H, W) -> (N, 4 C)."""
    height, width = answers.shape[2] // 2, answers.shape[3] // 2
    rows = answers[:, :, :height], answers[:, :, height:]
    parts = [part for row in rows for part in (row[..., :width], row[..., width:])]
    return torch.cat([part.mean(dim=(2, 3)) for part in parts], dim=1)


def _patches(images: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Patches from random places, (n, 3 * PATCH * PATCH)."""
    n, _, height, width = images.shape
    picks = rng.integers(n, size=N_PATCHES)
    tops = rng.integers(height - PATCH + 1, size=N_PATCHES)
    lefts = rng.integers(width - PATCH + 1, size=N_PATCHES)
    windows = images.unfold(2, PATCH, 1).unfold(3, PATCH, 1)  # (N, 3, tops, lefts, PATCH, PATCH), a view
    return windows[picks, :, tops, lefts].reshape(N_PATCHES, -1)


def _contrast_normalised(patches: torch.Tensor) -> torch.Tensor:
    centred = patches - patches.mean(dim=1, keepdim=True)
    return centred / torch.sqrt((centred * centred).mean(dim=1, keepdim=True) + CONTRAST)
