"""``oodometer plan``: how many images would show a difference?"""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, looked_at, print_json, say


@click.command(
    "plan",
    help="How many images would show a difference between two models, on the clean sets and under every shift, from "
    "how often they disagree so far; and the smallest difference that the images so far can show. Without A and B: "
    "every pair, or each model with the next best one where they are many.",
)
@click.argument("store")
@click.argument("model_a", metavar="[A", required=False)
@click.argument("model_b", metavar="B]", required=False)
@click.option(
    "--detect",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    required=True,
    metavar="DIFFERENCE",
    help="Of two accuracies: 0.005 is half a point.",
)
@click.option("--power", type=float, default=0.8, show_default=True, help="The probability of seeing it.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the test that sees it.")
@click.option(
    "--comparisons",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="For how many comparisons the test will be corrected.",
)
@click.option("--test", type=click.Choice(["exact", "mid-p"]), default="exact", show_default=True, help="McNemar's.")
@click.option("--on", multiple=True, metavar="NAME", help="Only this condition, shift or family; more than once.")
@as_json
def command(
    store: str,
    model_a: str | None,
    model_b: str | None,
    detect: float,
    power: float,
    level: float,
    comparisons: int,
    test: str,
    on: tuple[str, ...],
    as_json: bool,
) -> None:
    """Plan a comparison."""
    from oodometer.analysis.image_plan import PlanOptions, plan

    options = PlanOptions(detect, power, level, comparisons, "mid-p" if test == "mid-p" else "exact")
    found = plan(looked_at(store), model_a, model_b, options=options, on=on)
    for note in found.notes:
        say(f"left out: {note}")
    if as_json:
        print_json(found.as_json())
    else:
        click.echo(found)
