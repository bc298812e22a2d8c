"""``oodometer quickstart``: from nothing to a leaderboard, on icons built here and networks that come along."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import Lines, as_json, print_json, say, say_if_compiling, watching
from oodometer.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oodometer.analysis.leaderboard import Column, Leaderboard
    from oodometer.build.icons.build import Built
    from oodometer.core.condition import Condition, Shift
    from oodometer.core.model import Model
    from oodometer.report.html.parts import Section

IMAGES = 100
"""Of the clean icons, so many are corrupted: all 441 would take more than five minutes on two cores."""

ATTACKED = 50
"""Of the clean icons, so many are attacked: an attack is some fifty times the work."""

ATTACK = "pgd-linf-4"
CORRUPTIONS = "cifar-10-c"
ZOO = "zoo:icons/*"
REPORT = "report.html"


@click.command(
    "quickstart",
    help="Build the icons, measure the networks that come along on every kind of shift, print a leaderboard and write "
    "report.html. What is there already is not done again.",
)
@click.option("--out", default="quickstart", show_default=True, metavar="FOLDER", help="Where everything is put.")
@click.option("--offline", is_flag=True, help="Use the packages of icons in the cache alone.")
@click.option(
    "--images",
    type=click.IntRange(min=1),
    default=IMAGES,
    show_default=True,
    metavar="N",
    help="Corrupt so many of the clean icons.",
)
@click.option("--full-corruptions", is_flag=True, help="Corrupt all of the clean icons.")
@click.option("--model", "models", multiple=True, metavar="KIND:REST", help="One of yours too; several times.")
@click.option("--photographs", is_flag=True, help="Twenty photographs of ImageNet and networks for them instead.")
@click.option("--data", metavar="ADDRESS", help="With --photographs: other data with ImageNet labels.")
@as_json
def command(
    out: str,
    offline: bool,
    images: int,
    full_corruptions: bool,
    models: tuple[str, ...],
    photographs: bool,
    data: str | None,
    as_json: bool,
) -> None:
    """Measure the zoo on icons, or on photographs."""
    if photographs or data:
        if as_json or models or offline or full_corruptions:
            raise UsageError("--photographs goes with --out and --data alone; 'oodometer run' and 'score' do the rest")
        from oodometer.cli.photographs import measure_photographs

        measure_photographs(out, data)
        return
    measured = loaded([ZOO, *models])
    try:
        built = build(f"{out}/icons", offline=offline)
    except DataError as error:
        raise DataError(f"{error}; 'oodometer quickstart --photographs' needs no icons") from error
    asked = what_to_run(f"{out}/icons", None if full_corruptions else images)
    board = measure(measured, asked, f"{out}/runs")
    print_json(board.as_json()) if as_json else click.echo(board)
    make_report(Path(out), built)


def loaded(specs: Sequence[str]) -> list[Model]:
    """The models of these names; each has to be asked, not read from stored answers."""
    from oodometer.core.model import Model
    from oodometer.models.load import expand, load_model

    found = [load_model(spec) for pattern in specs for spec in expand(pattern)]
    models = [model for model in found if isinstance(model, Model)]
    names = [model.name for model in models]
    if len(models) < len(found):
        raise UsageError("--model predictions:...: the quickstart asks models; stored answers it can't ask")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two models named {twice!r}; give yours another name in its card")
    return models


def build(folder: str, *, offline: bool) -> Built:
    """The icons, built or found."""
    from oodometer.build.icons.build import Options, build_icons

    say(f"$ oodometer build icons --out {folder}{' --offline' if offline else ''}")
    with watching("icons drawn") as watcher:
        built = build_icons(folder, Options(offline=offline), fetching=Lines("packages"), drawing=watcher.running)
    n = len(built.rows)
    say(f"{n} icons in {folder}" if built.is_new else f"nothing new to do: the {n} icons in {folder} are as built")
    return built


def what_to_run(icons: str, images: int | None) -> list[Condition | Shift]:
    """The three shifts of icons, and the clean icons of these corrupted and attacked.

    Args:
        icons: The folder of the icons.
        images: How many of the clean icons are corrupted; None: all.
    """
    from oodometer.core.condition import Shift
    from oodometer.data.load import load_data
    from oodometer.data.subset import stratified
    from oodometer.shifts.adversarial import attack_shift
    from oodometer.shifts.resolve import asked_for
    from oodometer.shifts.sources import Sources

    shifts = [one for one in asked_for(["icons"], Sources(load_data(icons))).found if isinstance(one, Shift)]
    clean = shifts[0].standard
    fewer = clean.dataset if images is None else stratified(clean.dataset, images)
    corrupted = [
        replace(one, standard=clean) for one in asked_for([CORRUPTIONS], Sources(fewer)).found if isinstance(one, Shift)
    ]
    if find_spec("torch") is None:
        say(f"left out: {ATTACK}, an attack needs gradients; pip install 'oodometer[torch]' brings them")
        return [*shifts, *corrupted]
    attacked = attack_shift(ATTACK, Sources(stratified(clean.dataset, ATTACKED))).shifted
    return [*shifts, *corrupted, Shift(attacked.name, "adversarial", clean, attacked)]


def measure(models: Sequence[Model], asked: Sequence[Condition | Shift], address: str) -> Leaderboard:
    """Run what is missing, and make the leaderboard of it."""
    from oodometer.analysis.leaderboard import leaderboard
    from oodometer.engine.run import conditions_of, run
    from oodometer.store.index import index_at

    conditions = conditions_of(asked)
    say(f"asking {len(models)} models about {len(conditions)} conditions; the answers are kept in {address}")
    say_if_compiling()
    with watching() as watcher:
        done = run(models, asked, store=address, watcher=watcher)
    board = leaderboard(index_at(done), done.cells, columns(), robust_in=2)
    # An attack that found nothing because gradients vanish is told wherever its number is.
    return replace(board, notes=(*board.notes, *done.warnings))


def columns() -> list[Column]:
    """The columns of the leaderboard."""
    from oodometer.analysis.leaderboard import Column

    return [
        Column("IID", "icons-iid", "icons like those of the training: the same vendors, the same objects"),
        Column("version", "icons-versions", "another drawing, old or new, of icons that were trained on"),
        Column("style", "icons-style", "a vendor that was never seen: Microsoft's three drawings"),
        Column("subtype", "icons-subtypes", "50 objects that were never seen, of classes that were"),
        Column("corrupted", CORRUPTIONS, "15 corruptions at 5 severities of 32 px, the mean over all 75"),
        Column("PGD", ATTACK, "the worst change of every pixel by at most 4 of 255 levels that gradients find"),
    ]


def make_report(out: Path, built: Built) -> None:
    """Write the report of all that is in the store, unless it is there as it would be."""
    from oodometer.report.html.page import report_html, write_report
    from oodometer.study import study_of
    from oodometer.study.pictures import album_of

    say("making the report")
    study = study_of(f"{out}/runs")
    shown = replace(study, picture=album_of([f"{out}/icons"], study.index))
    text = report_html(shown, title="How far can these networks be trusted?", more=[about_icons(str(out), built)])
    place = out / REPORT
    if place.is_file() and place.read_bytes() == text.encode():
        say(f"{place} is as it was")
        return
    write_report(text, place)
    say(f"{place} shows it with pictures; every prediction is in {out}/runs")


def about_icons(out: str, built: Built) -> Section:
    """What the icons are, whose, and what to type next."""
    from oodometer import __version__
    from oodometer.report.html.parts import Section, Words

    packages = sorted({row.package for row in built.rows})
    vendors = sorted({row.style for row in built.rows})
    licences = sorted({row.licence for row in built.rows})
    classes = {row.class_name for row in built.rows}
    return Section(
        id="icons",
        title="The icons",
        short="Icons",
        lead=(
            f"{len(built.rows):,} icons of {len(vendors)} vendors ({', '.join(vendors)}) in {len(classes)} classes. "
            "The networks were trained without one vendor, without 50 objects and without single drawings, so that "
            "each can be tested on all of these.",
        ),
        parts=(
            Words(tuple(f"{one.title} ({one.condition}): {one.about}." for one in columns()), "list"),
            Words(
                (
                    f"The art is from {', '.join(packages)}, under {', '.join(licences)}.",
                    f"Whose it is: {out}/icons/CARD.md.",
                    f"Digest of the manifest: {built.digest}. Made with oodometer {__version__}.",
                )
            ),
            Words(tuple(ways_on(out)), "commands"),
        ),
    )


def ways_on(out: str) -> list[str]:
    """What to type next."""
    hold_outs = "--hold-out style=microsoft --hold-out subtypes --hold-out versions"
    return [
        "# both sides of every shift, and the gap between them",
        f"oodometer gaps {out}/runs",
        "# what each network has beyond its clean accuracy",
        f"oodometer robustness {out}/runs --shift icons-style",
        "# a network of your own, in the same table",
        f"oodometer train {out}/icons --net resnet20 {hold_outs} --out mine.onnx",
        f"oodometer quickstart --out {out} --model onnx:mine.onnx",
    ]
