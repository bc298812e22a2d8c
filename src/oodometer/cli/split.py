"""``oodometer split``: a manifest cut into train, IID test and test sets that differ in one attribute each."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json, say


@click.command(
    "split",
    help="Cut a MANIFEST into train.csv, iid.csv and one test set for each --shift, which is as the base in all "
    "attributes but one. Where the manifest has a column split (train, val, test), that is kept to. The folder of "
    "DeepFashion2 serves as well.",
)
@click.argument("manifest")
@click.option("--base", required=True, metavar="COLUMN=VALUE,...", help="What all base images have; A|B: either.")
@click.option(
    "--shift", "shifts", required=True, multiple=True, metavar="COLUMN=VALUE", help="What changes; several times."
)
@click.option("--out", required=True, metavar="DIR", help="Where the manifests are written.")
@click.option(
    "--test-share",
    type=float,
    metavar="SHARE",
    help="Of the base, for iid, where no column split says; 1: all, with none left to train on.  [default: 0.1, and at "
    "least 100 images or half of the base]",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of the IID test.")
@click.option("--check", is_flag=True, help="Read every file: the same content in train and in a test is an error.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@as_json
def command(
    manifest: str, base: str, shifts: tuple[str, ...], out: str, test_share: float | None, seed: int, check: bool,
    force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Split a manifest by attributes."""
    from oodometer.shifts.split import SplitOptions, split

    options = SplitOptions(test_share, seed, check=check, force=force)
    files = split(manifest, base=base, shifts=shifts, out=out, options=options)
    for note in files.notes:
        say(note)
    print_json(files.as_json()) if as_json else click.echo(files)
