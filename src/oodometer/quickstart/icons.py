"""The quickstart on icons that are built here, with networks that come along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from oodometer.build.icons.build import Built, IconOptions, build_icons
from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import DataError, UsageError
from oodometer.core.model import Model
from oodometer.core.talk import Tell
from oodometer.corruptions.jit import tell_if_compiling
from oodometer.data.load import load_data
from oodometer.data.subset import stratified
from oodometer.document.table import Table
from oodometer.engine.run import conditions_of, run
from oodometer.models.load import expand, load_model
from oodometer.quickstart.about_icons import about_icons
from oodometer.quickstart.audience import NOBODY, Audience
from oodometer.quickstart.icon_board import IconSet, icon_board
from oodometer.report.html.page import report_html, write_report
from oodometer.shifts.adversarial import attack_shift
from oodometer.shifts.resolve import asked_for
from oodometer.shifts.sources import Sources
from oodometer.store.index import index_at
from oodometer.study import study_of
from oodometer.study.pictures import study_with_pictures

IMAGES = 100
"""Of the clean icons, so many are corrupted: all 441 would take more than five minutes on two cores."""

ATTACKED = 50
"""Of the clean icons, so many are attacked: an attack is some fifty times the work."""

ATTACK = "pgd-linf-4"
CORRUPTIONS = "cifar-10-c"
NAMES = (
    *("linear", "nearest", "random-features"),
    *("resnet8-narrow", "resnet8", "resnet14", "resnet20-short", "resnet20-narrow", "resnet20"),
    *("resnet14-more-data", "resnet20-more-data"),
    *("resnet20-augmix", "resnet20-deepaugment", "resnet20-fast"),
)
ZOO = tuple(f"zoo:icons/{name}" for name in NAMES)
"""Of the zoo, those that are quickly asked: enough for a line, and of each kind of intervention one."""

REPORT = "report.html"
TITLE = "How far can these networks be trusted?"


@dataclass(frozen=True)
class Quickstart:
    """What a quickstart made: prints as the leaderboard.

    Args:
        store: Where every prediction is.
        report: The page.
    """

    leaderboard: Table
    store: str
    report: str

    def __str__(self) -> str:
        return str(self.leaderboard)

    def as_json(self) -> dict[str, Any]:
        """The leaderboard as plain values."""
        return self.leaderboard.as_json()


def quickstart(
    out: str = "quickstart",
    *,
    images: int | None = IMAGES,
    models: Sequence[str] = (),
    offline: bool = False,
    audience: Audience = NOBODY,
) -> Quickstart:
    """Build the icons, measure the networks that come along on every kind of shift, and write a report.

    What is there already is not done again.

    Args:
        out: The folder where everything is put.
        images: So many of the clean icons are corrupted; None: all.
        models: Yours, as of `load_model`, which are measured too.
        offline: Use the packages of icons in the cache alone.
        audience: Told how it goes.
    """
    measured = loaded([*ZOO, *models])
    try:
        built = _build(f"{out}/icons", audience, offline=offline)
    except DataError as error:
        raise DataError(f"{error}; 'oodometer quickstart --photographs' needs no icons") from error
    asked = what_to_run(f"{out}/icons", images, audience.tell)
    board = _measure(measured, asked, f"{out}/runs", audience)
    audience.measured(board)
    place = _make_report(Path(out), built, audience.tell)
    return Quickstart(board, f"{out}/runs", str(place))


def loaded(specs: Sequence[str]) -> list[Model]:
    """The models of these names; each has to be asked, not read from stored answers."""
    every = [load_model(spec) for pattern in specs for spec in expand(pattern)]
    models = [model for model in every if isinstance(model, Model)]
    names = [model.name for model in models]
    if len(models) < len(every):
        raise UsageError("--model predictions:...: the quickstart asks models; stored answers it can't ask")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two models named {twice!r}; give yours another name in its card")
    return models


def _build(folder: str, audience: Audience, *, offline: bool) -> Built:
    """The icons, built or found."""
    audience.tell(f"$ oodometer build icons --out {folder}{' --offline' if offline else ''}")
    with audience.watch("icons drawn") as watcher:
        options = IconOptions(offline=offline)
        built = build_icons(folder, options, fetching=audience.fetching, drawing=watcher.running)
    n = len(built.rows)
    new, old = f"{n} icons in {folder}", f"nothing new to do: the {n} icons in {folder} are as built"
    audience.tell(new if built.is_new else old)
    return built


def what_to_run(icons: str, images: int | None, tell: Tell) -> list[Condition | Shift]:
    """The three shifts of icons, and the clean icons of these corrupted and attacked.

    Args:
        icons: The folder of the icons.
        images: How many of the clean icons are corrupted; None: all.
        tell: Told what is left out.
    """
    shifts = _shifts("icons", Sources(load_data(icons)))
    clean = shifts[0].standard
    fewer = clean.dataset if images is None else stratified(clean.dataset, images)
    corrupted = [replace(shift, standard=clean) for shift in _shifts(CORRUPTIONS, Sources(fewer))]
    if find_spec("torch") is None:
        tell(f"left out: {ATTACK}, an attack needs gradients; pip install 'oodometer[torch]' brings them")
        return [*shifts, *corrupted]
    attacked = attack_shift(ATTACK, Sources(stratified(clean.dataset, ATTACKED))).shifted
    return [*shifts, *corrupted, Shift(attacked.name, "adversarial", clean, attacked)]


def _shifts(name: str, sources: Sources) -> list[Shift]:
    return [shift for shift in asked_for([name], sources).found if isinstance(shift, Shift)]


def _measure(models: Sequence[Model], asked: Sequence[Condition | Shift], address: str, audience: Audience) -> Table:
    """Run what is missing, and make the leaderboard of it."""
    n_conditions = len(conditions_of(asked))
    audience.tell(f"asking {len(models)} models about {n_conditions} conditions; the answers are kept in {address}")
    tell_if_compiling(audience.tell)
    with audience.watch("predictions") as watcher:
        done = run(models, asked, store=address, watcher=watcher)
    # What else is in the store, of other calls, does not count.
    study = study_of(index_at(done).only(done.cells))
    board = icon_board(study, icon_sets(), robust_in="icons-style")
    # An attack that found nothing because gradients vanish is told wherever its number is.
    return replace(board, notes=(*board.notes, *done.warnings))


def icon_sets() -> list[IconSet]:
    """What the networks are asked about, the columns of the leaderboard."""
    return [
        IconSet("IID", "icons-iid", "icons like those of the training: the same vendors, the same objects"),
        IconSet("version", "icons-versions", "another drawing, old or new, of icons that were trained on"),
        IconSet("style", "icons-style", "a vendor that was never seen: Microsoft's three drawings"),
        IconSet("subtype", "icons-subtypes", "50 objects that were never seen, of classes that were"),
        IconSet("corrupted", CORRUPTIONS, "15 corruptions at 5 severities of 32 px, the mean over all 75"),
        IconSet("PGD", ATTACK, "the worst change of every pixel by at most 4 of 255 levels that gradients find"),
    ]


def _make_report(out: Path, built: Built, tell: Tell) -> Path:
    """Write the report of all that is in the store, unless it is there as it would be."""
    tell("making the report")
    study = study_with_pictures(f"{out}/runs", [f"{out}/icons"])
    text = report_html(study, title=TITLE, more=[about_icons(str(out), built, icon_sets())])
    place = out / REPORT
    if place.is_file() and place.read_bytes() == text.encode():
        tell(f"{place} is as it was")
    else:
        write_report(text, place)
        tell(f"{place} shows it with pictures; every prediction is in {out}/runs")
    return place
