"""``oodometer consistency``: who fails on the same images."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, looked_at, print_json, say


@click.command(
    "consistency",
    help="Who fails on the same images: error consistency (Cohen's kappa on being right, Geirhos et al. 2020) of every "
    "two models of a STORE, and of people beside them, with intervals over images.",
)
@click.argument("store")
@click.option("--on", default="clean", show_default=True, metavar="NAME", help="The condition.")
@click.option("--people", metavar="CSV", help="People's answers: image,answer and maybe person, or a column for each.")
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="How many pairs, at most.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--draws", type=int, default=1000, show_default=True, help="Of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@as_json
def command(
    store: str, on: str, people: str | None, top: int, level: float, draws: int, seed: int, as_json: bool
) -> None:
    """Tell who fails together."""
    from oodometer.analysis.consistency import consistency
    from oodometer.analysis.people_answers import read_people_answers
    from oodometer.stats.bootstrap import Resampling

    answers = read_people_answers(people) if people else None
    found = consistency(looked_at(store), on=on, people=answers, resampling=Resampling(draws, level, seed=seed))
    for note in found.notes:
        say(note)
    if as_json:
        print_json(found.as_json())
        return
    click.echo(found.text(top))
    say(f"intervals of pairs: bootstrap over images {100 * level:g}%, each by itself")
