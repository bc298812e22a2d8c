"""``oodometer testset revisions``."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, print_json

if TYPE_CHECKING:
    from oodometer.build.testset.project.revisions import RevisionDifference, RevisionRecord


@click.command(
    "revisions",
    help="All samples that were taken, each with what it was asked for; with --compare, which images came and went.",
)
@click.argument("project")
@click.option("--compare", nargs=2, type=int, metavar="OLDER NEWER", help="Two revisions by number.")
@as_json
def command(project: str, compare: tuple[int, int] | None, as_json: bool) -> None:
    """Tell about them."""
    from oodometer.build.testset.project.project import open_project
    from oodometer.build.testset.project.revisions import difference, revisions

    with open_project(project) as opened:
        changed = None if compare is None else difference(opened, *compare)
        known = [] if compare else revisions(opened)
    if as_json:
        print_json([each.as_json() for each in known] if changed is None else changed.as_json())
    elif changed is not None:
        _print_difference(changed)
    else:
        _print_all(known, project)


def _print_difference(changed: RevisionDifference) -> None:
    for image in changed.came:
        click.echo(f"+ {image.class_name}  {image.key}")
    for image, reason in changed.gone:
        click.echo(f"- {image.class_name}  {image.key}  {reason}")


def _print_all(known: list[RevisionRecord], project: str) -> None:
    for each in known:
        parent = "" if each.parent is None else f" after {each.parent}"
        part = f" {each.request.part}" if each.request.strategy == "by-attribute" else ""
        click.echo(
            f"{each.number}{parent}: {each.request.strategy}{part}, seed {each.request.seed}, {each.n_images} images, "
            f"{each.n_new} new, {each.n_gone} gone, {each.at[:16]}, {each.by}{', ' + each.note if each.note else ''}"
        )
    if not known:
        click.echo(f"nothing is sampled yet; first: oodometer testset sample {quote(project)}")
