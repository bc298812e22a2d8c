"""``oodometer run``: ask models about conditions and keep every prediction."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import (
    as_json,
    data_root,
    frost_textures,
    import_plugins,
    plugins,
    print_json,
    say,
    talk_on_stderr,
    use_frost,
    watching,
)

if TYPE_CHECKING:
    from oodometer.core.condition import Condition, Shift
    from oodometer.models.card import Declared


def numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:  # noqa: ARG001
    """Three numbers with commas between them."""
    if value is None:
        return None
    try:
        parts = tuple(float(part) for part in value.split(","))
    except ValueError:
        parts = ()
    if len(parts) != 3:
        raise click.BadParameter(f"{value!r}: expected three numbers, for example 0.5,0.5,0.5")
    return parts


def resize_rule(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:  # noqa: ARG001
    """A number of pixels, or ``squash``."""
    if value is None or value == "squash":
        return value
    if not value.isdigit():
        raise click.BadParameter(f"{value!r}: expected a number of pixels for the shorter side, or squash")
    return int(value)


@click.command("run", help="Ask models about conditions and keep every prediction; a second run does what is missing.")
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    metavar="[NAME=]KIND:REST",
    help="onnx:FILE, torch:MODULE:FUNCTION or FILE, timm:NAME, zoo:NAME, callable:MODULE:FUNCTION, "
    "predictions:FILE; may be given several times.",
)
@click.option(
    "--data",
    metavar="ADDRESS",
    help="Folder of class folders, array, tar shards, Parquet, or manifest; a path or fsspec address.",
)
@click.option("--data-kind", metavar="KIND", help="Say what the data are instead of letting the address tell.")
@data_root
@click.option("--partial", is_flag=True, help="Use published sets that are not whole.")
@click.option(
    "--on",
    "conditions",
    multiple=True,
    metavar="NAME",
    help="What the models are asked to look at: a shift, a suite or a group of them ('oodometer ls shifts'); may be "
    "given several times.  [default: clean]",
)
@click.option("--base", metavar="COLUMN=VALUE,...", help="Attribute shifts: what the images of the base have.")
@click.option("--shift", "shifts", multiple=True, metavar="COLUMN=VALUE", help="Attribute shifts: what changes.")
@click.option(
    "--test-share",
    type=float,
    metavar="SHARE",
    help="Attribute shifts: of the base, for the IID test, where no column split says; 1: all of it.  [default: "
    "0.1, and at least 100 images or half of the base]",
)
@click.option("--ood", multiple=True, metavar="DIR", help="A folder of any images of no class, for 'score --ood'.")
@click.option("--style-weights", metavar="DIR", help="For adain: the folder of vgg_normalised.pth and decoder.pth.")
@click.option("--style-images", metavar="DIR", help="For adain: the folder of paintings.")
@click.option("--store", default="runs", show_default=True, metavar="ADDRESS", help="Where predictions are kept.")
@click.option("--images", type=click.IntRange(min=1), metavar="N", help="Only N images, shared out among the classes.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of images and of every draw.")
@click.option(
    "--keep",
    type=click.Choice(["summary", "logits"]),
    default="summary",
    show_default=True,
    help="logits: store all of them too, as float16.",
)
@click.option("--skip-broken", is_flag=True, help="Leave out images that can't be read; n says so.")
@click.option("--rehash", is_flag=True, help="Read every image again, also those that seem unchanged.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Chunks worked on at once; 0: one per core.")
@click.option("--chunk", type=click.IntRange(min=0), default=0, help="Images per chunk; 0: chosen by the data's size.")
@click.option("--device", type=click.Choice(["cpu", "cuda", "mps"]), default="cpu", show_default=True)
@click.option("--precision", type=click.Choice(["float32", "mixed"]), default="float32", show_default=True)
@frost_textures
@click.option("--allow-pickle", is_flag=True, help="Load model files that may run code; only those you trust.")
@click.option("--category", help="Card: standard, robust intervention, adversarially trained, or more data.")
@click.option("--parent", help="Card: the model that this one was made from.")
@click.option("--intervention", "interventions", multiple=True, help="Card: what was done to it; several times.")
@click.option("--training-data", help="Card: what it was trained on.")
@click.option("--size", type=click.IntRange(min=1), help="Input: height and width in pixels.")
@click.option("--resize", callback=resize_rule, help="Input: shorter side before the centre crop, or squash.")
@click.option("--interpolation", help="Input: nearest, box, bilinear, hamming, bicubic or lanczos.")
@click.option("--mean", callback=numbers, metavar="R,G,B", help="Input: for pixels in [0, 1].")
@click.option("--std", callback=numbers, metavar="R,G,B", help="Input: for pixels in [0, 1].")
@plugins
@as_json
def command(**flags: Any) -> None:
    """Run the cells of models x conditions."""
    from oodometer.analysis.run_results import results_of
    from oodometer.core.model import Compute
    from oodometer.engine.run import RunOptions, run
    from oodometer.models.load import load_models
    from oodometer.shifts.asked import tell_what_was_trained_on, without_attacks_of_groups

    import_plugins(flags["plugin_modules"])
    use_frost(flags["frost"])
    compute = Compute(device=flags["device"], precision=flags["precision"])
    with talk_on_stderr():
        models = load_models(flags["models"], declared_by(flags), allow_pickle=flags["allow_pickle"], tell=say)
    conditions = without_attacks_of_groups(conditions_by(flags), models, flags["conditions"], tell=say)
    tell_what_was_trained_on(conditions, models, say)
    names = ("threads", "chunk", "keep", "skip_broken", "rehash")
    options = RunOptions(**{name: flags[name] for name in names}, compute=compute)
    with watching() as watcher, talk_on_stderr():
        done = run(models, conditions, store=flags["store"], options=options, watcher=watcher)
    results = results_of(done)
    for line in results.notes:
        say(line)
    for line in results.left_out:
        say(f"left out: {line}")
    if flags["as_json"]:
        print_json(results.as_json())
    elif text := results.table(plot=sys.stdout.isatty()):
        click.echo(text)


def conditions_by(flags: dict[str, Any]) -> list[Condition | Shift]:
    """What the flags ask the models to look at."""
    from oodometer.data.load import load_data
    from oodometer.data.root import root_at
    from oodometer.shifts.asked import Attributes, conditions_asked
    from oodometer.shifts.ood_sets import ood_conditions
    from oodometer.shifts.resolve import check_names
    from oodometer.shifts.sources import Sources

    check_names(flags["conditions"])  # before data are looked at, which may take a while
    sources = Sources(
        dataset=load_data(flags["data"], kind=flags["data_kind"]) if flags["data"] else None,
        root=root_at(flags["data_root"], partial=flags["partial"]),
        images=flags["images"],
        seed=flags["seed"],
        settings={name: flags[name] for name in ("style_weights", "style_images") if flags[name]},
    )
    attributes = Attributes(flags["base"], flags["shifts"], flags["test_share"])
    outside = ood_conditions(flags["ood"], images=flags["images"], seed=flags["seed"])
    return [*conditions_asked(flags["conditions"], sources, attributes, tell=say), *outside]


def declared_by(flags: dict[str, Any]) -> Declared:
    """What the flags say about the models."""
    from oodometer.models.card import Declared

    size = flags["size"]
    return Declared(
        category=flags["category"],
        parent=flags["parent"],
        interventions=flags["interventions"] or None,
        training_data=flags["training_data"],
        size=None if size is None else (size, size),
        resize=flags["resize"],
        interpolation=flags["interpolation"],
        mean=flags["mean"],
        std=flags["std"],
    )
