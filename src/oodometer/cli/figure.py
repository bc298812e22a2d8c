"""``oodometer figure``: one figure for a paper, drawn from a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, print_json, say
from oodometer.cli.robustness import knee_of, of_the_line, options_of, origins_of
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.analysis.accuracy_pairs import Origin
    from oodometer.figures import Kind
    from oodometer.store.index import Index
    from oodometer.study import Study

MOST_NAMES = 12


@click.command(
    "figure",
    help="Draw one figure for a paper from a STORE: PDF or SVG with fonts that travel along, or PNG. --list says which "
    "KINDs there are, after which papers' figures, and with a STORE which of them it has the data for.",
)
@click.argument("store", required=False)
@click.argument("kind", required=False)
@click.option(
    "--shift",
    "shifts",
    multiple=True,
    metavar="NAME",
    help="A condition, data set, family or pattern, or SHIFT~CLEAN; several make panels.",
)
@click.option("-o", "--output", metavar="FILE", help="Where to; it ends in .pdf, .svg or .png.  [default: KIND.pdf]")
@click.option("--columns", type=click.IntRange(1, 2), default=1, show_default=True, help="Of the paper: 3.25, 6.75 in.")
@click.option("--models", multiple=True, metavar="PATTERN", help="Show these models only, as '*resnet*'.")
@click.option("--label", multiple=True, metavar="PATTERN", help="Name these models.  [default: all, where few]")
@click.option(
    "--above", type=click.FloatRange(0, 1), default=0.0, metavar="SHARE", help="Show models of this clean accuracy on."
)
@click.option("--normaliser", metavar="MODEL", help="Divide corruption errors by this model's, not by AlexNet's.")
@click.option("--ood", metavar="CONDITION", help="What belongs to none of the classes, for kinds about its detection.")
@click.option(
    "--published", metavar="TABLE", help="Instead of a STORE: a printed table of a paper, as recht2019_imagenet."
)
@click.option("--categories", metavar="CSV", help="model,category and maybe parent, where cards do not say.")
@of_the_line
@click.option("--knee", metavar="MODEL", help="Two lines, bent at this model or clean accuracy, as for ImageNet-A.")
@click.option("--draws", type=int, default=1000, show_default=True, help="Of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@click.option("--list", "list_kinds", is_flag=True, help="Say which kinds there are, and which the STORE allows.")
@as_json
def command(
    store: str | None, kind: str | None, list_kinds: bool, as_json: bool, output: str | None, **flags: Any
) -> None:
    """Draw a figure, or list the kinds."""
    if list_kinds:
        _show_kinds(store, flags, as_json=as_json)
        return
    if as_json:
        raise click.UsageError("--json goes with --list; 'oodometer robustness' and 'score' have the numbers")
    if flags["published"] is not None:
        store, kind = None, _only_kind(store, kind)
    elif store is None or kind is None:
        raise click.UsageError("give a STORE and a KIND; 'oodometer figure --list' says which kinds there are")
    from oodometer.figures import FigureOptions, draw, figure_kinds, notes_of, save
    from oodometer.figures.style import check_end

    found = figure_kinds.get(kind)
    target = output or f"{kind}.pdf"
    check_end(target)
    options = FigureOptions(
        **{name: flags[name] for name in ("shifts", "columns", "models", "label", "above", "normaliser", "ood")}
    )
    study = _study(store, kind, found, flags)
    figure = draw(study, kind, options)
    for line in notes_of(figure):
        say(line)
    save(figure, target)
    width, height = figure.get_size_inches()
    click.echo(f"{target}  {width:.2f} x {height:.2f} in")


def _only_kind(first: str | None, second: str | None) -> str:
    """The KIND, where there is no STORE before it."""
    if first is None or second is not None:
        raise click.UsageError("give a STORE or --published TABLE, one of the two, and a KIND")
    return first


def _study(store: str | None, kind: str, wanted: Kind, flags: dict[str, Any]) -> Study:
    """What was measured, with the shifts that are asked for, or the only one that there is."""
    from oodometer.core.errors import StoreError
    from oodometer.study import CLEAN_NAMES, study_of

    opened, origins = _source(store, flags)
    options = options_of(flags, knee=knee_of(flags["knee"]))
    there = study_of(opened, origins=origins, options=options, only=flags["shifts"])
    if lacking := wanted.lacking(there):
        raise StoreError(f"{store or flags['published']}: {kind} needs {lacking}")
    if wanted.needs_shift and not flags["shifts"]:
        names = list(dict.fromkeys(one.family or one.name for one in there.conditions if one.name not in CLEAN_NAMES))
        if len(names) != 1:
            some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
            raise UsageError(f"{kind}: name a shift with --shift; measured were {some}")
        there = study_of(opened, origins=origins, options=options, only=names)
    for line in dict.fromkeys(note for shift in there.shifts for note in shift.notes):
        say(line)
    return there


def _source(store: str | None, flags: dict[str, Any]) -> tuple[str | Index, dict[str, Origin]]:
    """Where the numbers come from, and the models; those of a printed table are standard ones, unless the user says."""
    if store is not None:
        return store, origins_of(flags)
    from oodometer.analysis.accuracy_pairs import Origin
    from oodometer.figures.published import published_store

    printed = published_store(flags["published"])
    return printed, {row.model: Origin("standard") for row in printed.tables} | origins_of(flags)


def _show_kinds(store: str | None, flags: dict[str, Any], *, as_json: bool) -> None:
    """The kinds, and which of them the store allows, where one is given."""
    from oodometer.analysis.text import columns
    from oodometer.figures import figure_kinds
    from oodometer.study import study_of

    study = study_of(store, origins=origins_of(flags), only=()) if store is not None else None
    rows = []
    for name in figure_kinds.names():
        kind = figure_kinds.get(name)
        row = {"kind": name, "about": kind.about, "after": kind.after, "needs": kind.needs}
        if study is not None:
            row |= {"lacking": kind.lacking(study)}
        rows.append(row)
    if as_json:
        print_json(rows)
        return
    if study is None:
        click.echo(columns([["kind", "shows", "after"], *([row["kind"], row["about"], row["after"]] for row in rows)]))
        return
    lines = [[row["kind"], f"needs {row['lacking']}" if row["lacking"] else "yes", row["about"]] for row in rows]
    click.echo(columns([["kind", "from this store", "shows"], *lines]))
