"""``oodometer testset export``."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json, say, watching


@click.command(
    "export",
    help="Write the annotation tasks that need answers for people who work elsewhere: the page, the table of tasks, "
    "and the images, whose names tell nothing, in a folder to upload.",
)
@click.argument("project")
@click.option("--to", "platform", type=click.Choice(["mechanical-turk", "label-studio"]), required=True)
@click.option("-o", "--out", metavar="DIR", required=True, help="New or empty.")
@click.option(
    "--images-at", metavar="URL", required=True, help="Where the folder of images will be, such as https://x.org/birds"
)
@as_json
def command(project: str, platform: str, out: str, images_at: str, as_json: bool) -> None:
    """Write them."""
    from oodometer.build.testset.exchange.label_studio import export_for_label_studio
    from oodometer.build.testset.exchange.mechanical_turk import export_for_mechanical_turk
    from oodometer.build.testset.project.project import open_project

    export = export_for_mechanical_turk if platform == "mechanical-turk" else export_for_label_studio
    with open_project(project) as opened, watching("images") as watcher:
        made = export(opened, out, images_at=images_at, progress=watcher.running)
    print_json(made.as_json()) if as_json else click.echo(made)
    for note in made.notes:
        say(f"note: {note}")
