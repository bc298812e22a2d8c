"""``oodometer testset import``."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json


@click.command(
    "import",
    help="Take in answers: the CSV of results of Mechanical Turk, or an export of Label Studio as JSON. A worker's "
    "first answer to a task counts; a second call adds nothing. Who workers are is kept nowhere.",
)
@click.argument("project")
@click.argument("file")
@click.option("--from", "platform", type=click.Choice(["mechanical-turk", "label-studio"]), required=True)
@as_json
def command(project: str, file: str, platform: str, as_json: bool) -> None:
    """Take them in."""
    from oodometer.build.testset.exchange.label_studio import import_from_label_studio
    from oodometer.build.testset.exchange.mechanical_turk import import_from_mechanical_turk
    from oodometer.build.testset.project.project import open_project

    take_in = import_from_mechanical_turk if platform == "mechanical-turk" else import_from_label_studio
    with open_project(project) as opened:
        taken = take_in(opened, file)
    print_json(taken.as_json()) if as_json else click.echo(taken)
