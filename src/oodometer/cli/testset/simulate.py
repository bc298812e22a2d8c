"""``oodometer testset simulate``."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json


@click.command(
    "simulate",
    help="Let simulated annotators answer all tasks, to try everything out or to plan how many people are needed: each "
    "sees an image with noise of their own and has a threshold of their own. A release of what they chose says so.",
)
@click.argument("project")
@click.option("--workers", type=click.IntRange(1), default=30, show_default=True, help="How many there are.")
@click.option("--spammers", type=click.IntRange(0), default=0, show_default=True, help="Those who do not look.")
@click.option(
    "--clearness",
    metavar="FILE",
    help="Columns id, clearness: above 0 where an image shows its class, near 0 where it is hard; or what 'oodometer "
    "hardest --json' printed.  [default: drawn]",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of every draw.")
@as_json
def command(project: str, workers: int, spammers: int, clearness: str | None, seed: int, as_json: bool) -> None:
    """Let them answer."""
    from oodometer.build.testset.project.project import open_project
    from oodometer.build.testset.project.simulate import Simulation, read_clearness, simulate_answers

    given = None if clearness is None else read_clearness(clearness)
    with open_project(project) as opened:
        simulated = simulate_answers(opened, Simulation(workers, spammers, seed, given))
    print_json(simulated.as_json()) if as_json else click.echo(simulated)
