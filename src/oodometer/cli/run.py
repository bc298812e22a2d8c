"""``oodometer run``: ask models about conditions and keep every prediction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, import_plugins, plugins, print_json, say, say_if_compiling, watching
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oodometer.core.model import Model
    from oodometer.core.stored import StoredAnswers
    from oodometer.models.card import Declared

NAMED = re.compile(r"([\w.+-]+)=(.+)", re.DOTALL)


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
    required=True,
    metavar="ADDRESS",
    help="Folder of class folders, array, tar shards, Parquet, or manifest; a path or fsspec address.",
)
@click.option("--data-kind", metavar="KIND", help="Say what the data are instead of letting the address tell.")
@click.option(
    "--on",
    "conditions",
    multiple=True,
    default=("clean",),
    show_default=True,
    metavar="NAME",
    help="What the models are asked to look at; may be given several times.",
)
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
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Chunks worked on at once; 0: one per core.")
@click.option("--chunk", type=click.IntRange(min=0), default=0, help="Images per chunk; 0: chosen by the data's size.")
@click.option("--device", type=click.Choice(["cpu", "cuda", "mps"]), default="cpu", show_default=True)
@click.option("--precision", type=click.Choice(["float32", "mixed"]), default="float32", show_default=True)
@click.option("--frost-textures", metavar="DIR", help="A folder of frost photographs, or: published, procedural.")
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
    from oodometer.core.model import Compute
    from oodometer.data.load import load_data
    from oodometer.data.subset import stratified
    from oodometer.engine.plan import cell_for
    from oodometer.engine.run import Options, run
    from oodometer.report.score import score
    from oodometer.shifts.suites import all_conditions, suites

    import_plugins(flags["plugin_modules"])
    if flags["frost_textures"]:
        from oodometer.corruptions.frost import set_frost_textures

        set_frost_textures(flags["frost_textures"])
    compute = Compute(device=flags["device"], precision=flags["precision"])
    models = load_models(flags["models"], declared_by(flags), allow_pickle=flags["allow_pickle"])
    for name in flags["conditions"]:
        suites.get(name.partition("/")[0])  # a name that means nothing is an error before the data are looked at
    dataset = load_data(flags["data"], kind=flags["data_kind"])
    if flags["images"]:
        dataset = stratified(dataset, flags["images"], seed=flags["seed"])
    conditions = all_conditions(flags["conditions"], dataset, seed=flags["seed"])
    options = Options(
        threads=flags["threads"],
        chunk=flags["chunk"],
        keep=flags["keep"],
        skip_broken=flags["skip_broken"],
        compute=compute,
    )
    if any(one.transform is not None for one in conditions):
        say_if_compiling()
    with watching() as watcher:
        result = run(models, conditions, store=flags["store"], options=options, watcher=watcher)
    keys = {cell_for(model, one, precision=compute.precision).key for model in models for one in conditions}
    scores = score(result).only(lambda row: row.cell in keys)
    print_json(scores.as_json()) if flags["as_json"] else click.echo(scores)


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


def load_models(specs: Sequence[str], said: Declared, *, allow_pickle: bool) -> list[Model | StoredAnswers]:
    """The models that the specifications name; what they are shown is told on stderr."""
    from oodometer.core.model import Model
    from oodometer.models.load import expand, load_model

    models: list[Model | StoredAnswers] = []
    for given in specs:
        match = NAMED.fullmatch(given)
        name, pattern = (match[1], match[2]) if match else (None, given)
        found = expand(pattern)
        if name and len(found) > 1:
            raise UsageError(f"{given}: one name for {len(found)} models")
        models += [load_model(spec, name=name, card=said, allow_pickle=allow_pickle) for spec in found]
    for model in models:
        if isinstance(model, Model):
            origin = model.notes.get("input", "")
            say(f"{model.name}: {model.input}" + (f" ({origin})" if origin else ""))
            if origin == "default":
                say(
                    f"warning: {model.name}: nobody declared this preprocessing; if it is not what the model was "
                    "trained with, its accuracy will be wrong (flags --size, --resize, --mean..., or a card)"
                )
    return models
