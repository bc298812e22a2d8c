"""``oodometer testset keywords``."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json, say, watching


@click.command(
    "keywords",
    help="The keyword of each original image, that of its nearest neighbour in the source that it was taken from, as "
    "for CIFAR-10.1. The table is for: oodometer testset sample --strategy keyword-quotas --original-keywords CSV",
)
@click.argument("project")
@click.option("--source", metavar="ADDRESS", required=True, help="With a column 'keyword', or keywords for classes.")
@click.option("-o", "--out", metavar="CSV", required=True, help="Columns class, keyword, count.")
@click.option("--metric", default="pixels", show_default=True, help="pixels, structure, soft-pixels or features:MODEL.")
@click.option("--within", type=float, default=float("inf"), help="Further neighbours say nothing.  [default: any]")
@as_json
def command(project: str, source: str, out: str, metric: str, within: float, as_json: bool) -> None:
    """Find them."""
    from oodometer.build.testset.keywords import write_keywords
    from oodometer.build.testset.project.original_keywords import find_keywords
    from oodometer.build.testset.project.project import open_project

    with open_project(project) as opened, watching("images of the source") as watcher:
        found = find_keywords(opened, source, metric=metric, within=within, progress=watcher.running)
    say(f"{out}: {write_keywords(found.counts, out)} keywords")
    print_json(found.as_json()) if as_json else click.echo(found)
