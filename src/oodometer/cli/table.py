"""``oodometer table``: a store as a table for papers and READMEs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, origins_in, print_json, say
from oodometer.cli.robustness import of_the_line, options_of

if TYPE_CHECKING:
    from oodometer.report.tables.options import TableOptions


@click.command(
    "table",
    help="The models of a STORE as a table for papers and READMEs: every number with its interval, the best of a "
    "column in bold only where it can be told from every other model, images and conventions in footnotes.",
)
@click.argument("store")
@click.option(
    "--what",
    type=click.Choice(["leaderboard", "corruptions", "gaps", "hypotheses"]),
    default="leaderboard",
    show_default=True,
    help="Clean and shifted accuracy with ρ; each corruption of a family; what is lost under each shift; what "
    "makes models robust.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["latex", "markdown", "csv", "text"]),
    help="LaTeX wants the package booktabs; CSV has full precision.  [default: as the file ends, or text]",
)
@click.option(
    "--shift",
    "shifts",
    multiple=True,
    metavar="NAME",
    help="A condition or family; more than once. Of dfr or svsf alone: each of its shifts, and the mean mAP of dfr.",
)
@click.option(
    "--columns",
    metavar="NAME,...",
    default="",
    help="Of the leaderboard: clean, accuracy, drop, rho, tau, ece, calibration, aurra, mce, relative-mce, "
    "mean-corruption-error.  [default: clean,accuracy,rho, and mce where it is defined] Of corruptions: ce or "
    "relative-ce instead of accuracies.",
)
@click.option("--model", "models", multiple=True, metavar="PATTERN", help="Only these, as 'resnet*'; more than once.")
@click.option("--sort", default="", metavar="COLUMN", help="clean, a shift, rho:SHIFT, or model.  [default: the first]")
@click.option(
    "--interval",
    type=click.Choice(["none", "brackets", "pm"]),
    help="How intervals are shown.  [default: brackets, or none beside more than 10 numbers]",
)
@click.option("--group/--no-group", "grouped", default=True, show_default=True, help="Models of a category together.")
@click.option("--categories", metavar="CSV", help="model,category and maybe parent, where cards do not say.")
@of_the_line
@click.option("-o", "--output", metavar="FILE", help="Where to.  [default: stdout]")
@as_json
def command(store: str, what: str, output: str | None, as_json: bool, **flags: Any) -> None:
    """Write a table of a store."""
    from oodometer.document.table import form_of
    from oodometer.report.tables.of_store import table

    form = flags["form"] or form_of(output or "")
    line, origins = options_of(flags), origins_in(flags["categories"])
    made = table(store, what, options=_options(form, flags), origins=origins, line=line)
    for note in made.notes:
        say(note)
    if as_json:
        print_json(made.as_json())
    elif output is None:
        text = made.written(form, flags["interval"])
        click.echo(text, nl=not text.endswith("\n"))
    else:
        made.write(output, form, flags["interval"])
        say(f"{output}: {len(made.rows)} {'questions' if what == 'hypotheses' else 'models'}")


def _options(form: str, flags: dict[str, Any]) -> TableOptions:
    from oodometer.report.tables.of_store import room_for
    from oodometer.report.tables.options import TableOptions

    names = tuple(name.strip() for name in flags["columns"].split(",") if name.strip())
    room = room_for(form)
    return TableOptions(flags["shifts"], names, flags["models"], flags["sort"], flags["grouped"], room)
