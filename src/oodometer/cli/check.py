"""``oodometer check``: is this the set that it claims to be?"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, print_json, say, watching
from oodometer.core.errors import RequirementNotMetError

if TYPE_CHECKING:
    from oodometer.core.dataset import Progress


@click.command(
    "check",
    help="Is this the data set that it claims to be? Counts, class ids, duplicates, broken and odd files, against "
    "what is published; ends with 3 if something is wrong.",
)
@click.argument("address")
@click.option(
    "--as",
    "as_",
    metavar="NAME",
    help="The set that it should be, if its folder does not tell; or a kind of data (folder, arrays...) to check what "
    "can be checked of any data.",
)
@click.option(
    "--against",
    metavar="ADDRESS",
    help="Data that must not have an image in common with it; by default the clean set below the same root.",
)
@click.option(
    "--thorough",
    is_flag=True,
    help="Decode every image: damage inside files, equal pixels, and near-identical images (64-bit difference hashes "
    "at most 2 bits apart: finds re-encoded and resized copies, no crops or mirror images).",
)
@as_json
def command(address: str, as_: str | None, against: str | None, thorough: bool, as_json: bool) -> None:
    """Check a data set."""
    from oodometer.data.check.check_set import check

    with contextlib.ExitStack() as stack:

        def stage(what: str) -> Progress:
            stack.close()  # one bar at a time
            return stack.enter_context(watching(what)).running

        checked = check(address, as_=as_, against=against, thorough=thorough, progress=stage)
    print_json(checked.as_json()) if as_json else click.echo(str(checked))
    if checked.readable and not thorough:
        say("files were compared by their bytes; --thorough decodes every image and compares pixels and looks")
    if checked.wrong:
        n = len(checked.wrong)
        raise RequirementNotMetError(f"{n} {'check' if n == 1 else 'checks'} of {checked.name} failed")
