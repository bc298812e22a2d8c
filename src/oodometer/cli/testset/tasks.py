"""``oodometer testset tasks``."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, print_json, say, watching
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.build.testset.project.project import Project
    from oodometer.build.testset.project.tasks import MadeTasks


@click.command(
    "tasks",
    help="Put every candidate that is in no task yet into one: grids of images of one class, with original images of "
    "the class and of a near one hidden among them. A second call adds nothing until there are new candidates.",
)
@click.argument("project")
@click.option("--size", type=int, default=48, show_default=True, help="Images of a task at most.")
@click.option("--controls", default="3+3", show_default=True, help="Of the class and of a near one.")
@click.option("--workers", type=int, default=10, show_default=True, help="How many are to answer each task.")
@click.option(
    "--near", metavar="CSV", help="Columns class,near; or class,parent of a tree.  [default: any other class]"
)
@click.option(
    "--originals",
    type=int,
    default=0,
    show_default=True,
    help="Show so many originals of each class at least, as a matched sample needs them; 20 in the paper.",
)
@click.option("--drawings/--no-drawings", default=None, help="Whether drawings and paintings count.  [default: no]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the places and the controls.")
@as_json
def command(
    project: str,
    size: int,
    controls: str,
    workers: int,
    near: str | None,
    originals: int,
    drawings: bool | None,
    seed: int,
    as_json: bool,
) -> None:
    """Make them."""
    from oodometer.build.testset.project.near_classes import read_near
    from oodometer.build.testset.project.project import open_project
    from oodometer.build.testset.project.small_copies import make_small_copies
    from oodometer.build.testset.project.tasks import Layout, let_drawings_count, make_tasks

    positive, negative = _controls(controls)
    layout = Layout(size, positive, negative, workers, originals)
    with open_project(project) as opened:
        table = None if near is None else read_near(near, opened.class_numbers())
        if drawings is not None:
            let_drawings_count(opened, count=drawings)
        made = make_tasks(opened, layout, near=table, seed=seed)
        if not made.tasks:
            _check_candidates(opened, project)
        with watching("pictures") as watcher:
            make_small_copies(opened, progress=watcher.running)
    if as_json:
        print_json(made.as_json())
        return
    click.echo(_told(made))
    for note in made.notes if made.tasks else ():
        say(f"note: {note}")


def _check_candidates(opened: Project, folder: str) -> None:
    from oodometer.build.testset.project.pool import CANDIDATE, counts_by_class

    if not any(counts[CANDIDATE] for counts in counts_by_class(opened).values()):
        raise UsageError(f"no candidates yet; add some first: oodometer testset add {quote(folder)} FOLDER")


def _controls(text: str) -> tuple[int, int]:
    positive, plus, negative = text.partition("+")
    if not (plus and positive.isdigit() and negative.isdigit()):
        raise UsageError(f"--controls {text}: expected two numbers, of the class and of a near one, such as 3+3")
    return int(positive), int(negative)


def _told(made: MadeTasks) -> str:
    if not made.tasks:
        return "nothing new to do: every candidate is in a task already"
    shown = ", ".join(f"{n} {WORDS[kind]}" for kind, n in sorted(made.kinds.items()))
    return f"{sum(made.tasks.values())} tasks for {len(made.tasks)} classes: {shown}"


WORDS = {
    "candidate": "candidates",
    "original": "originals as ordinary entries",
    "positive": "positive controls",
    "negative": "negative controls",
}
