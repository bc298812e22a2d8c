"""``oodometer import``: accuracies or predictions from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from oodometer.cli.output import say


@click.command(
    "import",
    help="Bring a CSV table of accuracies (model,condition,accuracy,n, or a column per condition) into a store; or, "
    "with --labels, files of logits or best classes (.npy, .npz, .csv), each a model: paths, folders, quoted patterns.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--store", default="runs", show_default=True, metavar="ADDRESS", help="Where it is kept.")
@click.option("--n", type=click.IntRange(min=1), help="Table: the images behind each accuracy, where it does not say.")
@click.option("--sizes", metavar="CSV", help="Table: the same per condition, as condition,n; or: published.")
@click.option("--model", "name", help="Predictions: the model's name.  [default: the file's name without its ending]")
@click.option("--category", help="Predictions: the category of the models, where --categories does not say it.")
@click.option(
    "--categories", metavar="CSV", help="Predictions: the models' categories, as model,category[,parent][,parameters]."
)
@click.option("--condition", default="clean", show_default=True, help="Predictions: what the images were.")
@click.option("--ids", metavar="TXT", help="Predictions: the image ids, one a line.")
@click.option(
    "--labels",
    metavar="FILE",
    help="Predictions: the true classes: .csv with id,label; or one a line or .npy, in the order of the predictions.",
)
@click.option("--n-classes", type=click.IntRange(1, 1_000_000), help="Predictions: how many classes the data have.")
@click.option("--classes", metavar="FILE", help="Predictions: their names, one a line; or imagenet-1k.")
@click.option("--data", default="imported", show_default=True, help="Predictions: the name of the data set.")
@click.option(
    "--values",
    type=click.Choice(["logits", "probabilities", "classes"]),
    help="Predictions: what the numbers are; by default whole numbers are classes, others logits.",
)
@click.option("--keep", type=click.Choice(["summary", "logits"]), default="summary", show_default=True)
def command(files: Sequence[str], **flags: Any) -> None:
    """Import files."""
    from oodometer.models.prediction_files import files_named

    others = [flags[name] for name in ("labels", "ids", "classes", "categories", "sizes")]
    named = files_named(files, endings=(".npy", ".npz", ".csv"), besides=others)
    if flags["labels"]:
        from oodometer.cli.import_predictions import import_files

        import_files(named, flags)
        return
    if not all(file.lower().endswith(".csv") for file in named):
        raise click.UsageError("predictions need --labels FILE, the true class of each image")
    for file in named:
        _import_table(file, flags)


def _import_table(file: str, flags: dict[str, Any]) -> None:
    from oodometer.engine.imports import PUBLISHED, import_table
    from oodometer.store.tables import read_sizes

    given, own = flags["sizes"], flags["sizes"] not in (None, PUBLISHED)
    sizes: Any = read_sizes(given) if own else given
    rows = import_table(file, store=flags["store"], n=flags["n"], sizes=sizes)
    models, conditions = {row.model for row in rows}, {row.condition for row in rows}
    say(f"{len(rows)} accuracies of {len(models)} models on {len(conditions)} conditions, kept in {flags['store']}")
    unknown = sum(row.n is None for row in rows)
    if unknown:
        say(f"warning: {unknown} of them without n, so without interval; give --n, --sizes CSV, or --sizes published")
