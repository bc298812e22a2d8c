"""``oodometer testset verify``."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json
from oodometer.core.errors import DataError


@click.command(
    "verify",
    help="Is a release what it was when it was written? Every file against its checksum. Exits with 1 where it is not.",
)
@click.argument("folder")
@as_json
def command(folder: str, as_json: bool) -> None:
    """Look at every file."""
    from oodometer.build.testset.release.verify import verify_release

    verified = verify_release(folder)
    if as_json:
        print_json(verified.as_json())
    else:
        click.echo(f"{folder}: {verified}")
    if not verified.is_whole:
        raise DataError(f"{folder}: is not what was released; take it from where it was published")
