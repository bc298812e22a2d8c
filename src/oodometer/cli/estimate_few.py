"""The part of ``oodometer estimate`` that has some labels: options for a command, and what it does with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

from oodometer.cli.output import origins_in, print_json, say
from oodometer.core.errors import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])


def add_arguments(command: Function) -> Function:
    """The options that belong to labels, on a command."""
    options: list[Callable[[Any], Any]] = [
        click.option(
            "--labels",
            metavar="FILE",
            help="Labels of some images: the table of 'oodometer label', an export of Label Studio, the folder of a "
            "test set, or a table with id and label.",
        ),
        click.option(
            "--proxy",
            "proxies",
            multiple=True,
            type=click.Choice(["agreement", "confidence", "atc"]),
            help="With --labels: what else is used.  [default: all that can be had]",
        ),
        click.option("--against", metavar="MODEL", help="With --labels: compare every other model with this one."),
        click.option(
            "--line",
            metavar="SLOPE,INTERCEPT,SCALE",
            help="With --labels: measure ρ from this line, such as 0.944,-0.31,probit.  [default: one through the "
            "standard models of the store]",
        ),
        click.option(
            "--baseline",
            metavar="CATEGORY",
            help="With --labels: models that the line of ρ goes through; all: every model.",
        ),
        click.option("--categories", metavar="CSV", help="With --labels: which model is of which category."),
    ]
    decorated: Function = reduce(lambda made, option: option(made), reversed(options), command)
    return decorated


def check_flags(flags: dict[str, Any]) -> None:
    """An error where options of the one way to estimate are given with the other."""
    if flags["labels"]:
        if flags["methods"]:
            raise UsageError("--method is for images without any labels; with --labels it is --proxy")
        if not flags["shifted"]:
            raise UsageError("--labels: say of which set the images are, with --shifted NAME")
        return
    given = [name for name in ("against", "line", "baseline", "categories") if flags[name]]
    given += ["proxy"] if flags["proxies"] else []
    if given:
        raise UsageError(
            f"--{given[0]} goes with --labels FILE; 'oodometer label' says which images of a set are worth a label"
        )


def run(store: str, flags: dict[str, Any]) -> None:
    """Estimate from labels, and print."""
    from oodometer.few_labels.estimate import estimate_from_labels
    from oodometer.few_labels.options import options_from

    asked = flags["proxies"], flags["against"], flags["line"], flags["baseline"]
    found = estimate_from_labels(
        store,
        flags["shifted"],
        flags["labels"],
        clean=flags["clean"] or None,
        origins=origins_in(flags["categories"]),
        options=options_from(*asked, level=flags["level"]),
    )
    for note in found.notes:
        say(note)
    print_json(found.as_json()) if flags["as_json"] else click.echo(str(found))
