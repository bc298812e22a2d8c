"""``oodometer verify``: does a store hold what it promises?"""

from __future__ import annotations

import click

from oodometer.cli.output import Lines, as_json, print_json
from oodometer.core.errors import StoreError


@click.command(
    "verify",
    help="Read every file of a STORE and compare it with the digest in its name; say what is damaged or missing and "
    "what to do. The next run makes again what is damaged. Exits with 1 where something is.",
)
@click.argument("store")
@click.option("--forget", is_flag=True, help="Keep in mind no longer what is missing.")
@as_json
def command(store: str, forget: bool, as_json: bool) -> None:
    """Verify a store."""
    from oodometer.store.verify import verify

    found = verify(store, forget=forget, progress=Lines("files read"))
    print_json(found.as_json()) if as_json else click.echo(str(found))
    if found.damage:
        raise StoreError(f"{store}: {len(found.damage)} files are damaged or missing")
