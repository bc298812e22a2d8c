"""``oodometer score``: the accuracy of every cell of a store."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json


@click.command("score", help="Top-1 and top-5 accuracy of every model on every condition, each with interval and n.")
@click.argument("store")
@click.option("--interval", default="clopper-pearson", show_default=True, help="clopper-pearson or wilson.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the interval.")
@click.option("--plot/--no-plot", default=None, help="Draw the intervals; by default on a terminal.")
@as_json
def command(store: str, interval: str, level: float, plot: bool | None, as_json: bool) -> None:
    """Score a store."""
    import sys

    from oodometer.report.score import score

    scores = score(store, interval=interval, level=level)
    if as_json:
        print_json(scores.as_json())
        return
    click.echo(scores.table(plot=sys.stdout.isatty() if plot is None else plot))
    named = sorted({row.estimate.interval for row in scores.rows})
    click.echo(f"intervals: {', '.join(named)}", err=True)
