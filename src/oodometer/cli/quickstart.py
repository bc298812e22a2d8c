"""``oodometer quickstart``: from nothing to a leaderboard, on icons built here and networks that come along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oodometer.cli.output import Lines, as_json, print_json, say, watching
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.document.table import Table
    from oodometer.quickstart.audience import Audience


@click.command(
    "quickstart",
    help="Build the icons, measure the networks that come along on every kind of shift, print a leaderboard and write "
    "report.html. What is there already is not done again.",
)
@click.option("--out", default="quickstart", show_default=True, metavar="FOLDER", help="Where everything is put.")
@click.option("--offline", is_flag=True, help="Use the packages of icons in the cache alone.")
@click.option(
    "--images",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Corrupt so many of the clean icons.",
)
@click.option("--full-corruptions", is_flag=True, help="Corrupt all of the clean icons.")
@click.option("--model", "models", multiple=True, metavar="KIND:REST", help="One of yours too; several times.")
@click.option("--photographs", is_flag=True, help="Twenty photographs of ImageNet and networks for them instead.")
@click.option("--data", metavar="ADDRESS", help="With --photographs: other data with ImageNet labels.")
@as_json
def command(
    out: str,
    offline: bool,
    images: int,
    full_corruptions: bool,
    models: tuple[str, ...],
    photographs: bool,
    data: str | None,
    as_json: bool,
) -> None:
    """Measure the zoo on icons, or on photographs."""
    from oodometer.quickstart.audience import Audience
    from oodometer.quickstart.icons import quickstart

    def show(board: Table) -> None:
        print_json(board.as_json()) if as_json else click.echo(board)

    audience = Audience(say, watching, Lines("packages"), show)
    if photographs or data:
        if as_json or models or offline or full_corruptions:
            raise UsageError("--photographs goes with --out and --data alone; 'oodometer run' and 'score' do the rest")
        _show_photographs(out, data, audience)
        return
    n_images = None if full_corruptions else images
    quickstart(out, images=n_images, models=models, offline=offline, audience=audience)


def _show_photographs(out: str, data: str | None, audience: Audience) -> None:
    from oodometer.quickstart.photographs import quickstart_photographs

    made = quickstart_photographs(out, data, audience=audience)
    say(f"$ oodometer score {made.store} --plot")
    click.echo(made.scores.table(plot=True))
    say(f"$ oodometer compare {made.store} {made.comparisons[0].model_a} {made.comparisons[0].model_b}")
    click.echo("\n".join(str(comparison) for comparison in made.comparisons))
    say(f"Every prediction is in {made.store}. Next: your own model and data, see docs/tutorial.md")
