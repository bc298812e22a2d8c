"""``oodometer testset choose``."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, print_json, say
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.build.testset.project.project import Project
    from oodometer.build.testset.project.two_people import KeywordWork


@click.command(
    "choose",
    help="Two people choose images by keyword, as for CIFAR-10.1: one selects, the other verifies, and they change "
    "places from keyword to keyword. With --people, say who; they choose on a page of 'oodometer testset serve'. "
    "Without, what is still missing. With --finish, what is not taken by both is out of all samples.",
)
@click.argument("project")
@click.option("--people", nargs=2, type=int, metavar="A B", help="The numbers of two workers.")
@click.option("--finish", is_flag=True, help="Take out what is not taken by both, once everything is decided.")
@click.option("--per-class", type=click.IntRange(1), help="Images wanted.  [default: as many as the original set has]")
@click.option("--keywords", "most", type=click.IntRange(1), default=25, show_default=True, help="Of each class.")
@click.option(
    "--original-keywords", "table", metavar="CSV", help="Columns class, keyword, count.  [default: kept ones]"
)
@as_json
def command(
    project: str,
    people: tuple[int, int] | None,
    finish: bool,
    per_class: int | None,
    most: int,
    table: str | None,
    as_json: bool,
) -> None:
    """Say who, tell how far they are, or finish."""
    from oodometer.build.testset.project.choosing import missing_by_keyword
    from oodometer.build.testset.project.project import open_project
    from oodometer.build.testset.project.sample_request import read_keywords
    from oodometer.build.testset.project.two_people import work

    if people and finish:
        raise UsageError("say either --people, to begin, or --finish")
    with open_project(project) as opened:
        if people:
            _begin(opened, people, as_json)
            return
        if finish:
            _finish(opened, as_json)
            return
        rows = work(opened)
        given = None if table is None else read_keywords(table)
        missing = missing_by_keyword(opened, given, per_class=per_class, most_keywords=most)
    if as_json:
        print_json({"keywords": [row.as_json() for row in rows], "missing": missing})
        return
    click.echo(_table(rows, missing))
    if missing is None:
        say(f"what is missing is not known; the originals' keywords: oodometer testset keywords {quote(project)}")


def _begin(project: Project, people: tuple[int, int], as_json: bool) -> None:
    from oodometer.build.testset.project.choosing import let_workers_choose

    rows = let_workers_choose(project, *people)
    n = sum(row.n_candidates for row in rows)
    if as_json:
        print_json({"people": list(people), "keywords": len(rows), "candidates": n})
        return
    click.echo(f"workers {people[0]} and {people[1]} choose among {n:,} candidates of {len(rows):,} keywords")
    if not rows:
        say("no candidate has a keyword: give them one in the column keyword of 'oodometer testset add --from CSV'")
    say("they choose on the page /choose of 'oodometer testset serve', with the addresses that they have")


def _finish(project: Project, as_json: bool) -> None:
    from oodometer.build.testset.project.choosing import finish_choosing
    from oodometer.build.testset.project.project import whoever

    n_out, n_back = finish_choosing(project, by=whoever())
    if as_json:
        print_json({"out": n_out, "back_in": n_back})
        return
    click.echo(f"{n_out:,} candidates taken out of samples, {n_back:,} back in")


def _table(rows: list[KeywordWork], missing: dict[str, dict[str, int]] | None) -> str:
    from oodometer.document.table import Column, Table

    counts = ("candidates", "to select", "to verify", "taken by both", "missing")
    texts = (Column("keyword", "text"), Column("selects", "text"), Column("verifies", "text"))
    columns = (Column("class"), *texts, *(Column(title, "count") for title in counts))
    cells = [
        (
            row.class_name, row.keyword, row.selector, row.verifier, row.n_candidates, row.n_to_select,
            row.n_to_verify, row.n_counting,
            None if missing is None else missing.get(row.class_name, {}).get(row.keyword, 0),
        )
        for row in rows
    ]  # fmt: skip
    known = {(row.class_name, row.keyword) for row in rows}
    without = [
        (name, keyword, "", "", 0, 0, 0, 0, n)
        for name, counted in (missing or {}).items()
        for keyword, n in counted.items()
        if (name, keyword) not in known
    ]
    about = "missing: so many more have to be taken by both, for the share that the keyword has in the original set"
    return Table("choose", "Two people choose", columns, (*cells, *without), footnotes=(about,)).written("text")
