"""``oodometer testset pool``."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json, say


@click.command(
    "pool",
    help="Write the table of all candidates, which is data that models can be asked about: 'oodometer run --data "
    "PROJECT/pool.csv', or where models know none of the classes '--ood PROJECT/pool.csv'. Their predictions are found "
    "again by the candidates' ids.",
)
@click.argument("project")
@click.option("-o", "--output", metavar="FILE.csv", help="Where to.  [default: pool.csv in the project]")
@as_json
def command(project: str, output: str | None, as_json: bool) -> None:
    """Write it."""
    from oodometer.build.testset.project.pool_data import write_pool
    from oodometer.build.testset.project.project import open_project

    with open_project(project) as opened:
        written = write_pool(opened, output)
    print_json(written.as_json()) if as_json else click.echo(written)
    way = f"--data {written.file} --defence each-crop --store STORE --model MODEL"
    say(f"ask models about them with: oodometer run {way}")
