"""``oodometer testset plan``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, print_json, say
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.build.testset.project.project import Project
    from oodometer.build.testset.project.search_plan import PlannedQuery


@click.command(
    "plan",
    help="What to search for each class, and what came of it: a query for each synonym, as for ImageNetV2. A program "
    "of yours reads the table, fetches, and writes a manifest with a column 'query' for 'oodometer testset add'.",
)
@click.argument("project")
@click.option("--expand", metavar="CLASS", help="Take a class that has too few images one of the five steps further.")
@click.option("--parents", metavar="CSV", help="With --expand: columns class, parent; for words of the parent class.")
@click.option("--words", metavar="A|B", help="With --expand: words that you picked, such as translations.")
@click.option("--styles", is_flag=True, help="Queries with style words, for renditions, as for ImageNet-R.")
@click.option("--blurry", is_flag=True, help="Queries for blurry images, as for Real Blurry Images.")
@click.option("--limit", type=int, help="Images of a class, or of a class in a style.  [default: 100]")
@click.option("--since", metavar="DAY", help="The first day of the images.  [default: 2012-07-11; styles, blurry: any]")
@click.option("--until", metavar="DAY", help="The last day at first.  [default: 2013-07-11; styles, blurry: any]")
@click.option("--later", metavar="DAY", help="The last day from the third step on.  [default: 2014-07-11]")
@click.option("--order", help="In which a source is to give its images.  [default: upload date]")
@click.option("--done", type=int, metavar="QUERY", help="Say that this query was asked.")
@click.option("--take-in", metavar="CSV", help="A changed table: states of queries, and new queries without a number.")
@click.option("--csv", "table", metavar="FILE", help="Write the plan as a table.")
@as_json
def command(project: str, table: str | None, as_json: bool, **asked: Any) -> None:
    """Make it, change it, tell it."""
    from oodometer.build.testset.project.project import open_project
    from oodometer.build.testset.project.search_plan import plan_rows, write_plan

    with open_project(project) as opened:
        _change(opened, asked)
        if table is not None:
            say(f"{table}: {write_plan(opened, table)} queries")
        rows = plan_rows(opened)
    print_json([one.as_json() for one in rows]) if as_json else _print(rows)


def _change(project: Project, asked: dict[str, Any]) -> None:
    """Do what is asked with the plan; without anything, make the plain one."""
    from oodometer.build.testset.project import search_plan as plans

    kinds = [kind for kind, wanted in ((plans.STYLE, asked["styles"]), (plans.BLURRY, asked["blurry"])) if wanted]
    acts = [bool(kinds), *(asked[name] is not None for name in ("expand", "done", "take_in"))]
    if sum(acts) > 1 or len(kinds) > 1:
        raise UsageError("one of --expand, --styles, --blurry, --done and --take-in at a time")
    if not asked["expand"] and (asked["parents"] or asked["words"]):
        raise UsageError("--parents and --words go with --expand CLASS")
    if asked["expand"] is not None:
        _expand(project, asked)
    elif asked["done"] is not None:
        plans.mark_done(project, asked["done"])
    elif asked["take_in"] is not None:
        taken = plans.read_plan(project, asked["take_in"])
        say(f"{taken.n_added} queries added, {taken.n_changed} marked")
    else:
        kind = kinds[0] if kinds else plans.PLAIN
        given = {name: asked[name] for name in ("limit", "since", "until", "later", "order")}
        say(f"{plans.make_plan(project, plans.options_for(kind, **given), kind=kind)} queries added")


def _expand(project: Project, asked: dict[str, Any]) -> None:
    from oodometer.build.testset.project.search_plan import STEPS, expand, read_parents

    parents = read_parents(asked["parents"]) if asked["parents"] else None
    words = [word for word in (asked["words"] or "").split("|") if word.strip()]
    step = expand(project, asked["expand"], parents=parents, words=words)
    for number in step.skipped:
        say(f"step {number} of 5 gives no new query: {STEPS[number]}")
    say(f"step {step.step} of 5: {STEPS[step.step]}; {len(step.queries)} queries added")


def _print(rows: list[PlannedQuery]) -> None:
    for one in rows:
        when = f"{one.since or 'any time'} to {one.until}" if one.until else "any time"
        head = f"{one.id}: {one.class_name}: {one.words}"
        click.echo(f"{head}: {one.wanted} images, {when}, by {one.order}; {one.state}, {one.n_images} in the pool")
