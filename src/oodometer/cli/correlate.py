"""``oodometer correlate``: which synthetic shift predicts which natural one."""

from __future__ import annotations

import sys
from typing import Any

import click

from oodometer.cli.output import as_json, origins_in, print_json, say
from oodometer.cli.robustness import check_source, of_the_line, options_of, rows_of, where_from


@click.command(
    "correlate",
    help="Which synthetic shift predicts which natural one: Pearson's r of effective robustness ρ on the one and on "
    "the other, over the models that are not in the line, with interval and n. From the predictions of a STORE, or "
    "from a table. A shift is a condition, a data set, a family or a pattern ('imagenet-c.*'), of which the mean is "
    "taken; SHIFT~CLEAN names a clean set of its own.",
)
@click.argument("store", required=False)
@click.option("--synthetic", multiple=True, required=True, metavar="SHIFT", help="May be given several times.")
@click.option("--natural", multiple=True, required=True, metavar="SHIFT", help="May be given several times.")
@click.option("--x", default="", metavar="NAME", help="The clean set of all shifts.  [default: each one's own]")
@click.option("--each", is_flag=True, help="Every condition of a family or pattern by itself, not their mean.")
@click.option("--over", multiple=True, metavar="CATEGORY", help="Models to correlate; by default all not in the line.")
@where_from
@of_the_line
@click.option("--plot/--no-plot", default=None, help="Draw the intervals; by default on a terminal.")
@as_json
def command(
    store: str | None, synthetic: tuple[str, ...], natural: tuple[str, ...], x: str, each: bool, over: tuple[str, ...],
    plot: bool | None, as_json: bool, **flags: Any,
) -> None:  # fmt: skip
    """Correlate effective robustness on synthetic and natural shifts."""
    from oodometer.analysis.correlate import CorrelateOptions, correlate, correlate_table

    check_source(store, flags["table"])
    options, origins = CorrelateOptions(each, over, options_of(flags)), origins_in(flags["categories"])
    if store is not None:
        found = correlate(store, synthetic, natural, x=x, origins=origins, options=options)
    else:
        found = correlate_table(rows_of(flags), synthetic, natural, x=x, origins=origins, options=options)
    for note in found.notes:
        say(note)
    if as_json:
        print_json(found.as_json())
        return
    click.echo(found.table(plot=sys.stdout.isatty() if plot is None else plot))
    for shift in dict.fromkeys([*found.synthetic, *found.natural]):
        say(str(shift))
