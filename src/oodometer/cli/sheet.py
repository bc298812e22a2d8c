"""``oodometer sheet``: images to look at, with their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.model_options import declared_by, what_they_are_shown
from oodometer.cli.output import data_root, frost_textures, import_plugins, plugins, say, talk_on_stderr, use_frost

if TYPE_CHECKING:
    from oodometer.core.model import Model


@click.command(
    "sheet",
    help="Draw images to look at. SOURCE is a data set: a few images of each class, or clean beside shifted with --on. "
    "Or one image: as it is and under every shift, by default ImageNet-C. Or a set of --data-root, by its name.",
)
@click.argument("source", required=False)
@click.option("-o", "--output", default="sheet.png", show_default=True, metavar="FILE", help="Where to: .png, .jpg...")
@click.option(
    "--on", multiple=True, metavar="NAME", help="A shift ('oodometer ls shifts'); may be given several times."
)
@click.option(
    "--image",
    default="",
    metavar="ID",
    help="Of a data set this image alone, under every shift, exactly as a run of the same seed shows it.",
)
@click.option(
    "--by",
    default="",
    metavar="COLUMN",
    help="The columns of the sheet are the values of a column of the data, its rows classes, or, as "
    "ROWCOLUMN+COLUMN, the values of another.",
)
@click.option("--classes", default="", metavar="NAME,...", help="Draw these rows.  [default: any]")
@click.option("--rows", type=click.IntRange(min=1), help="How many.  [default: 8]")
@click.option("--per", type=click.IntRange(min=1), help="Images of each class in each column.  [default: by room]")
@click.option(
    "--side", type=click.IntRange(16, 1024), help="Of an image in pixels.  [default: 112; one image: its own]"
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of images, and of every draw.")
@click.option("--data-kind", metavar="KIND", help="Say what SOURCE is instead of letting the address tell.")
@data_root
@click.option("--partial", is_flag=True, help="Use published sets that are not whole.")
@click.option("--model", "spec", metavar="[NAME=]KIND:REST", help="Write what this model answers beneath each image.")
@click.option("--allow-pickle", is_flag=True, help="Load model files that may run code; only those you trust.")
@what_they_are_shown
@frost_textures
@click.option("--force", is_flag=True, help="Write over what is there.")
@plugins
def command(source: str | None, output: str, on: tuple[str, ...], **flags: Any) -> None:
    """Draw a sheet."""
    from oodometer.sheets.options import SheetOptions
    from oodometer.sheets.sheet import sheet

    import_plugins(flags["plugin_modules"])
    use_frost(flags["frost"])
    classes = tuple(filter(None, flags["classes"].split(",")))
    plain = ("image", "by", "rows", "per", "side", "seed", "data_kind", "data_root", "partial", "force")
    options = SheetOptions(classes=classes, model=_model(flags), **{name: flags[name] for name in plain})
    click.echo(sheet(source, output, on=on, options=options, tell=say))


def _model(flags: dict[str, Any]) -> Model | None:
    from oodometer.models.load import load_answering

    if flags["spec"] is None:
        return None
    with talk_on_stderr():
        return load_answering(flags["spec"], declared_by(flags), allow_pickle=flags["allow_pickle"], tell=say)
