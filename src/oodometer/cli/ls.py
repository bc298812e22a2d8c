"""``oodometer ls``: what is in a store, and what names there are."""

from __future__ import annotations

import click

from oodometer.cli.output import as_json, print_json, say, warn
from oodometer.core.errors import UsageError

WORDS = ("models", "data", "conditions", "shifts", "metrics", "numbers")


@click.command(
    "ls",
    help="Show what is in a store; or the kinds of models, the kinds of data, the conditions that there are, the "
    "shifts with what each needs and what of that is there, the metrics with a line about each, or the numbers that "
    "the papers state in their text. A store of such a name in this folder comes first.",
)
@click.argument("what", metavar="STORE|models|data|conditions|shifts|metrics|numbers")
@click.option("--names", is_flag=True, help="The names, though a store here is called models, data... too.")
@click.option(
    "--data-root", metavar="DIR", help="For shifts: the folder that holds the published sets; or set OODOMETER_DATA."
)
@as_json
def command(what: str, names: bool, data_root: str | None, as_json: bool) -> None:
    """List a store, a registry or the shifts."""
    from oodometer.store.listing import is_store

    if data_root is not None and what != "shifts":
        raise UsageError("--data-root goes with 'oodometer ls shifts'")
    if names and what not in WORDS:
        raise UsageError(f"--names goes with {', '.join(WORDS)}")
    if what not in WORDS:
        _show_store(what, as_json=as_json)
    elif not names and is_store(what):
        say(f"{what} is a store in this folder; 'oodometer ls --names {what}' lists the {what} that there are")
        _show_store(what, as_json=as_json)
    elif what == "shifts":
        _show_shifts(data_root, as_json=as_json)
    elif what == "metrics":
        _show_metrics(as_json=as_json)
    elif what == "numbers":
        _show_numbers(as_json=as_json)
    else:
        listed = _names(what)
        print_json(listed) if as_json else click.echo("\n".join(listed))


def _show_store(address: str, *, as_json: bool) -> None:
    from oodometer.store.listing import ls

    listing = ls(address)
    for line in listing.problems:
        warn(line)
    print_json(listing.as_json()) if as_json else click.echo(listing)


def _show_shifts(data_root: str | None, *, as_json: bool) -> None:
    from oodometer.data.root import root_at
    from oodometer.shifts.availability import overview

    shifts = overview(root_at(data_root))
    print_json(shifts.as_json()) if as_json else click.echo(shifts)


def _show_metrics(*, as_json: bool) -> None:
    from oodometer.analysis.metric_list import metric_lines, metric_table

    print_json(metric_lines()) if as_json else click.echo(metric_table())


def _show_numbers(*, as_json: bool) -> None:
    from oodometer.published.in_text.numbers import all_numbers, number_table

    print_json([number.as_json() for number in all_numbers()]) if as_json else click.echo(number_table())


def _names(what: str) -> list[str]:
    if what == "models":
        from oodometer.models.load import model_names

        return model_names()
    if what == "data":
        from oodometer.data.load import data_kinds

        return data_kinds.names()
    from oodometer.catalogue.names import shift_names

    return sorted(shift_names())
