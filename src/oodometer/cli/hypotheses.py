"""``oodometer hypotheses``: what makes models robust, judged from one's own runs."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, looked_at, origins_in, print_json, say


@click.command(
    "hypotheses",
    help="What makes models robust? The hypotheses of Hendrycks et al. 2021, each on each shift of a STORE, from "
    "models that differ in one thing only: the mean gain with its interval, + (evidence for it), - (none, or against "
    "it) or undecided, and the paper's verdict beside it.",
)
@click.argument("store")
@click.option("--threshold", type=float, default=1.5, show_default=True, metavar="POINTS", help="A gain that counts.")
@click.option(
    "--correct",
    type=click.Choice(["holm", "benjamini-hochberg", "bonferroni", "none"]),
    default="holm",
    show_default=True,
    help="The verdicts for the number of questions.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals and verdicts.")
@click.option("--sizes", multiple=True, metavar="PATTERN", help="Models that are sizes of one network ('resnet*').")
@click.option("--categories", metavar="CSV", help="Table model,category,parent,parameters,interventions.")
@click.option("--pairs", is_flag=True, help="Show every pair of models too.")
@as_json
def command(
    store: str,
    threshold: float,
    correct: str,
    level: float,
    sizes: tuple[str, ...],
    categories: str | None,
    pairs: bool,
    as_json: bool,
) -> None:
    """Judge the hypotheses."""
    from oodometer.analysis.hypotheses import HypothesisOptions
    from oodometer.analysis.line_rules import RobustnessOptions
    from oodometer.published.hypotheses_beside import hypotheses
    from oodometer.stats.bootstrap import Resampling

    line = RobustnessOptions(resampling=Resampling(level=level))
    options = HypothesisOptions(threshold / 100, correct, sizes, line)
    judged = hypotheses(looked_at(store), origins=origins_in(categories), options=options)
    if as_json:
        print_json(judged.as_json())
        return
    for note in judged.notes:
        say(note)
    click.echo(judged.table(pairs=pairs))
    say(judged.rule)
