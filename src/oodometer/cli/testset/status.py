"""``oodometer testset status``."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, print_json, say

if TYPE_CHECKING:
    from oodometer.build.testset.project.class_progress import ProjectProgress


@click.command("status", help="How far the test set is, class by class, and what to do next.")
@click.argument("project")
@as_json
def command(project: str, as_json: bool) -> None:
    """Tell it."""
    from oodometer.build.testset.project.class_progress import next_step, project_progress
    from oodometer.build.testset.project.project import open_project

    with open_project(project) as opened:
        progress = project_progress(opened)
    step = next_step(progress, project)
    if as_json:
        print_json({**progress.as_json(), "next": step.sentence, "command": step.command})
        return
    click.echo(_table(progress))
    say(f"next: {step.sentence} {step.command or f'oodometer testset serve {quote(project)}'}")


def _table(progress: ProjectProgress) -> str:
    from oodometer.document.table import Column, Table

    titles = ("candidates", "originals", "in tasks", "answers", "wanted")
    columns = (
        Column("class"),
        *(Column(title, "count") for title in titles),
        Column("frequency", "percent"),
        *(Column(title, "count") for title in ("out", "chosen")),
        Column("reviewed"),
    )
    rows = tuple(
        (
            row.name, row.n_candidates, row.n_originals, row.n_in_tasks, row.n_answers, row.n_wanted, row.frequency,
            row.n_excluded, row.n_chosen, "yes" if row.is_reviewed else "",
        )
        for row in progress.classes
    )  # fmt: skip
    about = "answers: whole tasks by one person; frequency: the mean share who selected a candidate"
    return Table("status", "How far each class is", columns, rows, footnotes=(about,)).written("text")
