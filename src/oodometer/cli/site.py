"""``oodometer site``: the explorer's pages as files."""

from __future__ import annotations

import webbrowser

import click

from oodometer.cli.output import Lines, beating, origins_in, say, say_if_compiling


@click.command(
    "site",
    help="Write the explorer's pages of a STORE as files, for any web server or to be opened from disk: relative "
    "links, scripts and styles beside, no network. Every page has a twin in JSON. A site that is there is replaced, "
    "nothing else is.",
)
@click.argument("store")
@click.option("-o", "--output", "folder", default="site", show_default=True, metavar="DIR", help="Where to.")
@click.option("--data", "addresses", multiple=True, metavar="ADDRESS", help="Images to show: the data of the run.")
@click.option(
    "--images",
    type=click.IntRange(min=0),
    default=48,
    show_default=True,
    metavar="N",
    help="How many images get a page: the hardest of each set in turn.",
)
@click.option("--categories", metavar="CSV", help="Category and parent of models: columns model,category,parent.")
@click.option("--open", "show", is_flag=True, help="Open it in the browser.")
def command(
    store: str, folder: str, addresses: tuple[str, ...], images: int, categories: str | None, show: bool
) -> None:
    """Write the pages of a store."""
    from oodometer.explorer.site import site

    if addresses:
        say_if_compiling()
    say(f"{store}: reading, and drawing the lines")
    files = Lines("files")
    with beating(files):
        made = site(store, folder, data=addresses, images=images, origins=origins_in(categories), progress=files)
    say(made.extent)
    click.echo(made)
    if show:
        webbrowser.open(made.address)
