"""``oodometer testset release``."""

from __future__ import annotations

from typing import Any

import click

from oodometer.cli.output import as_json, print_json


@click.command(
    "release",
    help="Write a revision as a data set: images, labels, data card, licences, checksums, recipe, metadata. It is a "
    "shift like any other: oodometer run --data FOLDER --on NAME.",
)
@click.argument("project")
@click.option("-o", "--out", "folder", required=True, metavar="FOLDER", help="A new folder.")
@click.option("--revision", type=int, help="By number.  [default: the latest]")
@click.option("--format", type=click.Choice(["folder", "webdataset"]), default="folder", show_default=True)
@click.option("--original", metavar="ADDRESS", help="What it is compared with.  [default: the project's original]")
@click.option("--name", help="As it follows --on.  [default: the project's]")
@click.option("--simulated", "allow_simulated", is_flag=True, help="Although simulated annotators are behind it.")
@click.option("--as-sampled", is_flag=True, help="Although images of it were taken out since.")
@click.option("--licence-required", is_flag=True, help="An image without a licence is an error.")
@as_json
def command(project: str, folder: str, as_json: bool, **said: Any) -> None:
    """Write it."""
    from oodometer.build.testset.project.project import open_project
    from oodometer.build.testset.release.write import ReleaseOptions, write_release

    with open_project(project) as opened:
        written = write_release(opened, folder, ReleaseOptions(**said))
    print_json(written.as_json()) if as_json else click.echo(f"{written}, in {folder}")
