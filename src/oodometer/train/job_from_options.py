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
from oodometer.train.named_recipes import BEGIN_TRAINED, recipe_named
from oodometer.train.networks.registry import network_interventions, with_width
from oodometer.train.objectives.registry import PLAIN
from oodometer.train.portion import Portion, of_classes, portion_of
from oodometer.train.recipe import Recipe
from oodometer.train.recipe_from_card import options_like
from oodometer.train.style_sources import StyleSources

OF_RECIPE = (
    "epochs",
    "lr",
    "schedule",
    "warm_up",
    "batch",
    "seed",
    "size",
    "momentum",
    "weight_decay",
    "objective",
    "weight",
    "adversarial",
    "eps",
    "precision",
)
"""Options that are numbers and names of the recipe, as they are."""


@dataclass(frozen=True)
class TrainingOptions:
    """What is said about a training; what is None is that of the card it is like, or the usual.

    Args:
        recipe: The numbers of a paper by name, ``icons-50``; what is said besides changes them.
        net: resnet20, resnet56, wrn16-2, linear, nearest...
        width: Of a ResNet: so many times the channels.
        epochs, lr, schedule, warm_up, batch, size, seed, momentum, weight_decay: As of `Recipe`.
        augment: Names with commas, or ``none``.
        objective, weight, adversarial, eps, precision: As of `Recipe`.
        label: A column of the data whose values are to be told apart, rather than the labels.
        hold_outs: What is never trained on, as ``COLUMN=VALUE``; several with commas.
        share: Of the training images, ``1/8``: every class in proportion, smaller shares within larger ones.
        classes: Train on so many of the classes, by the seed.
        fold: ``1/5``: the first of five folds is the IID test, the others are trained on.
        init: A checkpoint (.pt) whose weights are the first ones.
        half: Store the weights in float16.
        category, parent: For the card.
        device: cpu, cuda or mps.
        threads: Of torch; 0: one per core. The result depends on it.
        style_images, style_weights: For ``augment="style"``: a folder of images whose styles are taken, and one of
            published weights (``vgg_normalised.pth``, ``decoder.pth``).
    """

    recipe: str | None = None
    net: str | None = None
    width: float | None = None
    epochs: int | None = None
    lr: float | None = None
    schedule: str | None = None
    warm_up: int | None = None
    batch: int | None = None
    size: int | None = None
    seed: int | None = None
    momentum: float | None = None
    weight_decay: float | None = None
    augment: str | None = None
    objective: str | None = None
    weight: float | None = None
    adversarial: str | None = None
    eps: float | None = None
    precision: str | None = None
    label: str | None = None
    hold_outs: Sequence[str] | None = None
    share: str | None = None
    classes: int | None = None
    fold: str | None = None
    init: str | None = None
    half: bool | None = None
    category: str | None = None
    parent: str | None = None
    device: str | None = None
    threads: int | None = None
    style_images: str | None = None
    style_weights: str | None = None


def training_job(
    dataset: Dataset,
    options: TrainingOptions,
    *,
    like: str | Path | None = None,
    out: str | Path | None = None,
    force: bool = False,
    test: Dataset | None = None,
) -> TrainingJob:
    """What is to be trained, for `train`.

    Args:
        like: The card (.toml) of a trained model, for all that the options do not say.
        out: The .onnx file; by default named after the network.
        force: Replace the model and the checkpoint of another training.
        test: The test images that are published with the training images (`published_test_set`): the IID test.
    """
    if like is not None and options.recipe is not None:
        raise UsageError("--recipe and --like both say how to train; give one of them")
    said = _with_recipe(options) if like is None else _with_card(options, Path(like))
    if options.recipe in BEGIN_TRAINED and not said.init:
        raise UsageError(f"--recipe {options.recipe} goes on with a trained network; give its checkpoint with --init")
    recipe = recipe_of(said)
    portion = portion_of(said.share, said.classes, said.fold)
    dataset = _labelled(dataset, said, recipe.seed)
    hold_outs = tuple(name.strip() for several in said.hold_outs or () for name in several.split(","))
    device: Any = said.device or "cpu"
    return TrainingJob(
        dataset,
        recipe,
        Path(out or f"{recipe.net}.onnx"),
        hold_outs=hold_outs,
        init=Path(said.init) if said.init else None,
        card=card_of(dataset, recipe, hold_outs, said, portion),
        half=bool(said.half),
        compute=Compute(device=device, threads=said.threads or 0),
        force=force,
        recipe_name=_told_recipe(options),
        label=said.label,
        portion=portion,
        test=None if test is None else _labelled(test, said, recipe.seed),
        style=style_of(said, recipe),
    )


def _labelled(dataset: Dataset, said: TrainingOptions, seed: int) -> Dataset:
    """The images with the labels, and of the classes, that the options say."""
    labelled = dataset if said.label is None else labelled_by(dataset, said.label)
    return labelled if said.classes is None else of_classes(labelled, said.classes, seed=seed)


def _with_recipe(said: TrainingOptions) -> TrainingOptions:
    """The options; those that were not said are the named recipe's."""
    return said if said.recipe is None else _where_unsaid(said, recipe_named(said.recipe))


def _told_recipe(said: TrainingOptions) -> str | None:
    """The name of the recipe for the card, and what was trained otherwise: ``icons-50, but epochs``."""
    if said.recipe is None:
        return None
    changed = [name for name, told in recipe_named(said.recipe).items() if getattr(said, name) not in (None, told)]
    return f"{said.recipe}, but {', '.join(changed)}" if changed else said.recipe


def _with_card(said: TrainingOptions, path: Path) -> TrainingOptions:
    """The options; those that were not said are the card's."""
    told = options_like(path)
    if (first := told.pop("began_with")) and not said.init:
        raise UsageError(f"{path}: it began with the weights of {first}; give their checkpoint with --init")
    for name, folder in told.pop("brought").items():
        if getattr(said, name) is None and "style" in (said.augment or told["augment"]).split(","):
            raise UsageError(f"{path}: it took styles from {folder}; give that folder with --{name.replace('_', '-')}")
    return _where_unsaid(said, told)


def _where_unsaid(said: TrainingOptions, told: Mapping[str, Any]) -> TrainingOptions:
    unsaid = {field.name for field in fields(said) if getattr(said, field.name) is None}
    return replace(said, **{name: value for name, value in told.items() if name in unsaid})


def style_of(said: TrainingOptions, recipe: Recipe) -> StyleSources:
    """What is brought for style transfers; an error where none are made."""
    style = StyleSources(said.style_images, said.style_weights)
    if style != StyleSources() and "style" not in recipe.augment:
        raise UsageError("--style-images and --style-weights are for --augment style, which is not asked for")
    return style


def recipe_of(said: TrainingOptions) -> Recipe:
    """The recipe of the options."""
    if said.net is None:
        raise UsageError("which network? Give --net NAME, for example resnet20, or --like CARD")
    numbers = {name: getattr(said, name) for name in OF_RECIPE if getattr(said, name) is not None}
    if said.augment is not None:
        numbers["augment"] = parse_augmentations(said.augment)
    return Recipe(net=said.net if said.width is None else with_width(said.net, said.width), **numbers)


def card_of(
    dataset: Dataset, recipe: Recipe, hold_outs: Sequence[str], said: TrainingOptions, portion: Portion
) -> Card:
    """The card; where no category is said, what the training does besides the usual tells it."""
    without = f" without {', '.join(hold_outs)}" if hold_outs else ""
    category: Any = said.category or _category(recipe, said)
    training_data = f"{dataset.name}{without}{portion.in_words()}"
    interventions = (*network_interventions(recipe.net), *recipe.interventions)
    return Card(category=category, parent=said.parent, interventions=interventions, training_data=training_data)


def _category(recipe: Recipe, said: TrainingOptions) -> str:
    """By what the training does; another network alone is a standard one."""
    if recipe.has_adversary:
        return "adversarially trained"
    if said.init and recipe.objective == PLAIN:
        return "more data"
    return "robust intervention" if recipe.interventions else "standard"
