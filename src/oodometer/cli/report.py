"""``oodometer report``: everything that a store knows, as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import Lines, as_json, print_json, say
from oodometer.cli.robustness import of_the_line, options_of, origins_of

if TYPE_CHECKING:
    from oodometer.study import Study


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
@of_the_line
@click.option("--open", "show", is_flag=True, help="Open it in the browser.")
@as_json
def command(store: str, output: str, title: str, show: bool, as_json: bool, **flags: Any) -> None:
    """Write the report of a store."""
    study = _study(store, flags)
    if as_json:
        print_json(study.as_json())
        return
    from pathlib import Path

    from oodometer.report.html.page import report_html, write_report

    place = Path(output)
    size = write_report(report_html(study, title=title, progress=Lines("sections")), place)
    click.echo(f"{place}  {size / 1e6:.1f} MB")
    if show:
        import webbrowser

        webbrowser.open(place.resolve().as_uri())


def _study(store: str, flags: dict[str, Any]) -> Study:
    from dataclasses import replace

    from oodometer.study import study_of

    say(f"{store}: reading, and drawing the lines")
    study = study_of(store, origins=origins_of(flags), options=options_of(flags))
    for note in study.notes:
        say(note)
    if not flags["data"]:
        return study
    from oodometer.study.pictures import album_of

    return replace(study, picture=album_of(flags["data"], study.index))
