"""``oodometer hardest``: the images that most models miss."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, looked_at, print_json


@click.command("hardest", help="The images that most models of a STORE miss, with what they are called instead.")
@click.argument("store")
@click.option("--on", default="clean", show_default=True, metavar="NAME", help="The condition.")
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="How many images, at most.")
@as_json
def command(store: str, on: str, top: int, as_json: bool) -> None:
    """List the hardest images."""
    from oodometer.analysis.hardest import hardest

    found = hardest(looked_at(store), on=on, top=top)
    if as_json:
        print_json(found.as_json())
    else:
        click.echo(str(found))
