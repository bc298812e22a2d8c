"""``oodometer run``: ask models about conditions and keep every prediction."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import (
    as_json,
    data_root,
    import_plugins,
    plugins,
    print_json,
    say,
    say_if_compiling,
    watching,
)
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from oodometer.core.condition import Condition, Shift
    from oodometer.core.model import Model
    from oodometer.core.stored import StoredAnswers
    from oodometer.models.card import Declared
    from oodometer.report.gaps import Gaps
    from oodometer.store.store import Store

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
    help="Attribute shifts: of the base, for the IID test, where no column split says.  [default: 0.1]",
)
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
    from oodometer.engine.run import Options, run

    import_plugins(flags["plugin_modules"])
    if flags["frost_textures"]:
        from oodometer.corruptions.frost import set_frost_textures

        set_frost_textures(flags["frost_textures"])
    compute = Compute(device=flags["device"], precision=flags["precision"])
    models = load_models(flags["models"], declared_by(flags), allow_pickle=flags["allow_pickle"])
    conditions = without_attacks_of_groups(conditions_by(flags), models, flags["conditions"])
    options = Options(
        threads=flags["threads"],
        chunk=flags["chunk"],
        keep=flags["keep"],
        skip_broken=flags["skip_broken"],
        compute=compute,
    )
    with watching() as watcher:
        result = run(models, conditions, store=flags["store"], options=options, watcher=watcher)
    show(result, models, conditions, flags, precision=compute.precision)


def conditions_by(flags: dict[str, Any]) -> list[Condition | Shift]:
    """What the flags ask the models to look at."""
    from oodometer.core.condition import Shift
    from oodometer.data.load import load_data
    from oodometer.data.root import root_at
    from oodometer.shifts.asked import asked_for, check_names, missing_sets
    from oodometer.shifts.sources import IMAGENET, Sources

    names = flags["conditions"] or (() if flags["base"] else ("clean",))
    check_names(names)
    sources = Sources(
        dataset=load_data(flags["data"], kind=flags["data_kind"]) if flags["data"] else None,
        root=root_at(flags["data_root"], partial=flags["partial"]),
        images=flags["images"],
        seed=flags["seed"],
        settings={name: flags[name] for name in ("style_weights", "style_images") if flags[name]},
    )
    asked = asked_for(names, sources)
    root = sources.root.address if sources.root else "the data"
    unclean = [name for name in asked.missing if IMAGENET in missing_sets(name, sources)]
    for why, names in (
        (f"without clean images (no imagenet in {root}, no --data)", unclean),
        (f"not in {root}", [name for name in asked.missing if name not in unclean]),
    ):
        if names:
            say(f"left out, {why}: {some_of(names)}; 'oodometer ls shifts' says what is missing and where to get it")
    if asked.unmatched:
        say(f"left out, no images of their classes to compare with: {some_of(asked.unmatched)}")
    found = list(asked.found)
    if flags["base"] or flags["shifts"]:
        from oodometer.shifts.attribute import TEST_SHARE, shifts_of_flags

        share = TEST_SHARE if flags["test_share"] is None else flags["test_share"]
        found += shifts_of_flags(sources, flags["base"], flags["shifts"], test_share=share, tell=say)
    elif flags["test_share"] is not None:
        raise UsageError("--test-share is that of an attribute shift; give --base and --shift too")
    sides = [one.shifted if isinstance(one, Shift) else one for one in found]
    if any(one.transform is not None for one in sides):
        say_if_compiling()
    return found


def without_attacks_of_groups(
    asked: Sequence[Condition | Shift], models: Sequence[Model | StoredAnswers], names: Sequence[str]
) -> list[Condition | Shift]:
    """What is asked, less the attacks that only a group names where a model has no gradients; that is told."""
    from oodometer.core.model import Model
    from oodometer.shifts.testbed import ATTACKS

    attacks = [one.name for one in asked if one.name in ATTACKS and one.name not in names]
    blind = [model.name for model in models if not (isinstance(model, Model) and model.differentiable)]
    if not attacks or not blind:
        return list(asked)
    say(f"left out, no gradients in {some_of(blind)}: {some_of(attacks)}; run these with the models that have them")
    return [one for one in asked if one.name not in attacks]


def some_of(names: Sequence[str], *, most: int = 20) -> str:
    """The names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def show(
    store: Store,
    models: Sequence[Model | StoredAnswers],
    asked: Sequence[Condition | Shift],
    flags: dict[str, Any],
    *,
    precision: str,
) -> None:
    """Print what this run was about: the accuracies of its cells, and both sides of its shifts with their gaps."""
    from oodometer.core.condition import Shift
    from oodometer.engine.plan import cell_for
    from oodometer.engine.run import conditions_of
    from oodometer.report.score import score

    def keys(some: Sequence[Condition | Shift]) -> set[str]:
        return {cell_for(model, one, precision=precision).key for model in models for one in conditions_of(some)}

    shifts = {one.name: one for one in asked if isinstance(one, Shift)}
    of_shifts = keys(list(shifts.values()))
    plain = keys([one for one in asked if not isinstance(one, Shift)])
    found = gaps_among(store, of_shifts).only(lambda row: row.shift in shifts) if shifts else None
    if flags["as_json"]:
        from oodometer.report.shift_scores import score_of

        rows = score(store).only(lambda row: row.cell in plain | of_shifts).as_json()
        print_json(rows + [score_of(row).as_json() for row in (found.rows if found else ())])
        return
    if plain:
        click.echo(score(store).only(lambda row: row.cell in plain))
    if found and found.rows:
        click.echo(found.table(plot=sys.stdout.isatty()))


def gaps_among(store: Store, keys: Container[str]) -> Gaps:
    """The gaps between the cells of these keys; why one is undefined is told on stderr."""
    from oodometer.report.estimates import How
    from oodometer.report.gaps import gaps_between

    found = gaps_between(store, [cell for cell in store.cells() if cell.key in keys], How())
    for line in found.left_out:
        say(f"left out: {line}")
    return found


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
