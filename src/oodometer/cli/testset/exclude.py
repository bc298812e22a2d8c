"""``oodometer testset exclude``."""

from __future__ import annotations

from collections import Counter

import click

from oodometer.cli.output import as_json, print_json, say


@click.command(
    "exclude",
    help="Take images out of all samples from now on, with a reason; or take that back. Without images, what is out. "
    "The next 'oodometer testset sample --again' fills the gaps.",
)
@click.argument("project")
@click.argument("images", nargs=-1)
@click.option("--reason", help="Not representative, drawing, blurry, occluded... or your own words.")
@click.option("--undo", is_flag=True, help="Take them back in.")
@as_json
def command(project: str, images: tuple[str, ...], reason: str | None, undo: bool, as_json: bool) -> None:
    """Take out, or back in."""
    from oodometer.build.testset.project.exclusions import exclude, exclusions, revoke
    from oodometer.build.testset.project.project import open_project, whoever

    with open_project(project) as opened:
        if images and undo:
            say(f"{revoke(opened, images, reason=reason)} exclusions taken back")
        elif images:
            say(f"{exclude(opened, images, reason or '', by=whoever())} images taken out")
        out = exclusions(opened)
    if as_json:
        print_json([{"id": each.key, "reason": each.reason, "at": each.at, "by": each.by} for each in out])
        return
    if not out:
        click.echo("nothing is out")
    for reason_given, n in sorted(Counter(each.reason for each in out).items()):
        click.echo(f"{n} {reason_given}")
