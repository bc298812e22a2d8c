"""``oodometer testset workers``."""

from __future__ import annotations

from shlex import quote

import click

from oodometer.cli.output import as_json, print_json, say


@click.command(
    "workers",
    help="With --add, an address for each new worker, one per line; they are kept nowhere, so keep them. Without, how "
    "many workers there are and how much each did, by number.",
)
@click.argument("project")
@click.option("--add", "n", type=click.IntRange(1), help="So many new ones.")
@click.option(
    "--address",
    default="http://127.0.0.1:8100",
    show_default=True,
    help="Where 'oodometer testset serve' can be reached by them.",
)
@click.option("--page", type=click.Choice(["annotate", "quiz", "choose"]), default="annotate", show_default=True)
@click.option("--block", type=int, metavar="NUMBER", help="Let one answer no more, and their answers not count.")
@click.option("--unblock", type=int, metavar="NUMBER", help="Take that back.")
@as_json
def command(
    project: str, n: int | None, address: str, page: str, block: int | None, unblock: int | None, as_json: bool
) -> None:
    """Add them, or tell about them."""
    from oodometer.build.testset.project.annotators import (
        add_workers,
        address_for,
        block_worker,
        counts_of,
        workers_in,
    )
    from oodometer.build.testset.project.project import open_project

    address_for("", address)
    with open_project(project) as opened:
        if n is not None:
            addresses = [address_for(token, address, page) for token in add_workers(opened, n)]
            print_json(addresses) if as_json else click.echo("\n".join(addresses))
            return
        for number, blocked in ((block, True), (unblock, False)):
            if number is not None:
                block_worker(opened, number, blocked=blocked)
                say(f"worker {number} is {'blocked' if blocked else 'no longer blocked'}")
        workers = workers_in(opened)
    if as_json:
        print_json(counts_of(workers))
        return
    for one in workers:
        click.echo(f"{one.number}: {one.n_answers} tasks answered{', blocked' if one.blocked else ''}")
    if not workers:
        click.echo(f"no workers yet; add some with: oodometer testset workers {quote(project)} --add 10")
