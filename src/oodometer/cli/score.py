"""``oodometer score``: the metrics of every model of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, import_plugins, plugins, print_json, say

if TYPE_CHECKING:
    from oodometer.analysis.score_table import Scores


@click.command(
    "score",
    help="The metrics of every model on every condition, each with interval, n and convention. By default top-1 and "
    "top-5 accuracy.",
)
@click.argument("store")
@click.option(
    "--metrics",
    default="top-1,top-5",
    show_default=True,
    help="Names with commas; all: every one but breakdowns (per-class, reliability, response-curve) and what "
    "reads all logits (temperature, classwise-ece, conformal-set-size).",
)
@click.option(
    "--interval",
    default="clopper-pearson",
    show_default=True,
    help="Of shares: clopper-pearson or wilson. Of every metric: bootstrap or bca.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the interval.")
@click.option("--draws", type=int, default=1000, show_default=True, help="Of each bootstrap.")
@click.option("--by", metavar="COLUMN", help="Resample groups of images together: class, or a column of the data.")
@click.option(
    "--by-value",
    metavar="COLUMNS",
    default="",
    help="Also the accuracy of each value of these columns of the data, with commas; A+B: of each pair of values.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of each bootstrap.")
@click.option(
    "--normaliser", metavar="MODEL", help="Divide corruption errors and flips by this model's, not AlexNet's."
)
@click.option("--ood", metavar="CONDITION[@DATA]", help="Images of no class, to be told from those of 'clean'.")
@click.option("--label-sets", metavar="JSON", help="The acceptable labels of each image, for top-1:any and top-5:any.")
@click.option(
    "--temperature", metavar="CONDITION[@DATA]", help="Fit each model's temperature there, and scale by it first."
)
@click.option(
    "--control",
    metavar="MODEL",
    help="Of samples of corrupted images (run --within): count what this model, which answered all of them, tells.",
)
@click.option(
    "--alpha",
    type=float,
    default=0.1,
    show_default=True,
    help="Of conformal sets: the share of images whose class they may miss.",
)
@click.option(
    "--calibrate-on",
    metavar="CONDITION[@DATA]",
    help="Calibrate conformal sets on half of these images; by default those of the standard side, or 'clean'.",
)
@click.option(
    "--ranks", is_flag=True, help="Of top-1: the ranks that each model may have, by tests of all pairs on a condition."
)
@click.option("--plot/--no-plot", default=None, help="Draw the intervals; by default on a terminal.")
@plugins
@as_json
def command(
    store: str, metrics: str, interval: str, level: float, draws: int, by: str | None, by_value: str, seed: int,
    normaliser: str | None, ood: str | None, label_sets: str | None, temperature: str | None,
    control: str | None, alpha: float, calibrate_on: str | None, ranks: bool, plot: bool | None,
    plugin_modules: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Score a store."""
    import sys

    from oodometer.analysis.metric_request import ScoreOptions
    from oodometer.analysis.score import score
    from oodometer.analysis.score_ranks import with_ranks
    from oodometer.cli.output import watching

    import_plugins(plugin_modules)
    slices = tuple(name.strip() for name in by_value.split(",") if name.strip())
    options = ScoreOptions(
        draws, by, seed, normaliser, ood, label_sets, temperature, slices, control, alpha, calibrate_on
    )
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    with watching("cells read") as watcher:
        scores = score(store, metrics=names, interval=interval, level=level, options=options, progress=watcher.running)
    if ranks:
        scores = with_ranks(store, scores, level=level)
    for line in scores.left_out:
        say(f"left out: {line}")
    for line in scores.warnings:
        say(f"warning: {line}")
    if as_json:
        print_json(scores.as_json())
        return
    click.echo(scores.table(plot=sys.stdout.isatty() if plot is None else plot))
    if slices or names != ["top-1", "top-5"]:
        _tell_conventions(scores)
    if scores.ranks:
        say(scores.ranks)
    say(f"intervals: {', '.join(sorted({row.estimate.interval for row in scores.rows}))}")


def _tell_conventions(scores: Scores) -> None:
    for metric, conventions in scores.conventions().items():
        for convention in conventions:
            say(f"{metric}: {convention}")
