"""``oodometer explain``: what a drop under a shift is made of, as far as the data tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, origins_in, print_json, say
from oodometer.cli.robustness import LEAVE_OUT, LEVEL, check_source, rows_of, sizes_of_a_table, where_from

if TYPE_CHECKING:
    from oodometer.analysis.explain import Duplicates
    from oodometer.analysis.line_rules import RobustnessOptions


@click.command(
    "explain",
    help="What is a drop made of? Adaptivity, distribution and chance in the shifted images, as far as the data bound "
    "them, the line through the models read as difficulty of the images, what near-duplicates could explain, and what "
    "can't be known: Recht et al. 2019, sections 2 and 5. From the predictions of a STORE, or from a table.",
)
@click.argument("store", required=False)
@click.option(
    "--shifted", "shift", required=True, metavar="NAME", help="A condition or data set; of a family the mean."
)
@click.option("--clean", metavar="NAME", help="The clean set.  [default: the shift's other side]")
@click.option("--duplicates", metavar="CSV", help="The clean images with a near-duplicate: key, image, first or id.")
@click.option(
    "--duplicate-share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Instead: which share of the clean images has one.",
)
@click.option("--model", "models", multiple=True, metavar="PATTERN", help="Tell of these.  [default: best and worst]")
@where_from
@sizes_of_a_table
@click.option("--baseline", default="all", show_default=True, help="Category of the models of the lines, or: all.")
@LEAVE_OUT
@LEVEL
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@as_json
def command(
    store: str | None, shift: str, clean: str | None, models: tuple[str, ...], as_json: bool, **flags: Any
) -> None:
    """Explain a drop."""
    from oodometer.analysis.explain import explain, explain_table

    check_source(store, flags["table"])
    options, duplicates, origins = _options(flags), _duplicates(flags), origins_in(flags["categories"])
    sides = (clean,) if clean else ()
    if store is not None:
        found = explain(store, shift, clean=sides, duplicates=duplicates, origins=origins, options=options)
    else:
        found = explain_table(
            rows_of(flags), shift, clean=sides, duplicates=duplicates, origins=origins, options=options
        )
    for note in found.notes:
        say(note)
    if as_json:
        print_json(found.as_json())
        return
    click.echo(found.text(models))
    say(f"differences in percentage points; intervals: {found.models[0].drop.interval}")


def _options(flags: dict[str, Any]) -> RobustnessOptions:
    from oodometer.analysis.explain import DEFAULT
    from oodometer.stats.bootstrap import Resampling

    baseline = "" if flags["baseline"] == "all" else flags["baseline"]
    resampling = Resampling(level=flags["level"], seed=flags["seed"])
    return replace(DEFAULT, baseline=baseline, leave_out=flags["leave_out"], resampling=resampling)


def _duplicates(flags: dict[str, Any]) -> Duplicates:
    """The images with a near-duplicate, or their share."""
    if flags["duplicates"] is None:
        share: float | None = flags["duplicate_share"]
        return share
    if flags["duplicate_share"] is not None:
        raise click.UsageError("give --duplicates CSV or --duplicate-share SHARE, one of the two")
    from oodometer.build.testset.stored_contamination import read_duplicates

    return read_duplicates(flags["duplicates"])
