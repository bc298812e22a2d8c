"""``oodometer compare``: may model B replace model A?"""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, looked_at, print_json, warn


@click.command(
    "compare",
    help="Compare model B with model A on the images that both saw: exact McNemar test, and the "
    "difference with its interval.",
)
@click.argument("store")
@click.argument("model_a", metavar="A")
@click.argument("model_b", metavar="B")
@click.option(
    "--on",
    multiple=True,
    metavar="NAME",
    help="Only this condition; of a family (imagenet-c, imagenet-c/fog) one summary. Repeat it for several.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option(
    "--fail-if-worse",
    "margin",
    type=click.FloatRange(0, 1),
    metavar="MARGIN",
    help="Say of each condition whether B's accuracy is more than MARGIN below A's: worse, not worse, can't tell; by "
    "intervals corrected for the number of conditions (Bonferroni). Exit with 3 if it is worse on any.",
)
@click.option("--strict", is_flag=True, help="With --fail-if-worse: exit with 4 if that can't be told.")
@as_json
def command(
    store: str,
    model_a: str,
    model_b: str,
    on: tuple[str, ...],
    level: float,
    margin: float | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Compare two models of a store."""
    from oodometer.analysis.compare import compare
    from oodometer.analysis.gate import gate

    if strict and margin is None:
        raise click.UsageError("--strict goes with --fail-if-worse MARGIN")
    comparisons = compare(looked_at(store), model_a, model_b, on=on or None, level=level)
    judged = None if margin is None else gate(comparisons, margin)
    if as_json:
        print_json(judged.as_json() if judged else [comparison.as_json() for comparison in comparisons])
    else:
        click.echo("\n".join(map(str, [*comparisons, *([judged] if judged else [])])))
    if judged is None:
        return
    problem = judged.problem(strict=strict)
    if problem is not None:
        raise problem
    if judged.doubt:
        warn(judged.doubt)
