"""``oodometer ls``: what is in a store, and what names there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, looked_at, print_json
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.shifts.availability import Overview

WORDS = ("models", "data", "conditions")
SHIFTS = "shifts"
WIDTH = 120
STATES = {True: "yes", False: "no", None: "-"}


@click.command(
    "ls",
    help="Show the cells of a store; or the kinds of models, the kinds of data, the conditions that there are, or the "
    "shifts with what each needs and what of that is there.",
)
@click.argument("what", metavar="STORE|models|data|conditions|shifts")
@click.option(
    "--data-root", metavar="DIR", help="For shifts: the folder that holds the published sets; or set OODOMETER_DATA."
)
@as_json
def command(what: str, data_root: str | None, as_json: bool) -> None:
    """List a store, a registry or the shifts."""
    if what == SHIFTS:
        _show_shifts(data_root, as_json=as_json)
        return
    if data_root is not None:
        raise UsageError("--data-root goes with 'oodometer ls shifts'")
    if what in WORDS:
        names = _names(what)
        print_json(names) if as_json else click.echo("\n".join(names))
        return
    cells = _cells(what)
    if as_json:
        print_json(cells)
        return
    from oodometer.analysis.text import columns

    header = ["model", "weights", "condition", "data", "rows", "images", "state", "logits"]
    click.echo(columns([header, *([str(cell[name]) for name in header] for cell in cells)]))


def _show_shifts(data_root: str | None, *, as_json: bool) -> None:
    from oodometer.data.root import root_at
    from oodometer.shifts.availability import overview

    found = overview(root_at(data_root))
    print_json(found.as_json()) if as_json else click.echo("\n\n".join(_sections(found)))


def _sections(found: Overview) -> list[str]:
    """The overview as text: the root, the shifts by kind, the groups, the sets."""
    from oodometer.analysis.text import columns

    known = found.root is not None
    n_there = sum(one.place is not None for one in found.sets)
    root = (
        f"data root: {found.root}, which has {n_there} of {len(found.sets)} published sets"
        if known
        else "no data root: name the folder of your data sets with --data-root DIR or OODOMETER_DATA"
    )
    shifts = [["shift", "kind", *(["run"] if known else []), "needs"]]
    shifts += [[one.name, one.kind, *([STATES[one.there]] if known else []), one.needs] for one in found.shifts]
    groups = [["group", "members", *(["there"] if known else [])]]
    groups += [[one.name, str(len(one.members)), *([str(len(one.there))] if known else [])] for one in found.groups]
    return [
        f"{root}\nclean images: those of --data, or imagenet of the root",
        columns(shifts),
        columns(groups),
        *_sets(found),
    ]


def _sets(found: Overview) -> list[str]:
    """Where the sets lie, which are packed, and where to get the others, by their pages."""
    from oodometer.analysis.text import columns

    sections = []
    there = [[one.name, _below(one.place, found.root)] for one in found.sets if one.place is not None]
    if there:
        sections.append(columns([["set", "place"], *there]))
    packed = [f"{one.name}: {one.not_unpacked}" for one in found.sets if one.not_unpacked]
    if packed:
        sections.append("\n".join(["not unpacked", *(f"  {line}" for line in packed)]))
    pages: dict[str, list[str]] = {}
    for one in found.sets:
        if one.place is None and not one.not_unpacked:
            pages.setdefault(one.page, []).append(one.name)
    if pages:
        lines = [line for page, names in pages.items() for line in (f"  {page}", *_wrapped(names))]
        sections.append("\n".join(["missing sets, and where to get them" if found.root else "the sets' pages", *lines]))
    return sections


def _wrapped(names: list[str]) -> list[str]:
    import textwrap

    indent = "    "
    return textwrap.wrap(
        ", ".join(names), WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _below(place: str, root: str | None) -> str:
    return place.removeprefix(root or "").lstrip("/\\")


def _names(what: str) -> list[str]:
    if what == "models":
        from oodometer.models.load import model_kinds
        from oodometer.models.zoo import zoo_names

        kinds = [kind for kind in model_kinds.names() if kind != "zoo"]
        return [*(f"{kind}:" for kind in kinds), *(f"zoo:{name}" for name in zoo_names())]
    if what == "data":
        from oodometer.data.load import data_kinds

        return data_kinds.names()
    from oodometer.catalogue.names import shift_names

    return sorted(shift_names())


def _cells(address: str) -> list[dict[str, Any]]:
    from dataclasses import asdict

    return [
        {
            "model": entry.cell.model_name,
            "weights": entry.cell.model.digest[:8],
            "condition": entry.cell.condition_name,
            "data": entry.cell.data.title,
            "rows": entry.n_rows,
            "images": entry.cell.n_rows,
            "state": "complete" if entry.complete else "unfinished",
            "logits": "kept" if entry.has_logits else "-",
            "key": entry.cell.key,
            "input": None if entry.cell.model.input is None else asdict(entry.cell.model.input),
            "card": asdict(entry.cell.model.card),
            "versions": dict(entry.cell.versions),
        }
        for entry in looked_at(address).entries
    ]
