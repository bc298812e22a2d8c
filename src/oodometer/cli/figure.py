"""``oodometer figure``: one figure for a paper, drawn from a store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.output import as_json, origins_in, print_json, say
from oodometer.cli.robustness import knee_of, of_the_line, options_of

if TYPE_CHECKING:
    from oodometer.figures.options import FigureOptions


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
@click.option("--hypothetical", metavar="X,Y", help="scatter: a model that nobody has, as 0.76,0.72: clean, shifted.")
@click.option(
    "--mark-top", type=click.IntRange(min=0), default=0, metavar="N", help="scatter: frame the N models of highest ρ."
)
@click.option("--join", multiple=True, metavar="PATTERN", help="size: a line through these models, as 'resnet*'.")
@click.option(
    "--measure",
    type=click.Choice(["error", "accuracy"]),
    default="error",
    show_default=True,
    help="size: what is shown of each --shift.",
)
@click.option("--people", metavar="CSV", help="consistency: people's answers, as 'oodometer consistency' reads them.")
@click.option(
    "--published", metavar="TABLE", help="Instead of a STORE: a printed table of a paper, as recht2019_imagenet."
)
@click.option(
    "--categories", metavar="CSV", help="model,category and maybe parent, parameters, where cards do not say."
)
@of_the_line
@click.option("--band-level", type=float, default=0.95, show_default=True, help="Of the band around the line.")
@click.option("--knee", metavar="MODEL", help="Two lines, bent at this model or clean accuracy, as for ImageNet-A.")
@click.option("--draws", type=int, default=1000, show_default=True, help="Of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@click.option("--list", "list_kinds", is_flag=True, help="Say which kinds there are, and which the STORE allows.")
@as_json
def command(
    store: str | None, kind: str | None, list_kinds: bool, as_json: bool, output: str | None, **flags: Any
) -> None:
    """Draw a figure, or list the kinds."""
    from oodometer.figures.figure import PUBLISHED, figure, figure_list

    line = replace(options_of(flags, knee=knee_of(flags["knee"])), band_level=flags["band_level"])
    if list_kinds:
        kinds = figure_list(store, origins=origins_in(flags["categories"]), line=line)
        print_json(kinds.as_json()) if as_json else click.echo(kinds)
        return
    if as_json:
        raise click.UsageError("--json goes with --list; 'oodometer robustness' and 'score' have the numbers")
    if flags["published"] is not None:
        store, kind = f"{PUBLISHED}{flags['published']}", _only_kind(store, kind)
    elif store is None or kind is None:
        raise click.UsageError("give a STORE and a KIND; 'oodometer figure --list' says which kinds there are")
    drawn = figure(
        store, kind, output or "", options=_options(flags), origins=origins_in(flags["categories"]), line=line
    )
    for note in drawn.notes:
        say(note)
    click.echo(drawn)


def _options(flags: dict[str, Any]) -> FigureOptions:
    from oodometer.analysis.people_answers import read_people_answers
    from oodometer.figures.options import FigureOptions

    names = ("shifts", "columns", "models", "label", "above", "normaliser", "ood", "mark_top", "join", "measure")
    people = read_people_answers(flags["people"]) if flags["people"] else {}
    given = {name: flags[name] for name in names}
    return FigureOptions(**given, hypothetical=_place_of(flags["hypothetical"]), people=people)


def _place_of(text: str | None) -> tuple[float, float] | None:
    """``0.76,0.72`` as two shares."""
    if text is None:
        return None
    x, _, y = text.partition(",")
    try:
        return float(x), float(y)
    except ValueError:
        raise click.UsageError(f"--hypothetical {text}: expected two shares, as 0.76,0.72") from None


def _only_kind(first: str | None, second: str | None) -> str:
    """The KIND, where there is no STORE before it."""
    if first is None or second is not None:
        raise click.UsageError("give a STORE or --published TABLE, one of the two, and a KIND")
    return first
