"""``oodometer train``: a small network from labelled images to an ONNX file with its card."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, import_plugins, plugins, print_json, say
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.core.dataset import Dataset
    from oodometer.core.model import Card
    from oodometer.train.loop import Epoch
    from oodometer.train.recipe import Recipe
    from oodometer.train.training import Trained

SECONDS_BETWEEN_EPOCHS = 1.0
PLAIN_AUGMENTATIONS = {"mirror", "crop"}
"""What every network for small images is trained with, and what no one calls an intervention."""


@click.command(
    "train",
    help="Train a small network on DATA (a folder, an array, a manifest...) and write it as ONNX with its card. A "
    "tenth of the images, and what is held out, is never trained on. The same command goes on after a kill.",
)
@click.argument("data")
@click.option(
    "--net",
    metavar="NAME",
    help="resnet20, resnet56, resnet20x2 (twice as wide), wrn16-2, densenet40, resnext29, linear, random-features, "
    "nearest...",
)
@click.option("--like", metavar="CARD", help="As the card (.toml) of a trained model says; other options change that.")
@click.option("-o", "--out", metavar="FILE", help="The .onnx file; card and checkpoint lie beside it.  [default: NET]")
@click.option(
    "--hold-out",
    "hold_outs",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Never train on these; of icons also subtypes, versions; several times, or with commas.",
)
@click.option("--epochs", type=click.IntRange(min=1), default=30, show_default=True, help="Passes over the images.")
@click.option("--lr", type=float, default=0.1, show_default=True, help="Learning rate at first; then half a cosine.")
@click.option("--batch", type=click.IntRange(min=2), default=128, show_default=True, help="Images per step.")
@click.option("--width", type=click.FloatRange(min=0, min_open=True), help="Of a ResNet: so many times the channels.")
@click.option("--size", type=click.IntRange(min=4), default=32, show_default=True, help="Pixels in each direction.")
@click.option(
    "--augment", default="mirror,crop", show_default=True, metavar="NAME,...", help="mirror, crop, erase, or none."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the first weights and every draw.")
@click.option("--init", metavar="FILE", help="Begin with the weights of this checkpoint (.pt), maybe of other classes.")
@click.option("--half", is_flag=True, help="Store the weights in float16; the model still computes in float32.")
@click.option("--category", help="For the card: standard, robust intervention, adversarially trained, more data.")
@click.option("--parent", metavar="NAME", help="For the card: the model that this one differs from in one thing.")
@click.option("--device", type=click.Choice(["cpu", "cuda", "mps"]), default="cpu", show_default=True)
@click.option(
    "--threads", type=click.IntRange(min=0), default=0, help="Of torch; 0: one per core. The result depends on it."
)
@click.option("--force", is_flag=True, help="Replace the model and the checkpoint of another training.")
@plugins
@as_json
def command(data: str, out: str | None, as_json: bool, plugin_modules: tuple[str, ...], **said: Any) -> None:
    """Train one network."""
    from oodometer.core.model import Compute
    from oodometer.data.load import load_data
    from oodometer.train.training import Job, TrainingWatcher, train

    import_plugins(plugin_modules)
    said = _with_card(said)
    recipe = _recipe(said)
    dataset = load_data(data)
    hold_outs = tuple(one.strip() for several in said["hold_outs"] for one in several.split(","))
    job = Job(
        dataset,
        recipe,
        Path(out or f"{recipe.net}.onnx"),
        hold_outs=hold_outs,
        init=Path(said["init"]) if said["init"] else None,
        card=_card(dataset, hold_outs, recipe.augment, said),
        half=said["half"],
        compute=Compute(device=said["device"], threads=said["threads"]),
        force=said["force"],
    )
    trained = train(job, TrainingWatcher(EpochLines(), say))
    if not trained.is_new:
        say(f"nothing new to do: {job.out} is the result of this very training")
    _print(trained, job.out, as_json=as_json)


def _with_card(said: dict[str, Any]) -> dict[str, Any]:
    """The options; those that were not given are the card's, where there is one."""
    if said["like"] is None:
        return said
    from click.core import ParameterSource

    from oodometer.train.recipe_from_card import options_like

    context = click.get_current_context()
    told = options_like(Path(said["like"]))
    if (first := told.pop("began_with")) and not said["init"]:
        raise UsageError(f"{said['like']}: it began with the weights of {first}; give their checkpoint with --init")
    given = {name for name in said if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    return {**said, **{name: value for name, value in told.items() if name not in given}}


def _recipe(said: dict[str, Any]) -> Recipe:
    from oodometer.train.augment.registry import parse_augmentations
    from oodometer.train.networks.registry import with_width
    from oodometer.train.recipe import Recipe

    if said["net"] is None:
        raise UsageError("which network? Give --net NAME, for example resnet20, or --like CARD")
    names = ("epochs", "lr", "batch", "seed", "size", "momentum", "weight_decay")
    return Recipe(
        net=said["net"] if said["width"] is None else with_width(said["net"], said["width"]),
        augment=parse_augmentations(said["augment"]),
        **{name: said[name] for name in names if name in said},
    )


class EpochLines:
    """A line for an epoch, if the last one was a while ago, and for the last epoch in any case."""

    def __init__(self) -> None:
        self.said = 0.0

    def __call__(self, epoch: Epoch) -> None:
        """Tell how the epoch went."""
        now = time.monotonic()
        if now - self.said < SECONDS_BETWEEN_EPOCHS and epoch.number < epoch.n_epochs:
            return
        self.said = now
        say(
            f"epoch {epoch.number}/{epoch.n_epochs}: loss {epoch.loss:.4f}, accuracy {epoch.accuracy:.4f}, "
            f"IID accuracy {epoch.iid_accuracy:.4f}, {epoch.seconds:.1f} s"
        )


def _card(dataset: Dataset, hold_outs: tuple[str, ...], augment: tuple[str, ...], said: dict[str, Any]) -> Card:
    """The card; where no category is said, more weights and further augmentations tell it."""
    from oodometer.core.model import Card

    interventions = tuple(one for one in augment if one not in PLAIN_AUGMENTATIONS)
    default = "more data" if said["init"] else "robust intervention" if interventions else "standard"
    without = f" without {', '.join(hold_outs)}" if hold_outs else ""
    category: Any = said["category"] or default
    return Card(
        category=category,
        parent=said["parent"],
        interventions=interventions,
        training_data=f"{dataset.name}{without}",
    )


def _print(trained: Trained, out: Path, *, as_json: bool) -> None:
    from oodometer.analysis.text import columns
    from oodometer.stats.intervals import share_of

    accuracy = share_of(trained.n_right, trained.n_iid)
    notes = trained.model.notes
    if as_json:
        print_json(
            {
                "model": trained.model.name,
                "file": str(out),
                "architecture": notes["architecture"],
                "parameters": int(notes["parameters"]),
                "training_images": trained.n_training,
                "held_out_images": trained.n_held_out,
                "iid_accuracy": vars(accuracy),
                "digest": trained.model.digest,
                "is_new": trained.is_new,
            }
        )
        return
    rows = [
        ["file", "network", "parameters", "trained on", "held out", "IID accuracy"],
        [
            str(out),
            notes["architecture"],
            notes["parameters"],
            str(trained.n_training),
            str(trained.n_held_out),
            str(accuracy),
        ],
    ]
    click.echo(columns(rows))
