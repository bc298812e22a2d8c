"""``oodometer compare``: may model B replace model A?"""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, looked_at, print_json
from oodometer.core.errors import RequirementNotMetError


@click.command(
    "compare",
    help="Compare model B with model A on the images that both saw: exact McNemar test, and the "
    "difference with its interval.",
)
@click.argument("store")
@click.argument("model_a", metavar="A")
@click.argument("model_b", metavar="B")
@click.option("--on", metavar="NAME", help="Only this condition.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option(
    "--fail-if-worse",
    "margin",
    type=click.FloatRange(0, 1),
    metavar="MARGIN",
    help="Exit with 3 if B's accuracy is more than MARGIN below A's on any condition.",
)
@click.option("--strict", is_flag=True, help="With --fail-if-worse: also if the data can't rule such a loss out.")
@as_json
def command(
    store: str,
    model_a: str,
    model_b: str,
    on: str | None,
    level: float,
    margin: float | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Compare two models of a store."""
    from oodometer.analysis.compare import compare

    if strict and margin is None:
        raise click.UsageError("--strict goes with --fail-if-worse MARGIN")
    found = compare(looked_at(store), model_a, model_b, on=on, level=level)
    if as_json:
        print_json([one.as_json() for one in found])
    else:
        click.echo("\n".join(str(one) for one in found))
    worse = [] if margin is None else [one for one in found if one.is_worse_by(margin, strict=strict)]
    if worse:
        one = worse[0]
        how = "may be" if strict else "is"
        raise RequirementNotMetError(
            f"{model_b} {how} more than {margin:g} worse than {model_a} on {one.condition}: "
            f"{one.difference.value:+.4f} [{one.difference.low:+.4f}, {one.difference.high:+.4f}]"
        )
