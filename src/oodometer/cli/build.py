"""``oodometer build``: data sets that are made here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import Lines, as_json, print_json, say, watching

if TYPE_CHECKING:
    from oodometer.build.icons.build import Built


@click.group("build", help="Make a data set.")
def command() -> None:
    """Make a data set."""


@command.command(
    "icons",
    help="Emoji of many vendors in the 50 classes of ICONS-50, or outside them, drawn from pinned npm packages, with a "
    "manifest and a card. What is there already is checked and left alone.",
)
@click.option("--out", default="icons", show_default=True, metavar="DIR", help="Where the icons are put.")
@click.option("--size", type=click.Choice(["32", "64", "224"]), default="32", show_default=True, help="In pixels.")
@click.option(
    "--full", is_flag=True, help="Add Apple, Facebook, and more of Google and Twitter: 460 MB of packages, once."
)
@click.option("--skin-tones", is_flag=True, help="Draw the emoji with skin tones too.")
@click.option(
    "--outside", is_flag=True, help="Draw what is in none of the 50 classes instead: more data to train on first."
)
@click.option("--offline", is_flag=True, help="Use the packages in the cache alone.")
@as_json
def icons(out: str, size: str, as_json: bool, **chosen: Any) -> None:
    """Build the icons."""
    from oodometer.build.icons.build import Options, build_icons

    options = Options(size=int(size), **chosen)
    with watching("icons drawn") as watcher:
        built = build_icons(out, options, fetching=Lines("packages"), drawing=watcher.running)
    _show(built, as_json=as_json)


def _show(built: Built, *, as_json: bool) -> None:
    from oodometer.analysis.text import columns
    from oodometer.build.icons.card import counts

    header, lines = counts(built.rows, drawings=False)
    if as_json:
        cells = [dict(zip(header, [line[0], *map(int, line[1:])], strict=True)) for line in lines[:-1]]
        print_json({"folder": built.folder, "icons": len(built.rows), "digest": built.digest, "classes": cells})
    else:
        click.echo(columns([header, *lines]))
    if built.is_new:
        say(f"{len(built.rows)} icons in {built.folder}; what they are and whose: {built.folder}/CARD.md")
    else:
        say(f"nothing new to do: the {len(built.rows)} icons in {built.folder} are as they were built")
