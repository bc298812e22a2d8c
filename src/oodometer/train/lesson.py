"""A batch that is to be learned from, and the network that is asked about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oodometer.core.model import Input
from oodometer.core.random import rng_for
from oodometer.train.adversaries.registry import adversaries
from oodometer.train.augment.registry import Moment, augmented, parted
from oodometer.train.pixels import as_input
from oodometer.train.recipe import MIXED, Recipe

LEVELS = 255


@dataclass(frozen=True)
class Lesson:
    """A batch that is to be learned from.

    Args:
        network: As it learns, on its device.
        images: As they are in the data, (N, H, W, 3) uint8.
        judge: From the logits (N, K) to the mean loss against the labels, and how many answers are right.
        recipe: The numbers.
        given: What the network's input is made with.
        moment: The key of every draw.
        device: Where the network lies.
    """

    network: Any
    images: np.ndarray
    judge: Callable[[Any], tuple[Any, int]]
    recipe: Recipe
    given: Input
    moment: Moment
    device: str = "cpu"

    def augmented(self) -> np.ndarray:
        """The images after all augmentations."""
        return augmented(self.images, self.recipe.augment, self.moment)

    def plain_and_copies(self, n_copies: int) -> list[np.ndarray]:
        """The images as the plain augmentations (mirror, crop) leave them, then copies of these after the others."""
        usual, further = parted(self.recipe.augment)
        plain = augmented(self.images, usual, self.moment)
        copies = [augmented(plain, further, replace(self.moment, copy=copy)) for copy in range(n_copies)]
        return [plain, *copies]

    def ask(self, images: np.ndarray) -> Any:
        """The logits of images, (N, H, W, 3) uint8 -> (N, K)."""
        return self._answers(as_input(images, self.given).to(self.device))

    def pixels(self, images: np.ndarray) -> Any:
        """The images as a tensor in [0, 1], (N, 3, H, W) float32, where the network lies."""
        import torch

        return torch.from_numpy(images).to(self.device).float().div_(LEVELS).permute(0, 3, 1, 2)

    def ask_pixels(self, pixels: Any) -> Any:
        """The logits of pixels in [0, 1], (N, 3, H, W) -> (N, K): the normalisation is inside."""
        import torch

        mean, std = (
            torch.tensor(values, dtype=torch.float32, device=pixels.device).view(1, 3, 1, 1)
            for values in (self.given.mean, self.given.std)
        )
        return self._answers((pixels - mean) / std)

    def _answers(self, inputs: Any) -> Any:
        """The logits of what the network sees, in float32 whatever it computes in, so that losses are exact."""
        import torch

        mixed = self.recipe.precision == MIXED
        with torch.autocast(inputs.device.type, dtype=torch.bfloat16, enabled=mixed):
            logits = self.network(inputs)
        return logits.float()

    def perturbed(self, images: np.ndarray) -> Any:
        """The pixels after the recipe's adversary, in [0, 1], (N, 3, H, W).

        The adversary sees the network as it is tested: with the running statistics of batch normalisation, and without
        what is random in training. So an image's perturbation does not depend on its neighbours, and its steps leave no
        trace in the statistics; those come from the perturbed images alone, when they are learned from.
        """
        name, eps, moment = self.recipe.adversarial, self.recipe.eps, self.moment
        assert name is not None
        assert eps is not None
        rng = rng_for("adversary", name, moment.epoch, moment.step, seed=moment.seed)
        self.network.eval()
        try:
            perturbed = adversaries.get(name).perturb(self.pixels(images), self._gradients, eps / LEVELS, rng)
        finally:
            self.network.train()
        return perturbed.detach()

    def _gradients(self, pixels: Any) -> Any:
        import torch

        pixels = pixels.detach().requires_grad_()
        logits = self.ask_pixels(pixels)
        # In float32 the probability of a sure answer is 1, and its gradient lacks the label's part.
        wide = logits if logits.device.type == "mps" else logits.double()
        (gradients,) = torch.autograd.grad(self.judge(wide)[0], pixels)
        return gradients
