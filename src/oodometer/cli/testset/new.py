"""``oodometer testset new``."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json


@click.command("new", help="Begin a test set: a project folder with its database.")
@click.argument("folder")
@click.option(
    "--classes", metavar="CSV", help="Columns name, and maybe title, gloss, link, synonyms (a | between two)."
)
@click.option("--original", metavar="ADDRESS", help="The set that this is a new test set for: controls and examples.")
@click.option("--database", metavar="URL", help="PostgreSQL.  [default: SQLite in the folder]")
@click.option("--name", help="Of the test set.  [default: the folder's]")
@as_json
def command(
    folder: str, classes: str | None, original: str | None, database: str | None, name: str | None, as_json: bool
) -> None:
    """Make the project."""
    from oodometer.build.testset.project.pool import ORIGINAL, counts_by_class
    from oodometer.build.testset.project.project import new_project

    with new_project(folder, classes=classes, original=original, database=database, name=name) as project:
        counts = counts_by_class(project)
        n = sum(found[ORIGINAL] for found in counts.values())
        if as_json:
            print_json({"name": project.name, "folder": folder, "classes": len(counts), "originals": n})
        else:
            click.echo(f"{project.name}: {len(counts)} classes, {n} original images, in {folder}")
