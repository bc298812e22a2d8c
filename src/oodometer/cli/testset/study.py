"""``oodometer testset study``."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, looked_at, print_json, say
from oodometer.cli.testset.filter_pool import names_in


@click.command(
    "study",
    help="What a new test set shows about itself, by what models answered about it: accuracy by selection frequency "
    "and by revision, what each sampling strategy loses, the hardest images, whether a classifier can tell old from "
    "new, what training on splits changes. Of a PROJECT ('oodometer testset pool' gives its images), or a RELEASE.",
)
@click.argument("project_or_release")
@click.option("--store", metavar="ADDRESS", default="runs", show_default=True, help="Where the predictions are.")
@click.option("--original", metavar="ADDRESS", help="Of a release: the original set.  [default: as it says]")
@click.option("--models", metavar="A,B", default="", help="Only these.  [default: all that were asked]")
@click.option(
    "--discriminator",
    "discriminators",
    multiple=True,
    metavar="pixels|MODEL",
    help="Let a classifier tell old from new by pixels, or by a model's answers; several times.",
)
@click.option("--baseline", metavar="MODEL", help="Compare models of other hyper-parameters, or of splits, with it.")
@click.option("--splits", metavar="DIR", help="From 'oodometer testset splits': accuracy on what was held out.")
@click.option("--hardest", type=int, default=10, show_default=True, help="How many of the hardest images of each set.")
@click.option("--shares", metavar="CSV", help="Write the share of models that get each image right, for the quiz.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws of the discriminator.")
@as_json
def command(
    project_or_release: str, store: str, original: str | None, models: str, discriminators: tuple[str, ...],
    baseline: str | None, splits: str | None, hardest: int, shares: str | None, level: float, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Study it."""
    from oodometer.build.testset.study.study import StudyRequest, study_of
    from oodometer.cli.testset.study_tables import tables_of

    request = StudyRequest(
        original, names_in(models), discriminators, baseline, splits, hardest, shares, level, seed
    )  # fmt: skip
    found = study_of(project_or_release, looked_at(store), request)
    for note in found.notes:
        say(note)
    if shares is not None:
        say(f"{shares}: for oodometer testset quiz --hardest {shares}")
    if as_json:
        print_json(found.as_json())
        return
    click.echo("\n\n".join(table.written("text").rstrip() for table in tables_of(found)))
