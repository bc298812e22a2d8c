"""``oodometer import``: accuracies or predictions from elsewhere."""

from __future__ import annotations

import csv
from pathlib import Path

import click

from oodometer.cli.output import say
from oodometer.core.errors import DataError


@click.command(
    "import",
    help="Bring a CSV table of accuracies (model,condition,accuracy,n, or a column per condition) "
    "or a .npy/.npz file of logits or best classes into a store.",
)
@click.argument("file")
@click.option("--store", default="runs", show_default=True, metavar="ADDRESS", help="Where it is kept.")
@click.option("--n", type=click.IntRange(min=1), help="Table: the images behind each accuracy, where it does not say.")
@click.option("--sizes", metavar="CSV", help="Table: the same per condition, as condition,n.")
@click.option("--model", "name", help="Predictions: the model's name.")
@click.option("--condition", default="clean", show_default=True, help="Predictions: what the images were.")
@click.option("--ids", metavar="TXT", help="Predictions: the image ids, one a line.")
@click.option("--labels", metavar="FILE", help="Predictions: the true classes, one a line, or .npy.")
@click.option("--data", default="imported", show_default=True, help="Predictions: the name of the data set.")
@click.option(
    "--values",
    type=click.Choice(["logits", "probabilities", "classes"]),
    help="Predictions: what the numbers are; by default whole numbers are classes, others logits.",
)
@click.option("--keep", type=click.Choice(["summary", "logits"]), default="summary", show_default=True)
def command(
    file: str, store: str, n: int | None, sizes: str | None, name: str | None, condition: str, ids: str | None,
    labels: str | None, data: str, values: str | None, keep: str,
) -> None:  # fmt: skip
    """Import one file."""
    if file.lower().endswith(".csv"):
        from oodometer.engine.imports import import_table

        rows = import_table(file, store=store, n=n, sizes=read_sizes(sizes) if sizes else None)
        models, conditions = {row.model for row in rows}, {row.condition for row in rows}
        say(f"{len(rows)} accuracies of {len(models)} models on {len(conditions)} conditions, kept in {store}")
        unknown = sum(row.n is None for row in rows)
        if unknown:
            say(f"warning: {unknown} of them without n, so without interval; give --n or --sizes")
        return
    from oodometer.engine.imports import import_predictions
    from oodometer.models.card import Declared
    from oodometer.models.predictions import read_predictions

    if labels is None:
        raise click.UsageError("predictions need --labels FILE, the true class of each image")
    answers = read_predictions(file, ids=ids, values=values, declared=Declared(name=name))  # type: ignore[arg-type]
    truth = _read_labels(Path(labels))
    import_predictions(answers, truth, store=store, condition=condition, data=data, keep_logits=keep == "logits")
    say(f"{len(truth)} predictions of {answers.name} on {condition}, kept in {store}")


def read_sizes(path: str) -> dict[str, int]:
    """Condition to its number of images, from a CSV table."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as lines:
            return {row["condition"]: int(row["n"]) for row in csv.DictReader(lines)}
    except FileNotFoundError:
        raise DataError(f"{path}: no such table of sizes") from None
    except (KeyError, ValueError, TypeError) as error:
        raise DataError(f"{path}: expected the columns condition,n with whole numbers") from error


def _read_labels(path: Path):  # type: ignore[no-untyped-def]
    import numpy as np

    from oodometer.models.predictions import read_lines

    try:
        if path.suffix == ".npy":
            labels = np.load(path, allow_pickle=False)
        else:
            labels = np.array([int(line) for line in read_lines(path, "the true classes")])
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{path}: labels must be whole numbers, one a line or an array ({error})") from error
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer) or labels.min() < -1:
        raise DataError(f"{path}: labels must be whole numbers from 0 (-1 for none), one per image")
    return labels
