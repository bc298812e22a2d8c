"""``oodometer table``: a store as a table for papers and READMEs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, print_json, say
from oodometer.cli.robustness import of_the_line, options_of, origins_of
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.report.tables import ModelTable, TableOptions

FORMATS = {".tex": "latex", ".md": "markdown", ".csv": "csv", ".txt": "text"}
"""What a file's ending says about how to write it."""


@click.command(
    "table",
    help="The models of a STORE as a table for papers and READMEs: every number with its interval, the best of a "
    "column in bold only where it can be told from every other model, images and conventions in footnotes.",
)
@click.argument("store")
@click.option(
    "--what",
    type=click.Choice(["leaderboard", "corruptions", "gaps"]),
    default="leaderboard",
    show_default=True,
    help="Clean and shifted accuracy with ρ; each corruption of a family; what is lost under each shift.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS.values())),
    help="LaTeX wants the package booktabs; CSV has full precision.  [default: as the file ends, or text]",
)
@click.option("--shift", "shifts", multiple=True, metavar="NAME", help="A condition or family; more than once.")
@click.option(
    "--columns",
    metavar="NAME,...",
    default="",
    help="Of the leaderboard: clean, accuracy, drop, rho, tau, calibration, aurra, mce, relative-mce, "
    "mean-corruption-error.  [default: clean,accuracy,rho, and mce where it is defined]",
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
    form = flags["form"] or FORMATS.get(Path(output or "").suffix, "text")
    table = _table(store, what, _options(form, flags), flags)
    for note in table.notes:
        say(note)
    if as_json:
        print_json(table.as_json())
        return
    text = _written(table, form, flags["interval"])
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    try:
        # As it is: CSV brings its own ends of lines.
        Path(output).write_bytes((text if text.endswith("\n") else f"{text}\n").encode())
    except OSError as error:
        raise UsageError(f"{output}: can't be written ({error.strerror})") from error
    say(f"{output}: {len(table.rows)} models")


def _options(form: str, flags: dict[str, Any]) -> TableOptions:
    from oodometer.report.tables import TableOptions

    names = tuple(one.strip() for one in flags["columns"].split(",") if one.strip())
    # A file for programs has room for all of them; a page of a paper and 120 letters of a terminal for few.
    most = {"csv": None, "latex": 3, "text": 2}.get(form, TableOptions.most)
    return TableOptions(flags["shifts"], names, flags["models"], flags["sort"], flags["grouped"], most)


def _table(store: str, what: str, options: TableOptions, flags: dict[str, Any]) -> ModelTable:
    from oodometer.report.tables import corruptions_table, gaps_table, leaderboard_table
    from oodometer.study import study_of

    if what != "leaderboard" and options.columns:
        raise UsageError(f"--columns are those of the leaderboard; --what {what} has its own")
    # Shifts that are named are the only ones whose lines are drawn; a family's corruptions need no line.
    only = options.shifts or None if what != "corruptions" else None
    study = study_of(store, origins=origins_of(flags), options=options_of(flags), only=only)
    makers = {"leaderboard": leaderboard_table, "corruptions": corruptions_table, "gaps": gaps_table}
    return makers[what](study, options)


def _written(table: ModelTable, form: str, interval: Any) -> str:
    from oodometer.report.tables import csv_of, latex_of, markdown_of, text_of

    if form == "csv":
        return csv_of(table)
    return {"latex": latex_of, "markdown": markdown_of, "text": text_of}[form](table, interval)
