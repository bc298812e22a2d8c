"""``oodometer testset quiz``."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, print_json, say
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.build.testset.project.quiz_results import OnSet, QuizResults


@click.command(
    "quiz",
    help="How well people name the hardest images of both sets without knowing which set they are of. With --hardest, "
    "choose the images; people name them on a page of 'oodometer testset serve'; --results tells what came of it.",
)
@click.argument("project")
@click.option("--hardest", "scores", metavar="CSV", help="Columns id and share, of the models that are right.")
@click.option("--share", type=float, default=0.05, show_default=True, help="Of the images of each set in the table.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order, and of the choice between equals.")
@click.option("--results", "only_results", is_flag=True, help="Accuracy of each person on both sets.")
@as_json
def command(project: str, scores: str | None, share: float, seed: int, only_results: bool, as_json: bool) -> None:
    """Make it, or tell what came of it."""
    from oodometer.build.testset.project import quiz, quiz_results
    from oodometer.build.testset.project.project import open_project

    if (scores is None) == (not only_results):
        raise UsageError("say either --hardest SCORES.csv, to make the quiz, or --results")
    with open_project(project) as opened:
        if scores is not None:
            keys = quiz.hardest_images(opened, scores, share=share, seed=seed)
            made = quiz.make_quiz(opened, keys[quiz.OLD], keys[quiz.NEW], seed=seed)
            print_json(made.as_json()) if as_json else _print_made(made.n_old, made.n_new, made.is_new, project)
            return
        results = quiz_results.quiz_results(opened)
    print_json(quiz_results.as_json(results)) if as_json else _print_results(results)


def _print_made(n_old: int, n_new: int, is_new: bool, project: str) -> None:
    click.echo(f"{n_old} images of the original set and {n_new} of the new one")
    if not is_new:
        say("nothing new to do: that is the quiz already")
    say(f"addresses for people: oodometer testset workers {quote(project)} --add 4 --page quiz")


def _print_results(results: QuizResults) -> None:
    for one in results.people:
        click.echo(f"person {one.person}: original {_told(one.old)}; new {_told(one.new)}")
        if one.difference is not None:
            click.echo(f"  new minus original: {one.difference:+.3f}")
    if not results.people:
        click.echo("nobody has named an image yet")
    if results.difference is not None:
        click.echo(f"all, mean over images: original {results.old:.3f}; new {results.new:.3f}")
        click.echo(f"  new minus original: {results.difference:+.3f}")
    if results.over_people is not None:
        click.echo(f"  mean of the people's differences: {results.over_people:+.3f}  n={results.over_people.n}")


def _told(on_set: OnSet | None) -> str:
    if on_set is None:
        return "nothing yet"
    told = f"{on_set.accuracy:.3f} of {on_set.n}"
    return f"{told}, of which {on_set.n_cannot_tell} without a name" if on_set.n_cannot_tell else told
