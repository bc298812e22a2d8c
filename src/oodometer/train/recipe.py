"""How a model is trained: everything that, with the data, decides what comes out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from oodometer.core.errors import UsageError
from oodometer.core.preprocessing import Geometry
from oodometer.train.adversaries.registry import adversaries
from oodometer.train.augment.registry import of_batches, parse_augmentations, parted
from oodometer.train.networks.registry import is_trained
from oodometer.train.objectives.registry import PLAIN, objectives
from oodometer.train.schedule import COSINE, drops_of

FLOAT32, MIXED = "float32", "mixed"
PRECISIONS = (FLOAT32, MIXED)

LATER = {
    "schedule": COSINE,
    "warm_up": 0,
    "objective": PLAIN,
    "weight": None,
    "adversarial": None,
    "eps": None,
    "precision": FLOAT32,
}
"""Fields that came after the first models, and what these were trained with: their keys are to stay as they are."""


@dataclass(frozen=True)
class Recipe:
    """The numbers of a training; the defaults are those of ResNets on small images (He et al. 2016, section 4.2).

    Args:
        net: Name of the network.
        epochs: Passes over the training images.
        lr: The highest learning rate, that of the first step where there is no warm-up.
        schedule: ``cosine``, or ``steps:30,60,80``: the rate drops to a tenth after these epochs.
        warm_up: Epochs in which the rate grows to ``lr``.
        batch: Images per step.
        augment: Names of augmentations in their order.
        seed: Of the first weights, the order of the images and every augmentation.
        size: Height and width of the input.
        momentum, weight_decay: Of stochastic gradient descent (Nesterov).
        objective: What is learned from a batch: ``plain``, ``consistency`` or ``stability``.
        weight: Of the objective's term beside the cross-entropy; None: as it is published.
        adversarial: Who perturbs the training images: ``zero-step``, ``fgsm``, ``pgd``, ``fast``; None: nobody.
        eps: The largest change of a pixel, of an adversary or of the stability, in levels of 255; None: as published.
        precision: ``float32``, or ``mixed``: convolutions and products in bfloat16, sums, normalisation and weights in
            float32. Faster where the machine has instructions for it; the tests are answered in float32.
    """

    net: str = "resnet20"
    epochs: int = 30
    lr: float = 0.1
    schedule: str = COSINE
    warm_up: int = 0
    batch: int = 128
    augment: tuple[str, ...] = ("mirror", "crop")
    seed: int = 0
    size: int = 32
    momentum: float = 0.9
    weight_decay: float = 5e-4
    objective: str = PLAIN
    weight: float | None = None
    adversarial: str | None = None
    eps: float | None = None
    precision: str = FLOAT32

    def __post_init__(self) -> None:
        if is_trained(self.net) and self.epochs < 1:
            raise UsageError(f"{self.epochs} epochs: there must be at least 1")
        if self.batch < 2:
            raise UsageError(f"a batch of {self.batch}: there must be at least 2 images in it, to normalise over")
        if not self.lr > 0:
            raise UsageError(f"a learning rate of {self.lr:g}: it must be above 0")
        if not self.weight_decay >= 0:
            raise UsageError(f"a weight decay of {self.weight_decay:g}: it must be 0 or above")
        if self.precision not in PRECISIONS:
            raise UsageError(f"--precision {self.precision}: there are {' and '.join(PRECISIONS)}")
        parse_augmentations(",".join(self.augment))
        self._check_schedule()
        self._check_method()

    def _check_schedule(self) -> None:
        drops_of(self.schedule)
        if not 0 <= self.warm_up < max(self.epochs, 1):
            raise UsageError(f"--warm-up {self.warm_up}: from 0 to fewer than the {self.epochs} epochs of the training")

    def _check_method(self) -> None:
        """Refuse what does not go together, and write down the published numbers where none are said."""
        objective = objectives.get(self.objective)
        adversary = None if self.adversarial is None else adversaries.get(self.adversarial)
        if adversary is not None and self.objective != PLAIN:
            raise UsageError(
                f"--adversarial {self.adversarial}: it goes with the plain objective, not {self.objective}"
            )
        # What makes further training images ahead of time does not count: those are images, and not copies of a batch.
        if objective.compares_copies and not parted(of_batches(self.augment))[1]:
            raise UsageError(
                f"--objective {self.objective}: it compares augmented copies of an image; name an augmentation of "
                "batches besides mirror and crop: --augment mirror,crop,augmix"
            )
        usual_eps = objective.eps if adversary is None else adversary.eps
        self._settle("eps", usual_eps, "--adversarial NAME or --objective stability")
        self._settle("weight", objective.weight, "--objective consistency or stability")

    def _settle(self, name: str, usual: float | None, whose: str) -> None:
        """The number that is said, or the usual one; an error where there is nothing to which it could belong."""
        said = getattr(self, name)
        number = usual if said is None else said
        # As a float: 8 and 8.0 are one number, and are to have one key.
        object.__setattr__(self, name, None if number is None else float(number))
        if said is None:
            return
        flag = {"eps": "--eps", "weight": "--objective-weight"}[name]
        if usual is None:
            raise UsageError(f"{flag} {said:g}: it belongs to {whose}; name that too, or leave it out")
        if not 0 < said < float("inf"):
            raise UsageError(f"{flag} {said:g}: it must be above 0")

    @property
    def view(self) -> Geometry:
        """How images become the input."""
        return Geometry(self.size, self.size)

    @property
    def has_adversary(self) -> bool:
        """Whether somebody who asks the network perturbs the images; noise is nobody."""
        return self.adversarial is not None and adversaries.get(self.adversarial).asks_network

    @property
    def interventions(self) -> tuple[str, ...]:
        """What is done besides the usual, by name, for the card."""
        others = [name for name in (self.objective, self.adversarial) if name not in (PLAIN, None)]
        return (*parted(self.augment)[1], *map(str, others))

    def describe(self) -> dict[str, Any]:
        """All numbers as plain values; of what came later than the first trainings, only what is not as it was then."""
        later = {name for name in LATER if getattr(self, name) == LATER[name]}
        told = {name: value for name, value in asdict(self).items() if name not in later}
        return {**told, "augment": list(self.augment)}
