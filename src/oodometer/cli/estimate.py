"""``oodometer estimate``: accuracy on images without labels, or with labels of a few of them."""

from __future__ import annotations

from typing import Any

import click

from oodometer.cli import estimate_few
from oodometer.cli.output import as_json, looked_at, print_json, say, warn


@click.command(
    "estimate",
    help="The accuracy of every model of a STORE on images without labels (or whose labels are not looked at): by how "
    "often models agree there (aline-s, aline-d; three models or more), and by how sure each is (atc-confidence, "
    "atc-entropy, confidence-difference). Each estimate comes with the error that the method has made where labels "
    "exist, and with a warning where it can't be trusted. With --labels of some of the images ('oodometer label' says "
    "which are worth it) the interval holds whatever the help of the models is worth.",
)
@click.argument("store")
@click.option(
    "--shifted",
    default="",
    metavar="NAME",
    help="A condition, or the data.  [default: the only images without labels]",
)
@click.option(
    "--clean", default="", metavar="NAME", help="Labelled images of the same classes.  [default: the clean ones]"
)
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Only this one; may be given several times.")
@estimate_few.add_arguments
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@as_json
def command(store: str, **flags: Any) -> None:
    """Estimate without labels, or with a few."""
    from oodometer.analysis.unlabelled import estimate_without_labels

    estimate_few.check_flags(flags)
    if flags["labels"]:
        estimate_few.run(store, flags)
        return
    wanted = {name: flags[name] for name in ("clean", "methods", "level")}
    found = estimate_without_labels(looked_at(store), flags["shifted"], **wanted)
    if flags["as_json"]:
        print_json(found.as_json())
        return
    for note in found.notes:
        say(note)
    for line in found.left_out:
        say(f"left out: {line}")
    if found.rows:
        click.echo(found.table())
    for line in found.warnings():
        warn(line)
    say(found.convention)
