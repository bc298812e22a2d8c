"""A training by its options: those that are said, those of a card that it is to be like, and the usual ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.model import Card, Compute
from oodometer.data.training_set import labelled_by
from oodometer.train.augment.registry import parse_augmentations
from oodometer.train.job import TrainingJob
from oodometer.train.named_recipes import recipe_named
from oodometer.train.networks.registry import with_width
from oodometer.train.recipe import Recipe
from oodometer.train.recipe_from_card import options_like

PLAIN_AUGMENTATIONS = {"mirror", "crop", "crop-black"}
"""What every network for small images is trained with, and what no one calls an intervention."""

OF_RECIPE = ("epochs", "lr", "batch", "seed", "size", "momentum", "weight_decay")


@dataclass(frozen=True)
class TrainingOptions:
    """What is said about a training; what is None is that of the card it is like, or the usual.

    Args:
        recipe: The numbers of a paper by name, ``icons-50``; what is said besides changes them.
        net: resnet20, resnet56, wrn16-2, linear, nearest...
        width: Of a ResNet: so many times the channels.
        epochs, lr, batch, size, seed, momentum, weight_decay: As of `Recipe`.
        augment: Names with commas, or ``none``.
        label: A column of the data whose values are to be told apart, rather than the labels.
        hold_outs: What is never trained on, as ``COLUMN=VALUE``; several with commas.
        init: A checkpoint (.pt) whose weights are the first ones.
        half: Store the weights in float16.
        category, parent: For the card.
        device: cpu, cuda or mps.
        threads: Of torch; 0: one per core. The result depends on it.
    """

    recipe: str | None = None
    net: str | None = None
    width: float | None = None
    epochs: int | None = None
    lr: float | None = None
    batch: int | None = None
    size: int | None = None
    seed: int | None = None
    momentum: float | None = None
    weight_decay: float | None = None
    augment: str | None = None
    label: str | None = None
    hold_outs: Sequence[str] | None = None
    init: str | None = None
    half: bool | None = None
    category: str | None = None
    parent: str | None = None
    device: str | None = None
    threads: int | None = None


def training_job(
    dataset: Dataset,
    options: TrainingOptions,
    *,
    like: str | Path | None = None,
    out: str | Path | None = None,
    force: bool = False,
) -> TrainingJob:
    """What is to be trained, for `train`.

    Args:
        like: The card (.toml) of a trained model, for all that the options do not say.
        out: The .onnx file; by default named after the network.
        force: Replace the model and the checkpoint of another training.
    """
    if like is not None and options.recipe is not None:
        raise UsageError("--recipe and --like both say how to train; give one of them")
    said = _with_recipe(options) if like is None else _with_card(options, Path(like))
    recipe = recipe_of(said)
    dataset = dataset if said.label is None else labelled_by(dataset, said.label)
    hold_outs = tuple(name.strip() for several in said.hold_outs or () for name in several.split(","))
    device: Any = said.device or "cpu"
    return TrainingJob(
        dataset,
        recipe,
        Path(out or f"{recipe.net}.onnx"),
        hold_outs=hold_outs,
        init=Path(said.init) if said.init else None,
        card=card_of(dataset, recipe, hold_outs, said),
        half=bool(said.half),
        compute=Compute(device=device, threads=said.threads or 0),
        force=force,
        recipe_name=_told_recipe(options),
        label=said.label,
    )


def _with_recipe(said: TrainingOptions) -> TrainingOptions:
    """The options; those that were not said are the named recipe's."""
    return said if said.recipe is None else _where_unsaid(said, recipe_named(said.recipe))


def _told_recipe(said: TrainingOptions) -> str | None:
    """The name of the recipe for the card, and what was trained otherwise: ``icons-50, but epochs``."""
    if said.recipe is None:
        return None
    changed = [name for name in recipe_named(said.recipe) if getattr(said, name) is not None]
    return f"{said.recipe}, but {', '.join(changed)}" if changed else said.recipe


def _with_card(said: TrainingOptions, path: Path) -> TrainingOptions:
    """The options; those that were not said are the card's."""
    told = options_like(path)
    if (first := told.pop("began_with")) and not said.init:
        raise UsageError(f"{path}: it began with the weights of {first}; give their checkpoint with --init")
    return _where_unsaid(said, told)


def _where_unsaid(said: TrainingOptions, told: Mapping[str, Any]) -> TrainingOptions:
    unsaid = {field.name for field in fields(said) if getattr(said, field.name) is None}
    return replace(said, **{name: value for name, value in told.items() if name in unsaid})


def recipe_of(said: TrainingOptions) -> Recipe:
    """The recipe of the options."""
    if said.net is None:
        raise UsageError("which network? Give --net NAME, for example resnet20, or --like CARD")
    numbers = {name: getattr(said, name) for name in OF_RECIPE if getattr(said, name) is not None}
    if said.augment is not None:
        numbers["augment"] = parse_augmentations(said.augment)
    return Recipe(net=said.net if said.width is None else with_width(said.net, said.width), **numbers)


def card_of(dataset: Dataset, recipe: Recipe, hold_outs: Sequence[str], said: TrainingOptions) -> Card:
    """The card; where no category is said, other first weights and further augmentations tell it."""
    interventions = tuple(name for name in recipe.augment if name not in PLAIN_AUGMENTATIONS)
    default = "more data" if said.init else "robust intervention" if interventions else "standard"
    without = f" without {', '.join(hold_outs)}" if hold_outs else ""
    category: Any = said.category or default
    training_data = f"{dataset.name}{without}"
    return Card(category=category, parent=said.parent, interventions=interventions, training_data=training_data)
