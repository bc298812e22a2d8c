"""How a model is trained: everything that, with the data, decides what comes out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from oodometer.core.errors import UsageError
from oodometer.core.preprocessing import Geometry
from oodometer.train.augment.registry import parse_augmentations
from oodometer.train.networks.registry import is_trained


@dataclass(frozen=True)
class Recipe:
    """The numbers of a training; the defaults are those of ResNets on small images (He et al. 2016, section 4.2).

    Args:
        net: Name of the network.
        epochs: Passes over the training images.
        lr: Learning rate at the first step.
        batch: Images per step.
        augment: Names of augmentations in their order.
        seed: Of the first weights, the order of the images and every augmentation.
        size: Height and width of the input.
        momentum, weight_decay: Of stochastic gradient descent (Nesterov).
    """

    net: str = "resnet20"
    epochs: int = 30
    lr: float = 0.1
    batch: int = 128
    augment: tuple[str, ...] = ("mirror", "crop")
    seed: int = 0
    size: int = 32
    momentum: float = 0.9
    weight_decay: float = 5e-4

    def __post_init__(self) -> None:
        if is_trained(self.net) and self.epochs < 1:
            raise UsageError(f"{self.epochs} epochs: there must be at least 1")
        if self.batch < 2:
            raise UsageError(f"a batch of {self.batch}: there must be at least 2 images in it, to normalise over")
        if not self.lr > 0:
            raise UsageError(f"a learning rate of {self.lr:g}: it must be above 0")
        if not self.weight_decay >= 0:
            raise UsageError(f"a weight decay of {self.weight_decay:g}: it must be 0 or above")
        parse_augmentations(",".join(self.augment))

    @property
    def view(self) -> Geometry:
        """How images become the input."""
        return Geometry(self.size, self.size)

    def describe(self) -> dict[str, Any]:
        """All numbers as plain values."""
        return {**asdict(self), "augment": list(self.augment)}
