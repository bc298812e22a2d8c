"""``oodometer testset contamination``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, looked_at, print_json, say

if TYPE_CHECKING:
    from oodometer.build.testset.stored_contamination import StoredContamination
    from oodometer.core.dataset import Dataset


@click.command(
    "contamination",
    help="What near-duplicates of training images did to the accuracy of each model: with and without the images of "
    "DATA that have one. DATA is any data set that models were run on, or a project, whose pool they were run on.",
)
@click.argument("data")
@click.option("--store", metavar="ADDRESS", default="runs", show_default=True, help="Where the predictions are.")
@click.option(
    "--duplicates",
    metavar="CSV|PROJECT",
    help="A table of pairs (key, image, first or id; maybe verdict), or a project in which pairs were judged.  "
    "[default: DATA, where it is a project]",
)
@click.option("--against", metavar="ADDRESS", help="Of a project: only pairs with this set.  [default: any but itself]")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@as_json
def command(data: str, store: str, duplicates: str | None, against: str | None, level: float, as_json: bool) -> None:
    """Tell it."""
    from oodometer.build.testset.stored_contamination import CONVENTION, contaminations

    index = looked_at(store)
    having = _duplicates(duplicates or data, against)
    found = contaminations(index, _images(data), having, level=level)
    if found.unknown:
        say(f"{len(found.unknown)} images with a duplicate are not in {data}, such as {found.unknown[0]}")
    for name, why in found.left_out.items():
        say(f"left out: {name}: {why}")
    if as_json:
        print_json(found.as_json())
        return
    click.echo(_table(found))
    say(CONVENTION)


def _images(data: str) -> Dataset | Sequence[str]:
    from oodometer.build.testset.project.place import is_project
    from oodometer.data.load import load_data

    if not is_project(data):
        return load_data(data)
    from oodometer.build.testset.project.pool import CANDIDATE, pool_images
    from oodometer.build.testset.project.project import open_project

    with open_project(data) as opened:
        return [one.key for one in pool_images(opened, role=CANDIDATE)]


def _duplicates(address: str, against: str | None) -> list[str]:
    from oodometer.build.testset.project.place import is_project
    from oodometer.build.testset.stored_contamination import read_duplicates
    from oodometer.core.errors import UsageError

    if is_project(address):
        from oodometer.build.testset.project.judged_duplicates import judged_duplicates
        from oodometer.build.testset.project.project import open_project

        with open_project(address) as opened:
            return judged_duplicates(opened, against)
    if not address.lower().endswith(".csv"):
        raise UsageError("--duplicates: give a table of pairs (CSV), or a project in which pairs were judged")
    return read_duplicates(address)


def _table(found: StoredContamination) -> str:
    from oodometer.document.table import Column, Table

    columns = (
        Column("model"),
        Column("all images", "percent"),
        Column("without", "percent"),
        Column("duplicates", "percent"),
        Column("added", "points"),
    )
    rows = tuple(
        (one.model, each.over_all, each.over_others, each.over_duplicates, each.gained)
        for one in found.models
        for each in [one.found]
    )
    caption = f"{found.n_duplicates} of {found.n_images} images have a near-duplicate"
    return Table("contamination", caption, columns, rows).written("text")
