"""``oodometer estimate``: accuracy on a set whose images have few labels."""

from __future__ import annotations

from typing import Any

import click

from oodometer.cli.estimate_few import add_arguments, run
from oodometer.cli.output import as_json
from oodometer.core.errors import UsageError


@click.command(
    "estimate",
    help="The accuracy of the models of STORE on a set, from labels of some of its images and the answers to all: with "
    "an interval that holds whatever the help of the models is worth.",
)
@click.argument("store")
@click.option("--shifted", required=True, metavar="NAME", help="A condition, or data seen as they are.")
@click.option(
    "--clean", default="", metavar="NAME", help="Labelled images of the same classes.  [default: the clean ones]"
)
@add_arguments
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@as_json
def command(store: str, shifted: str, labels: str | None, **more: Any) -> None:
    """Estimate."""
    if labels is None:
        raise UsageError("no labels: 'oodometer label' says which images to label; give the table as --labels FILE")
    run(store, shifted, labels, **more)
