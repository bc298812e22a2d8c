"""A training that is asked for, and who is told how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from oodometer.core.dataset import Dataset
from oodometer.core.model import Card, Compute
from oodometer.train.loop import Epoch
from oodometer.train.portion import Portion
from oodometer.train.recipe import Recipe
from oodometer.train.style_sources import StyleSources


@dataclass(frozen=True)
class TrainingJob:
    """What is to be trained, on what, and where it goes.

    Args:
        dataset: Labelled images.
        recipe: How it is trained.
        out: The .onnx file; its card gets the same name with .toml, its checkpoint with .pt.
        hold_outs: What the model must not see, as ``COLUMN=VALUE``.
        init: A checkpoint whose weights are the first ones.
        card: What is said of the model's place among others.
        half: Store the weights in float16.
        compute: Device and threads.
        force: Replace the model and the checkpoint of another training.
        recipe_name: What the recipe is called, for the card.
        style: What is brought for style transfers, where copies are made by them.
        label: The column whose values the labels are, for the card; None: the data's own labels.
        portion: What of the images is trained on.
        test: The test images that are published with them, labelled in the same way; None: a tenth is the IID test.
    """

    dataset: Dataset
    recipe: Recipe
    out: Path
    hold_outs: tuple[str, ...] = ()
    init: Path | None = None
    card: Card = field(default_factory=Card)
    half: bool = False
    compute: Compute = field(default_factory=lambda: Compute(threads=0))
    force: bool = False
    recipe_name: str | None = None
    label: str | None = None
    portion: Portion = field(default_factory=Portion)
    test: Dataset | None = None
    style: StyleSources = field(default_factory=StyleSources)

    @property
    def checkpoint(self) -> Path:
        """Where the state of the training is kept."""
        return self.out.with_suffix(".pt")


@dataclass(frozen=True)
class TrainingWatcher:
    """Who is told how it goes."""

    epoch: Callable[[Epoch], None]
    note: Callable[[str], None]
