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


def run(
    store: str,
    shifted: str,
    labels: str,
    *,
    clean: str = "",
    as_json: bool = False,
    level: float = 0.95,
    proxies: tuple[str, ...] = (),
    against: str | None = None,
    line: str | None = None,
    baseline: str | None = None,
    categories: str | None = None,
) -> None:
    """Estimate from labels, and print."""
    if not shifted:
        raise UsageError("--labels: say of which set the images are, with --shifted NAME")
    from oodometer.few_labels.estimate import estimate_from_labels
    from oodometer.few_labels.options import options_from

    found = estimate_from_labels(
        store,
        shifted,
        labels,
        clean=clean or None,
        origins=origins_in(categories),
        options=options_from(proxies, against, line, baseline, level=level),
    )
    for note in found.notes:
        say(note)
    print_json(found.as_json()) if as_json else click.echo(str(found))
