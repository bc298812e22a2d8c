"""``oodometer rm``: take a model out of a store."""

from __future__ import annotations

import sys

import click

from oodometer.cli.output import say
from oodometer.core.errors import UsageError


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
    from oodometer.store.remove import find_removal, remove

    found = find_removal(store, model, on=on)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"{found} would be removed from {store}; add --yes")
        click.confirm(f"Remove {found} from {store}?", abort=True, err=True)
    remove(found)
    say(f"removed {found} from {store}")
