"""``oodometer report``: everything that a store knows, as one HTML file."""

from __future__ import annotations

import webbrowser
from typing import Any

import click

from oodometer.cli.output import Lines, as_json, origins_in, print_json, say
from oodometer.cli.robustness import of_the_line, options_of


@click.command(
    "report",
    help="Everything that a STORE knows, as one HTML file that needs no network: what was measured, which model holds "
    "up best where, the lines, corruptions, uncertainty, the hardest images, and where every number comes from.",
)
@click.argument("store")
@click.option("-o", "--output", default="report.html", show_default=True, metavar="FILE", help="Where to.")
@click.option("--title", default="", help="Above everything.")
@click.option("--categories", metavar="CSV", help="model,category and maybe parent, where cards do not say.")
@click.option(
    "--data", multiple=True, metavar="ADDRESS", help="Where the images are, so that some can be shown; more than once."
)
@click.option(
    "--labels",
    multiple=True,
    metavar="NAME=FILE",
    help="Labels of some images of a set, as 'estimate --shifted NAME --labels FILE' takes them; more than once.",
)
@of_the_line
@click.option("--open", "show", is_flag=True, help="Open it in the browser.")
@as_json
def command(store: str, output: str, title: str, show: bool, as_json: bool, **flags: Any) -> None:
    """Write the report of a store."""
    from oodometer.few_labels.estimate import estimates_from_files
    from oodometer.report.write import report
    from oodometer.study.pictures import study_with_pictures

    say(f"{store}: reading, and drawing the lines")
    line, origins = options_of(flags), origins_in(flags["categories"])
    study = study_with_pictures(store, flags["data"], origins=origins, options=line)
    for note in study.notes:
        say(note)
    if as_json:
        print_json(study.as_json())
        return
    few = estimates_from_files(store, flags["labels"], origins=origins)
    written = report(study, output, title=title, few_labels=few, progress=Lines("sections"))
    click.echo(written)
    if show:
        webbrowser.open(written.address)
