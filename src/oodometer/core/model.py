"""A model: what it wants to see, what it answers, and its card."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Final, Literal, Protocol, get_args, runtime_checkable

import numpy as np

from oodometer.core.errors import ModelError, UsageError, did_you_mean
from oodometer.core.labels import LabelSpace
from oodometer.core.preprocessing import Geometry
from oodometer.core.reading import check_texts

Category = Literal["", "standard", "robust intervention", "adversarially trained", "more data", "human"]
HUMAN: Final = "human"
"""The category of people who answered: a ceiling beside the models, never one of them."""

Device = Literal["cpu", "cuda", "mps"]
Channels = Literal["rgb", "bgr"]
CHANNELS: tuple[Channels, ...] = ("rgb", "bgr")
Forward = Callable[[np.ndarray], np.ndarray]
"""(N, H, W, 3) uint8 -> logits, (N, K) float32. May be called by several threads at once."""


@runtime_checkable
class Stoppable(Protocol):
    """A forward function that can be told from another thread to wait no longer for its library."""

    def stop(self) -> None:
        """End the calls that are under way with an error."""


PENDING = "oodometer-pending"
"""The name of threads in which a library computes what nobody may wait for any more."""

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Input:
    """The preprocessing of a model: geometry on uint8 pixels, then (pixel / 255 - mean) / std per channel.

    Args:
        mean, std: For red, green and blue, whatever the order of the channels.
        channels: The order in which the network wants them.
    """

    view: Geometry = field(default_factory=lambda: Geometry(224, 224, resize=256))
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD
    channels: Channels = "rgb"

    def __post_init__(self) -> None:
        if len(self.mean) != 3 or len(self.std) != 3:
            raise UsageError("mean and std need three numbers each, for red, green and blue")
        if min(self.std) <= 0:
            raise UsageError(f"std {list(self.std)}: must be above 0")
        if max(self.mean) > 1 or max(self.std) > 1.5:
            raise UsageError(
                f"mean {list(self.mean)}, std {list(self.std)}: give them for pixels in [0, 1], not [0, 255]"
            )
        if self.channels not in CHANNELS:
            raise UsageError(f"channels {self.channels!r}: expected rgb or bgr")

    def __str__(self) -> str:
        mean, std = (", ".join(f"{number:.4g}" for number in values) for values in (self.mean, self.std))
        return f"{self.view}; mean {mean}; std {std}" + ("; BGR" if self.is_bgr else "")

    @property
    def is_bgr(self) -> bool:
        """Whether the network wants blue first."""
        return self.channels == "bgr"

    @property
    def in_order(self) -> Input:
        """The same with mean and std in the order in which the network gets the channels."""
        return replace(self, mean=self.mean[::-1], std=self.std[::-1], channels="rgb") if self.is_bgr else self


@dataclass(frozen=True)
class Card:
    """Where a model comes from: what tells its place in a comparison.

    Args:
        category: Empty where nobody says: no line goes through such a model, lest it be its own baseline.
        parameters: How many numbers it has learned; None where nobody says and they can't be counted.
    """

    category: Category = ""
    parent: str | None = None
    interventions: tuple[str, ...] = ()
    training_data: str | None = None
    parameters: int | None = None

    def __post_init__(self) -> None:
        if self.parameters is not None and self.parameters < 1:
            raise UsageError(f"parameters {self.parameters}: a model has at least one, or leave it out")
        if self.category not in get_args(Category):
            known = [name for name in get_args(Category) if name]
            raise UsageError(f"no model category {self.category!r}{did_you_mean(self.category, known)}")


@dataclass(frozen=True)
class Compute:
    """What a forward pass may use.

    Args:
        device: Where it runs.
        threads: How many threads one call may use; the engine makes several calls at once.
        precision: ``mixed`` runs a GPU's forward pass in half precision where that is safe.
    """

    device: Device = "cpu"
    threads: int = 1
    precision: Literal["float32", "mixed"] = "float32"

    def __post_init__(self) -> None:
        if self.precision == "mixed" and self.device == "cpu":
            raise UsageError("mixed precision is for a GPU: add --device cuda (or mps), or leave --precision out")


@dataclass(frozen=True)
class Model:
    """A classifier of any runtime. Loading one reads its description; ``open`` readies it for work.

    Args:
        name: What the user calls it.
        kind: The runtime (onnx, torch...).
        digest: The digest of its weights.
        input: Its preprocessing.
        space: The classes it answers.
        open: Gives the function from uint8 pixels to logits on a device. A value that can be pickled: it describes
            the network, and reads it where it is called.
        differentiable: Gives the same network as a torch module on pixels in [0, 1], where it has gradients.
    """

    name: str
    kind: str
    digest: str
    input: Input
    space: LabelSpace
    open: Callable[[Compute], Forward]
    card: Card = field(default_factory=Card)
    differentiable: Callable[[Compute], Any] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_texts((self.name,), "the model")
        check_texts(self.space.classes, f"model {self.name}: the class")

    @cached_property
    def _forward(self) -> Forward:
        return self.open(Compute(threads=0))

    def __getstate__(self) -> dict[str, Any]:
        # An opened session can't be sent to another process; it is opened there.
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def logits(self, images: np.ndarray) -> np.ndarray:
        """The answers to a batch of pixels, (N, H, W, 3) uint8 -> (N, K) float32, on this machine's CPU."""
        return checked_logits(self, self._forward(images), len(images))


def checked_logits(model: Model, logits: np.ndarray, n_images: int) -> np.ndarray:
    """The logits, if they are what a classifier of these classes may answer."""
    if logits.shape != (n_images, len(model.space)):
        raise ModelError(
            f"model {model.name}: its output has shape {tuple(logits.shape)} for {n_images} images; "
            f"expected ({n_images}, {len(model.space)})"
        )
    if not np.isfinite(logits).all():
        row = int(np.flatnonzero(~np.isfinite(logits).all(axis=1))[0])
        raise ModelError(f"model {model.name}: NaN or infinite logits (image {row} of the batch)")
    return logits


def batches(n: int, size: int) -> Sequence[slice]:
    """Slices that cut n rows into batches."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def n_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
