"""``oodometer testset sample``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, print_json, say
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.build.testset.project.project import Project
    from oodometer.build.testset.project.revisions import Sampled

STRATEGIES = ("matched-frequency", "threshold", "top-images", "uniform", "keyword-quotas", "by-attribute")

MOST_CLASSES = 10
"""That are named where images are missing."""


@click.command(
    "sample",
    help="Choose images from the pool, and keep the choice as a revision. Images that the last revision of the same "
    "strategy chose stay where they may; what was excluded or is a near-duplicate is left out and counted.",
)
@click.argument("project")
@click.option("--strategy", type=click.Choice(STRATEGIES), help="How.  [default: matched-frequency]")
@click.option("--again", is_flag=True, help="What the latest revision asked for: fills gaps, leaves the rest; alone.")
@click.option("--per-class", type=int, default=10, show_default=True, help="Images of each class.")
@click.option("--at-least", type=float, default=0.7, show_default=True, help="Of threshold: the selection frequency.")
@click.option(
    "--keywords", "most_keywords", type=int, default=25, show_default=True, help="Of keyword-quotas: of each class."
)
@click.option("--original-keywords", metavar="CSV", help="Of keyword-quotas: columns class, keyword, count.")
@click.option(
    "--base", multiple=True, metavar="COLUMN=VALUE", help="Of by-attribute: the value in training images, each."
)
@click.option("--balanced", is_flag=True, help="All classes as many images as the one that has fewest.")
@click.option("--least-answers", type=int, help="Leave candidates with fewer answers out.  [default: 1 by frequency]")
@click.option("--without-spammers", is_flag=True, help="Answers of spammers count for nothing.")
@click.option(
    "--trust-thresholds/--only-judged",
    default=True,
    show_default=True,
    help="Whether close pairs that nobody has looked at count as near-duplicates.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of every draw.")
@click.option("--note", default="", help="Why: kept with the revision.")
@as_json
def command(project: str, again: bool, note: str, as_json: bool, **asked: Any) -> None:
    """Choose."""
    from oodometer.build.testset.project.project import open_project, whoever
    from oodometer.build.testset.project.revisions import sample_again

    if again:
        _check_alone()
    with open_project(project) as opened:
        sampled = [sample_again(opened, by=whoever(), note=note)] if again else _sampled(opened, note, asked)
    if as_json:
        print_json([each.as_json() for each in sampled] if len(sampled) > 1 else sampled[0].as_json())
        return
    for each in sampled:
        _print(each)
    with open_project(project) as opened:
        for each in sampled:
            _print_short(opened, each)


def _check_alone() -> None:
    """Refuse what else is asked for beside --again: it would count for nothing."""
    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
        and parameter.name not in ("again", "note", "as_json")
        and context.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise UsageError(
            f"{given[0]} has no meaning beside --again, which takes what the latest revision asked for; leave one out"
        )


def _sampled(project: Project, note: str, asked: dict[str, Any]) -> list[Sampled]:
    from oodometer.build.testset.project.project import whoever
    from oodometer.build.testset.project.revisions import take_samples
    from oodometer.build.testset.project.sample_request import read_keywords, request_of

    table, base = asked.pop("original_keywords"), asked.pop("base")
    keywords = {} if table is None else read_keywords(table)
    strategy = asked.pop("strategy") or STRATEGIES[0]
    return take_samples(project, request_of(strategy, base, keywords=keywords, **asked), by=whoever(), note=note)


def _print(sampled: Sampled) -> None:
    record = sampled.revision
    what = f"{record.request.part}, " if record.request.strategy == "by-attribute" else ""
    if not sampled.is_new:
        click.echo(f"revision {record.number}: {what}nothing changes, {record.n_images} images stay")
        return
    told = "" if sampled.mean_frequency is None else f", mean selection frequency {sampled.mean_frequency:.3f}"
    change = "" if record.parent is None else f" ({record.n_new} new, {record.n_gone} gone)"
    click.echo(f"revision {record.number}: {what}{record.n_images} images{change}{told}")
    for reason, n in record.excluded.items():
        say(f"out: {n} {reason}")
    for what_happened, n in record.counts.items():
        if isinstance(n, int) and n and what_happened != "carried over":
            say(f"{n} {what_happened}")


def _print_short(project: Project, sampled: Sampled) -> None:
    from oodometer.build.testset.project.out_now import with_few_answers

    short = sorted(sampled.revision.short.items(), key=lambda item: -item[1]) if sampled.is_new else []
    waiting = with_few_answers(project, sampled.revision.request) if short else {}
    for name, n in short[:MOST_CLASSES]:
        what = f"annotate {waiting[name]} of its candidates" if name in waiting else "add candidates"
        say(f"{name}: {n} fewer than wanted; {what}")
    if len(short) > MOST_CLASSES:
        say(f"and {len(short) - MOST_CLASSES} more classes with fewer than wanted")
