"""``oodometer reproduce``: the published numbers, ours beside theirs."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json, say
from oodometer.core.errors import RequirementNotMetError


@click.command(
    "reproduce",
    help="Derive the papers' published numbers again from their tables: ours beside theirs, with the difference and "
    "what the rounding of the published inputs allows. Exit code 3 if a number is out.",
)
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option("--testbed", metavar="DIR", help="For taori2020: a clone of the 204-model testbed's repository.")
@as_json
def command(papers: tuple[str, ...], testbed: str | None, as_json: bool) -> None:
    """Reproduce papers."""
    from oodometer.published.reproduce import TESTBED, reproduce

    found = reproduce(papers, testbed=testbed)
    if as_json:
        print_json(found.as_json())
    else:
        click.echo(str(found))
    if not papers and testbed is None:
        say(f"{TESTBED} is left out: its table is not bundled; give the folder with --testbed DIR")
    if found.failed:
        names = "; ".join(f"{check.paper}: {check.what}" for check in found.failed[:3])
        raise RequirementNotMetError(f"{len(found.failed)} numbers are out of what is allowed: {names}")
