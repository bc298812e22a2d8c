"""``oodometer testset add``."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json, watching


@click.command(
    "add",
    help="Put candidates into the pool: class folders, WebDataset shards, or a folder with the table of its images. "
    "What can't be taken is told with its reason; a second call adds nothing twice.",
)
@click.argument("project")
@click.argument("address")
@click.option("--from", "manifest", metavar="CSV", help="path, label; maybe licence, author, url, keyword, others.")
@click.option("--licence", default="", help="Of images that do not say their own.")
@click.option("--note", default="", help="Whatever somebody should know about where they are from.")
@click.option("--skip-unknown", is_flag=True, help="Leave images out whose class the project has not.")
@as_json
def command(
    project: str, address: str, manifest: str | None, licence: str, note: str, skip_unknown: bool, as_json: bool
) -> None:
    """Add them."""
    from oodometer.build.testset.project.offered import offered_by
    from oodometer.build.testset.project.pool import Provenance, add_images
    from oodometer.build.testset.project.project import open_project

    with open_project(project) as opened:
        kind, offered = offered_by(address, manifest=manifest)
        with watching("images") as watcher:
            provenance = Provenance(address, kind, licence, note)
            added = add_images(opened, offered, provenance, skip_unknown=skip_unknown, progress=watcher.running)
    print_json(added.as_json()) if as_json else click.echo(added)
