"""``oodometer robustness``: what every model has beyond its clean accuracy."""

from __future__ import annotations

from pathlib import Path

import click

from oodometer.cli.output import as_json, print_json, say


@click.command(
    "robustness",
    help="The line from clean accuracy to accuracy under a shift, and of every model its effective robustness ρ (what "
    "it has beyond the line) and relative robustness τ (what it has beyond its parent), with intervals. From the "
    "predictions of a STORE, or from a table.",
)
@click.argument("store", required=False)
@click.option("--shift", "--y", "shift", required=True, metavar="NAME", help="A condition, or a family: its mean.")
@click.option("--x", "x", multiple=True, metavar="NAME", help="The clean set; several make a plane. [default: clean]")
@click.option("--table", metavar="CSV", help="Instead of a store: model and a column per set, or long.")
@click.option("--n", type=click.IntRange(min=1), help="Table: the images behind each accuracy, where it does not say.")
@click.option("--sizes", metavar="CSV", help="Table: the same per condition, as condition,n.")
@click.option("--categories", metavar="CSV", help="model,category and maybe parent, where the cards do not say.")
@click.option("--baseline", default="standard", show_default=True, help="Category of the models of the line, or: all.")
@click.option(
    "--baseline-above", type=click.FloatRange(0, 1), default=0.0, help="Least clean accuracy of these models."
)
@click.option("--leave-out", multiple=True, metavar="PATTERN", help="Models that are not in the line, as *aws*.")
@click.option("--scale", type=click.Choice(["logit", "probit", "linear"]), default="logit", show_default=True)
@click.option("--knee", metavar="MODEL", help="Two lines, bent at this model or clean accuracy, as for ImageNet-A.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--draws", type=int, default=1000, show_default=True, help="Of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@as_json
def command(
    store: str | None, shift: str, x: tuple[str, ...], table: str | None, n: int | None, sizes: str | None,
    categories: str | None, baseline: str, baseline_above: float, leave_out: tuple[str, ...], scale: str,
    knee: str | None, level: float, draws: int, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Set every model beside the line."""
    from oodometer.report.points import read_origins
    from oodometer.report.robustness import RobustnessOptions, robustness, robustness_of_table
    from oodometer.stats.bootstrap import Resampling

    if (store is None) == (table is None):
        raise click.UsageError("give a STORE or --table CSV, one of the two")
    options = RobustnessOptions(
        scale=scale,  # type: ignore[arg-type]  # click has checked it
        baseline="" if baseline == "all" else baseline,
        baseline_above=baseline_above,
        leave_out=leave_out,
        knee=_knee(knee),
        resampling=Resampling(draws, level, seed=seed),
    )
    origins = read_origins(categories) if categories else {}
    if store is not None:
        found = robustness(store, shift, x=x or ("clean",), origins=origins, options=options)
    else:
        rows = _read_table(str(table), n, sizes)
        found = robustness_of_table(rows, shift, x=x or ("clean",), origins=origins, options=options)
    for note in found.notes:
        say(note)
    if as_json:
        print_json(found.as_json())
        return
    click.echo(str(found))
    names = sorted({one.rho.interval for one in found.models})
    say(f"* in the line; ρ: {', '.join(names)}; τ: against the parent, on the same images where they are known")


def _knee(text: str | None) -> str | float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _read_table(path: str, n: int | None, sizes: str | None):  # type: ignore[no-untyped-def]
    from oodometer.cli.import_ import read_sizes
    from oodometer.core.errors import DataError
    from oodometer.store.tables import parse_table

    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: no such table") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a text file; expected CSV") from error
    return parse_table(text, source=Path(path).name, n=n, sizes=read_sizes(sizes) if sizes else None)
