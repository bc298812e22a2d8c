"""``oodometer robustness``: what every model has beyond its clean accuracy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, origins_in, print_json, say

if TYPE_CHECKING:
    from oodometer.analysis.line_rules import RobustnessOptions
    from oodometer.store.tables import Accuracy

Command = Callable[..., None]


def where_from(command: Command) -> Command:
    """The options about where accuracies come from."""
    options = (
        click.option("--table", metavar="CSV", help="Instead of a store: model and a column per set, or long."),
        click.option("--categories", metavar="CSV", help="model,category and maybe parent, where cards do not say."),
    )
    return _all(options, command)


def sizes_of_a_table(command: Command) -> Command:
    """The options about how many images are behind a table."""
    options = (
        click.option(
            "--n", type=click.IntRange(min=1), help="Table: the images behind each accuracy, where it does not say."
        ),
        click.option("--sizes", metavar="CSV", help="Table: the same per condition, as condition,n."),
    )
    return _all(options, command)


LEAVE_OUT = click.option("--leave-out", multiple=True, metavar="PATTERN", help="Models not in the line, as '*aws*'.")
LEVEL = click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")


def of_the_line(command: Command) -> Command:
    """The options about the line."""
    options = (
        click.option(
            "--baseline", default="standard", show_default=True, help="Category of the models of the line, or: all."
        ),
        click.option(
            "--baseline-above",
            type=click.FloatRange(0, 1),
            default=None,
            metavar="SHARE",
            help="Least clean accuracy of these models.  [default: the usual one of each shift]",
        ),
        LEAVE_OUT,
        click.option("--scale", type=click.Choice(["logit", "probit", "linear"]), default="logit", show_default=True),
        LEVEL,
    )
    return _all(options, command)


def _all(options: tuple[Callable[[Command], Command], ...], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    "robustness",
    help="The line from clean accuracy to accuracy under a shift, and of every model its effective robustness ρ (what "
    "it has beyond the line) and relative robustness τ (what it has beyond its parent), with intervals. From the "
    "predictions of a STORE, or from a table.",
)
@click.argument("store", required=False)
@click.option(
    "--shift", "--y", "shift", required=True, metavar="NAME", help="A condition or data set; of a family the mean."
)
@click.option(
    "--x",
    "x",
    multiple=True,
    metavar="NAME",
    help="The clean set; several make a plane.  [default: the shift's other side]",
)
@where_from
@sizes_of_a_table
@of_the_line
@click.option(
    "--knee",
    metavar="MODEL",
    help="Two lines, bent at this model or clean accuracy; none: one line.  [default: as the shift has it]",
)
@click.option("--draws", type=int, default=1000, show_default=True, help="Of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@click.option("--plot/--no-plot", default=None, help="Draw the intervals of ρ; by default on a terminal.")
@as_json
def command(
    store: str | None, shift: str, x: tuple[str, ...], knee: str | None, plot: bool | None, as_json: bool, **flags: Any
) -> None:
    """Set every model beside the line."""
    from oodometer.analysis.robustness import robustness, robustness_of_table

    check_source(store, flags["table"])
    options = options_of(flags, knee=knee_of(knee))
    origins = origins_in(flags["categories"])
    if store is not None:
        found = robustness(store, shift, x=x, origins=origins, options=options)
    else:
        found = robustness_of_table(rows_of(flags), shift, x=x, origins=origins, options=options)
    for note in found.notes:
        say(note)
    if as_json:
        print_json(found.as_json())
        return
    click.echo(found.table(plot=sys.stdout.isatty() if plot is None else plot))
    names = sorted({one.rho.interval for one in found.models})
    say(f"* in the line; x, y, ρ, τ are shares; intervals of ρ: {', '.join(names)}")


def check_source(store: str | None, table: str | None) -> None:
    """An error unless there is one place where the accuracies come from."""
    if (store is None) == (table is None):
        raise click.UsageError("give a STORE or --table CSV, one of the two")


def options_of(flags: dict[str, Any], *, knee: str | float | None = None) -> RobustnessOptions:
    """How the line is drawn."""
    from oodometer.analysis.line_rules import RobustnessOptions
    from oodometer.stats.bootstrap import DEFAULT, Resampling

    return RobustnessOptions(
        scale=flags["scale"],
        baseline="" if flags["baseline"] == "all" else flags["baseline"],
        baseline_above=flags["baseline_above"],
        leave_out=flags["leave_out"],
        knee=knee,
        resampling=Resampling(flags.get("draws", DEFAULT.draws), flags["level"], seed=flags.get("seed", DEFAULT.seed)),
    )


def rows_of(flags: dict[str, Any]) -> list[Accuracy]:
    """The accuracies of the user's table."""
    from oodometer.store.tables import read_sizes, read_table_file

    sizes = flags.get("sizes")
    return read_table_file(flags["table"], n=flags.get("n"), sizes=read_sizes(sizes) if sizes else None)


def knee_of(text: str | None) -> str | float | None:
    """The clean accuracy at which a line bends, or the model that has it."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
