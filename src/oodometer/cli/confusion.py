"""``oodometer confusion``: whose classes lead where, and what a shift does to each class."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, looked_at, print_json, say


@click.command(
    "confusion",
    help="What a MODEL of a STORE takes the images of each class for: the confusion matrix as a list, what is confused "
    "most often first.",
)
@click.argument("store")
@click.argument("model")
@click.option("--on", default="clean", show_default=True, metavar="NAME", help="A condition or a shift.")
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="How many lines, at most.")
@click.option("--changes", is_flag=True, help="The accuracy of each class on both sides of the shift, and its change.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@as_json
def command(store: str, model: str, on: str, top: int, changes: bool, level: float, as_json: bool) -> None:
    """List what a model confuses."""
    from oodometer.analysis.class_changes import class_changes
    from oodometer.analysis.confusion import confusion

    index = looked_at(store)
    found = class_changes(index, model, on, level=level) if changes else confusion(index, model, on, level=level)
    if as_json:
        print_json(found.as_json(top))
        return
    click.echo(found.table(top))
    say(found.convention)
