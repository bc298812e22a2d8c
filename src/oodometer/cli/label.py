"""``oodometer label``: which images of a set to label."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, looked_at, print_json, say

BUDGET = (
    "How many images. Another number is another draw, not the same images and some more: copy the labels that are "
    "there already into its table, and label the others."
)


@click.command(
    "label",
    help="Which images of a set to label, so that few labels tell the accuracy of the models of STORE: a table to fill "
    "in, with the probability by which each image was chosen. 'oodometer estimate --labels' reads it back.",
)
@click.argument("store")
@click.option("--shifted", required=True, metavar="NAME", help="A condition, or data seen as they are.")
@click.option("--budget", type=click.IntRange(min=1), default=200, show_default=True, help=BUDGET)
@click.option(
    "--design",
    type=click.Choice(["neyman", "uniform"]),
    help="neyman: the more likely, the more the models disagree; uniform: all are as likely.  [default: neyman; below "
    "100 images uniform]",
)
@click.option("--model", "models", multiple=True, metavar="NAME", help="Whose accuracy is asked for.  [default: all]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw.")
@click.option(
    "--for",
    "form",
    type=click.Choice(["csv", "label-studio", "testset"]),
    default="csv",
    show_default=True,
    help="Where they are labelled: a table, Label Studio, or the page of 'oodometer testset'.",
)
@click.option("-o", "--out", metavar="FILE", help="The table, or the folder for the others.  [default: stdout]")
@click.option("--data", metavar="ADDRESS", help="The images, for their paths: a folder, or a table of files.")
@click.option("--images-at", metavar="URL", help="For Label Studio: where the images are served.")
@click.option("--trial", is_flag=True, help="Fill in the labels that the data have, to try how well few would do.")
@as_json
def command(
    store: str,
    shifted: str,
    budget: int,
    design: str | None,
    models: tuple[str, ...],
    seed: int,
    form: str,
    out: str | None,
    data: str | None,
    images_at: str | None,
    trial: bool,
    as_json: bool,
) -> None:
    """Choose them."""
    from oodometer.few_labels.choose import choose_images_to_label
    from oodometer.few_labels.write import write_chosen

    chosen = choose_images_to_label(
        looked_at(store), shifted, budget, models=models, design=design, seed=seed, trial=trial
    )
    written = write_chosen(chosen, form, out, data=data, images_at=images_at)
    if as_json:
        print_json(chosen.as_json())
    elif not written:
        click.echo(chosen.csv, nl=False)
    say(str(chosen))
    for line in (*chosen.notes, *written):
        say(line)
