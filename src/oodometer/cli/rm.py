"""``oodometer rm``: take a model out of a store."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import say
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.store.remove import Removal


@click.command(
    "rm",
    help="Remove what a MODEL has in a STORE, on all conditions or on those of --on. Asks first; --yes does not.",
)
@click.argument("store")
@click.argument("model")
@click.option("--on", multiple=True, metavar="NAME", help="Only this condition, family or data set; more than once.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(store: str, model: str, on: tuple[str, ...], yes: bool) -> None:
    """Remove a model."""
    from oodometer.store.remove import at_once, rm

    removed = rm(store, model, on=on, confirm=at_once if yes else partial(_confirm, store))
    say(f"removed {removed} from {store}")


def _confirm(store: str, removal: Removal) -> bool:
    """Ask; where nobody can answer, say how to do without."""
    if not sys.stdin.isatty():
        raise UsageError(f"{removal} would be removed from {store}; add --yes")
    return click.confirm(f"Remove {removal} from {store}?", abort=True, err=True)
