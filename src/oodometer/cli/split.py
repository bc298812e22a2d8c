"""``oodometer split``: a manifest cut into train, IID test and test sets that differ in one attribute each."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json, say
from oodometer.core.errors import UsageError


@click.command(
    "split",
    help="Cut a MANIFEST into train.csv, iid.csv and one test set for each --shift, which is as the base in all "
    "attributes but one. Where the manifest has a column split (train, val, test), that is kept to.",
)
@click.argument("manifest")
@click.option("--base", required=True, metavar="COLUMN=VALUE,...", help="What all base images have; A|B: either.")
@click.option(
    "--shift", "shifts", required=True, multiple=True, metavar="COLUMN=VALUE", help="What changes; several times."
)
@click.option("--out", required=True, metavar="DIR", help="Where the manifests are written.")
@click.option(
    "--test-share", type=float, default=0.1, show_default=True, help="Of the base, for iid, where no column split says."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of the IID test.")
@click.option("--check", is_flag=True, help="Read every file: the same content in train and in a test is an error.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@as_json
def command(
    manifest: str, base: str, shifts: tuple[str, ...], out: str, test_share: float, seed: int, check: bool,
    force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Split a manifest by attributes."""
    from oodometer.data.load import kind_of, load_data, manifest_at
    from oodometer.shifts.attribute import attribute_shifts, check_contents
    from oodometer.shifts.attribute_files import write_split
    from oodometer.shifts.constraint import parse_base, parse_shift

    wanted = parse_base(base), [parse_shift(one) for one in shifts]
    dataset = load_data(manifest)
    if kind_of(manifest) != "manifest":
        raise UsageError(f"{manifest}: no manifest; give a CSV or Parquet table with a column path")
    split = attribute_shifts(dataset, *wanted, seed=seed, test_share=test_share)
    if check:
        check_contents(split)
    found = write_split(split, manifest_at(manifest), out, force=force)
    for note in split.notes:
        say(note)
    if as_json:
        print_json([vars(one) for one in found])
        return
    from oodometer.analysis.text import columns

    rows = [[one.set, one.file, str(one.images), str(one.classes), str(one.also_in_iid)] for one in found]
    click.echo(columns([["set", "file", "images", "classes", "also in iid"], *rows]))
