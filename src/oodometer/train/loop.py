"""The loop: stochastic gradient descent with Nesterov momentum, from any epoch on."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.core.errors import ModelError
from oodometer.core.model import Input, batches
from oodometer.core.random import rng_for
from oodometer.train.augment.registry import Moment
from oodometer.train.lesson import Lesson
from oodometer.train.objectives.registry import objectives
from oodometer.train.pixels import Pixels, as_input
from oodometer.train.recipe import Recipe
from oodometer.train.schedule import rate_at

IMAGES_PER_TEST_BATCH = 256

LossOf = Callable[[Any, np.ndarray], tuple[Any, int]]
"""From logits (N, K) and the rows of their images to the mean loss, and how many answers are right."""


@dataclass(frozen=True)
class Epoch:
    """How an epoch went.

    Args:
        number, n_epochs: Which it was, from 1 on.
        loss: The mean of what is made small (the cross-entropy, of most), while they were learned from.
        accuracy: The share of right answers to them, at that time; of images with several labels, any is right.
        iid_accuracy: The share of right answers to the IID test afterwards.
        seconds: What it took.
    """

    number: int
    n_epochs: int
    loss: float
    accuracy: float
    iid_accuracy: float
    seconds: float


@dataclass(frozen=True)
class Work:
    """What a loop works with.

    Args:
        network: A torch module on its device, changed in place.
        training, iid: The images that are learned from, and those that are only asked about.
        given: What the network's input is made with.
        recipe: The numbers.
        device: Where the network lies.
    """

    network: Any
    training: Pixels
    iid: Pixels
    given: Input
    recipe: Recipe
    device: str = "cpu"


def make_optimizer(network: Any, recipe: Recipe) -> Any:
    """Stochastic gradient descent with Nesterov momentum and weight decay on all weights."""
    import torch

    return torch.optim.SGD(
        network.parameters(), lr=recipe.lr, momentum=recipe.momentum, weight_decay=recipe.weight_decay, nesterov=True
    )


def train_epochs(work: Work, optimizer: Any, *, first: int, after: Callable[[Epoch], None]) -> None:
    """Train the network from epoch ``first`` (0 is the beginning) to the last one; ``after`` is called at each end."""
    for epoch in range(first, work.recipe.epochs):
        begun = time.monotonic()
        loss, accuracy = train_epoch(work, optimizer, epoch)
        if not math.isfinite(loss):
            raise ModelError(
                f"{work.recipe.net}: the loss is not finite in epoch {epoch + 1}; train with a smaller --lr"
            )
        right = work.iid.right(predictions(work, work.iid.images))
        seconds = time.monotonic() - begun
        after(Epoch(epoch + 1, work.recipe.epochs, loss, accuracy, float(right.mean()), seconds))


def train_epoch(work: Work, optimizer: Any, epoch: int) -> tuple[float, float]:
    """Learn from every training image once; the mean loss and the accuracy on the way."""
    import torch

    work.network.train()
    order = orders(len(work.training), work.recipe, epoch)
    loss_of, objective = loss_for(work.training), objectives.get(work.recipe.objective)
    loss_sum = torch.zeros((), dtype=torch.float64)
    n_right = 0
    for step, rows in enumerate(order):
        rate = _rate(work.recipe, epoch * len(order) + step, len(order))
        for group in optimizer.param_groups:
            group["lr"] = rate
        moment = Moment(epoch, step, work.recipe.seed)
        begin_step(work.network, moment)
        loss, n_right_here = objective.of(lesson_of(work, rows, moment, loss_of))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach().double().cpu() * len(rows)
        n_right += n_right_here
    return float(loss_sum) / len(work.training), n_right / len(work.training)


def lesson_of(work: Work, rows: np.ndarray, moment: Moment, loss_of: LossOf) -> Lesson:
    """The batch of these training images."""
    return Lesson(
        network=work.network,
        images=work.training.images[rows],
        judge=lambda logits: judged(work.network, loss_of, logits, rows),
        recipe=work.recipe,
        given=work.given,
        moment=moment,
        device=work.device,
    )


def begin_step(network: Any, moment: Moment) -> None:
    """Tell a network that draws random numbers of its own (``begin_step``) which step they are for."""
    if hasattr(network, "begin_step"):
        network.begin_step(rng_for("network", moment.epoch, moment.step, seed=moment.seed))


def judged(network: Any, loss_of: LossOf, logits: Any, rows: np.ndarray) -> tuple[Any, int]:
    """The loss of these logits, and how many are right; what the network said on the way counts in the loss, too.

    While it learns, a network with classifiers on the way keeps what they said of the last batch (``side_logits``);
    where copies of the images were shown besides, the images themselves come first. As it is tested, and so when an
    adversary asks it, only its answer counts.
    """
    loss, n_right = loss_of(logits, rows)
    for said in getattr(network, "side_logits", ()):
        loss = loss + loss_of(said[: len(rows)].float(), rows)[0]
    return loss, n_right


def _rate(recipe: Recipe, step: int, n_per_epoch: int) -> float:
    return rate_at(
        step,
        n_per_epoch,
        schedule=recipe.schedule,
        epochs=recipe.epochs,
        warm_up=recipe.warm_up,
        first=recipe.lr,
    )


def loss_for(training: Pixels) -> LossOf:
    """The loss against the labels of the training images.

    Cross-entropy; where images have several labels each, the binary one of every class.
    """
    import torch
    from torch.nn import functional

    labels = torch.from_numpy(training.labels)

    def of_one_label(logits: Any, rows: np.ndarray) -> tuple[Any, int]:
        wanted = labels[rows].to(logits.device)
        return functional.cross_entropy(logits, wanted), int((logits.detach().argmax(dim=1) == wanted).sum())

    def of_several(logits: Any, rows: np.ndarray) -> tuple[Any, int]:
        batch = training.take(rows)
        wanted = torch.from_numpy(batch.targets(logits.shape[1])).to(logits.device)
        right = batch.right(logits.detach().argmax(dim=1).cpu().numpy())
        return functional.binary_cross_entropy_with_logits(logits, wanted), int(right.sum())

    return of_one_label if training.other_labels is None else of_several


def orders(n_images: int, recipe: Recipe, epoch: int) -> list[np.ndarray]:
    """The rows of each batch of an epoch: all images once, in batches of nearly equal size."""
    shuffled = rng_for("order", epoch, seed=recipe.seed).permutation(n_images)
    return np.array_split(shuffled, math.ceil(n_images / recipe.batch))


def predictions(work: Work, images: np.ndarray) -> np.ndarray:
    """The class that the network answers for each image, (N,)."""
    return np.asarray(logits_of(work, images).argmax(axis=1))


def logits_of(work: Work, images: np.ndarray) -> np.ndarray:
    """The network's logits, (N, K) float32, with everything as it is when nothing is learned."""
    import torch

    work.network.eval()
    with torch.no_grad():
        parts = [
            work.network(as_input(images[rows], work.given).to(work.device)).float().cpu().numpy()
            for rows in batches(len(images), IMAGES_PER_TEST_BATCH)
        ]
    return np.concatenate(parts)
