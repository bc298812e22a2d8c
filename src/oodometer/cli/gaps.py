"""``oodometer gaps``: both sides of every shift, and what is lost between them."""

from __future__ import annotations

import sys

import click

from oodometer.cli.output import as_json, print_json, say


@click.command(
    "gaps",
    help="Both sides of every shift that was run, over the same classes, and the gap between them: top-1 accuracy on "
    "the standard images minus that on the shifted ones, each with interval and n.",
)
@click.argument("store")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--by", metavar="COLUMN", help="Resample groups of images together: class, or a column of the data.")
@click.option("--draws", type=int, default=1000, show_default=True, help="Of each bootstrap.")
@click.option("--each", is_flag=True, help="Every condition of a family by itself, not their mean.")
@click.option("--mean", is_flag=True, help="Also the mean over all models and shifts that are told.")
@click.option("--plot/--no-plot", default=None, help="Draw both sides; by default on a terminal.")
@as_json
def command(
    store: str, level: float, by: str | None, draws: int, each: bool, mean: bool, plot: bool | None, as_json: bool
) -> None:
    """Show the gaps of a store."""
    from oodometer.analysis.gaps import gaps

    found = gaps(store, level=level, by=by, draws=draws, each=each, mean=mean)
    for line in found.notes:
        say(line)
    for line in found.left_out:
        say(f"left out: {line}")
    for line in found.warnings():
        say(f"warning: {line}")
    if as_json:
        rows = found.as_json()
        print_json(rows if found.mean is None else {"gaps": rows, "mean": found.mean.as_json()})
        return
    click.echo(found.table(plot=sys.stdout.isatty() if plot is None else plot))
    if found.mean is not None:
        say(f"mean: {found.mean.convention} ({found.mean.gap.interval})")
    say(f"intervals of the gap: {', '.join(sorted({row.gap.interval for row in found.rows}))}")
