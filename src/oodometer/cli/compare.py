"""``oodometer compare``: may model B replace model A; and of many, who can be told apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, looked_at, origins_in, print_json, say, warn

if TYPE_CHECKING:
    from oodometer.analysis.judged_pair import CompareOptions
    from oodometer.analysis.many_comparisons import ManyComparisons
    from oodometer.store.index import Index


@click.command(
    "compare",
    help="Compare models on the images that both of a pair saw. Of two, A and B: test, difference with its interval, "
    "agreement. Of more, or without names of all: every pair on the clean sets and under every shift, corrected for "
    "the number of comparisons, and who can't be told apart.",
)
@click.argument("store")
@click.argument("models", nargs=-1, metavar="[A B...]")
@click.option(
    "--on",
    multiple=True,
    metavar="NAME",
    help="Only this condition; of a family (imagenet-c, imagenet-c/fog) one summary. Repeat it for several.",
)
@click.option(
    "--test",
    type=click.Choice(["exact", "mid-p", "bootstrap", "bootstrap-by-class"]),
    default="exact",
    show_default=True,
    help="McNemar's, exact or less cautious (mid-p); or images, or whole classes, resampled. Of means over a family "
    "the paired t test over images; of samples that were stopped when sure (run --until) always a bet.",
)
@click.option(
    "--correct",
    type=click.Choice(["holm", "benjamini-hochberg", "bonferroni", "none"]),
    default="holm",
    show_default=True,
    help="For the number of comparisons: no error at all (holm, bonferroni), or few among what is found.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals and what is told apart.")
@click.option("--draws", type=int, default=10_000, show_default=True, help="Of a bootstrap.")
@click.option(
    "--effective",
    is_flag=True,
    help="By effective robustness instead of accuracy: what each has beyond the line of 'robustness', given one "
    "line for both; images and the models of the line are resampled.",
)
@click.option(
    "--baseline", default="standard", show_default=True, help="With --effective: category of the line, or: all."
)
@click.option("--categories", metavar="CSV", help="With --effective: model,category, where cards do not say.")
@click.option("--pairs/--no-pairs", default=None, help="Of many models: every pair.  [default: where they are few]")
@click.option(
    "--fail-if-worse",
    "margin",
    type=click.FloatRange(0, 1),
    metavar="MARGIN",
    help="Of two: say of each condition whether B's accuracy is more than MARGIN below A's: worse, not worse, can't "
    "tell; by intervals corrected for the number of conditions (Bonferroni). Exit with 3 if it is worse on any.",
)
@click.option("--strict", is_flag=True, help="With --fail-if-worse: exit with 4 if that can't be told.")
@as_json
def command(
    store: str, models: tuple[str, ...], margin: float | None, strict: bool, as_json: bool, **flags: Any
) -> None:
    """Compare models of a store."""
    if strict and margin is None:
        raise click.UsageError("--strict goes with --fail-if-worse MARGIN")
    if len(models) == 2 and not flags["effective"]:
        _two(looked_at(store), models, _options(flags), flags["on"], margin, strict, as_json)
    elif margin is not None:
        raise click.UsageError("--fail-if-worse asks whether B may replace A by accuracy: name two models")
    else:
        _show(_many(looked_at(store), models, flags), flags["pairs"], as_json)


def _options(flags: dict[str, Any]) -> CompareOptions:
    from oodometer.analysis.judged_pair import CompareOptions

    return CompareOptions(flags["test"], flags["correct"], flags["level"], flags["draws"])


def _two(
    index: Index,
    models: tuple[str, ...],
    options: CompareOptions,
    on: tuple[str, ...],
    margin: float | None,
    strict: bool,
    as_json: bool,
) -> None:
    from oodometer.analysis.compare import compare
    from oodometer.analysis.gate import gate

    comparisons = compare(index, *models, on=on or None, options=options)
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


def _many(index: Index, models: tuple[str, ...], flags: dict[str, Any]) -> ManyComparisons:
    from oodometer.analysis.compare_effective import compare_effective
    from oodometer.analysis.compare_many import compare_many
    from oodometer.analysis.line_rules import RobustnessOptions

    options, on = _options(flags), flags["on"]
    if not flags["effective"]:
        return compare_many(index, models, on=on, options=options)
    line = RobustnessOptions(baseline="" if flags["baseline"] == "all" else flags["baseline"])
    origins = origins_in(flags["categories"])
    return compare_effective(index, models, on=on, options=options, origins=origins, line=line)


def _show(found: ManyComparisons, pairs: bool | None, as_json: bool) -> None:
    for note in found.notes:
        say(note)
    if as_json:
        print_json(found.as_json())
    else:
        click.echo(found.table(pairs=pairs))
