"""``oodometer ls``: what is in a store, and what names there are."""

from __future__ import annotations

from typing import Any

import click

from oodometer.cli.output import as_json, print_json

WORDS = ("models", "data", "conditions")


@click.command(
    "ls", help="Show the cells of a store; or the kinds of models, the kinds of data, or the conditions that there are."
)
@click.argument("what", metavar="STORE|models|data|conditions")
@as_json
def command(what: str, as_json: bool) -> None:
    """List a store or a registry."""
    if what in WORDS:
        names = _names(what)
        print_json(names) if as_json else click.echo("\n".join(names))
        return
    cells = _cells(what)
    if as_json:
        print_json(cells)
        return
    from oodometer.report.text import columns

    header = ["model", "weights", "condition", "data", "rows", "images", "state", "logits"]
    click.echo(columns([header, *([str(cell[name]) for name in header] for cell in cells)]))


def _names(what: str) -> list[str]:
    if what == "models":
        from oodometer.models.load import model_kinds
        from oodometer.models.zoo import zoo_names

        kinds = [kind for kind in model_kinds.names() if kind != "zoo"]
        return [*(f"{kind}:" for kind in kinds), *(f"zoo:{name}" for name in zoo_names())]
    if what == "data":
        from oodometer.data.load import data_kinds

        return data_kinds.names()
    from oodometer.shifts.suites import suites

    return suites.names()


def _cells(address: str) -> list[dict[str, Any]]:
    from oodometer.store.queries import counts
    from oodometer.store.store import open_store

    store = open_store(address)
    rows = {found.cell.key: found.n_rows for found in counts(store)}
    return [
        {
            "model": cell.model_name,
            "weights": str(cell.model["digest"])[:8],
            "condition": cell.condition_name,
            "data": cell.data,
            "rows": rows.get(cell.key, 0),
            "images": cell.n_rows,
            "state": "complete" if store.is_sealed(cell) else "unfinished",
            "logits": "kept" if store.has_logits(cell) else "-",
            "key": cell.key,
            "input": cell.model["input"],
            "card": cell.model["card"],
            "versions": cell.versions,
        }
        for cell in store.cells()
    ]
