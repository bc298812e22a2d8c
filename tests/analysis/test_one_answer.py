"""One question has one answer: every command gives the same numbers of every model and shift, to the last digit.

The reference is `robustness` of each shift; where no line can be drawn, what it says of both sides.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import pearsonr

from made_tables import column_of, keys_of
from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.correlate import correlate
from oodometer.analysis.differences import drop_under_shift
from oodometer.analysis.gaps import gaps
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.line_rules import DEFAULT_OPTIONS, baseline_models, rules_for
from oodometer.analysis.measured_shifts import measured_shifts
from oodometer.analysis.origins import Origin, read_origins
from oodometer.analysis.rho_over_images import rho_values
from oodometer.analysis.robustness import robustness
from oodometer.analysis.score import score
from oodometer.cli.main import main
from oodometer.core.errors import OodometerError
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.pages.leaderboard import leaderboard
from oodometer.explorer.pages.model import model as model_page
from oodometer.explorer.pages.shift import shift as shift_page
from oodometer.figures.options import FigureOptions
from oodometer.figures.selection import shown_points
from oodometer.report.tables import TableOptions, gaps_table, leaderboard_table
from oodometer.store.index import Index, look
from oodometer.store.store import open_store
from oodometer.store.tables import read_table_file, write_table
from oodometer.study import Study, study_of
from oodometer.study.shift_predictors import SYNTHETIC, predicted
from shared_data import shared
from small_testbed import write_small_testbed
from walked_stores import add_table, run_store

Numbers = dict[tuple[str, str], dict[str, Any]]
"""By shift and model: x, y, drop, ρ and τ as plain values, as far as a command tells them."""

TOLD = ("clean", "accuracy", "drop", "rho", "tau")


@dataclass(frozen=True)
class Walked:
    """A store, and where its models come from; ``categories`` is the same as a file."""

    path: Path
    origins: Mapping[str, Origin] = field(default_factory=dict)
    categories: Path | None = None

    @property
    def index(self) -> Index:
        return look(open_store(str(self.path)))

    def ask(self, *words: str) -> Any:
        """What the command line says about the store as JSON."""
        of_models = ("--categories", str(self.categories)) if self.categories and words[0] != "gaps" else ()
        result = CliRunner().invoke(main, [words[0], str(self.path), *words[1:], *of_models, "--json"])
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)


def plain(value: Any) -> Any:
    """As JSON has it; numbers come through it as they are."""
    return json.loads(json.dumps(value, allow_nan=False, default=asdict))


def told(**numbers: Any) -> dict[str, Any]:
    return {name: plain(value) for name, value in numbers.items()}


# The stores


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walked]:
    """A run on clean images, grey ones, corruptions and an attribute shift; one model did not finish."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OODOMETER_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Walked(run_store(tmp_path_factory.mktemp("run")))


@pytest.fixture(scope="module")
def run_and_table(run: Walked, tmp_path_factory: pytest.TempPathFactory) -> Walked:
    """The same with accuracies that were imported."""
    path = tmp_path_factory.mktemp("both") / "runs"
    shutil.copytree(run.path, path)
    add_table(path)
    categories = path.parent / "categories.csv"
    categories.write_text("model,category,parent\nalexnet,standard,\nvgg11,standard,\nresnet18,standard,vgg11\n")
    return Walked(path, read_origins(str(categories)), categories)


def imported(folder: Path, store: Path, n: int | None = None) -> Walked:
    """A store of a folder in the testbed's layout."""
    categories = folder / "model_categories.csv"
    made = open_store(str(store), create=True)
    write_table(made, read_table_file(str(folder / "robustness_top1s.csv"), n=n))
    return Walked(store, read_origins(str(categories)), categories)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    folder = write_small_testbed(tmp_path_factory.mktemp("small"))
    return imported(folder, folder / "table", n=10_000)


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    return imported(shared("testbed"), tmp_path_factory.mktemp("public") / "table")


STORES = ["run", "run_and_table", "small", pytest.param("public", marks=pytest.mark.slow)]


@pytest.fixture(params=STORES, scope="module")
def walked(request: pytest.FixtureRequest) -> Walked:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Walked)
    return found


@pytest.fixture(scope="module")
def names(walked: Walked) -> list[str]:
    return [shift.name for shift in measured_shifts(walked.index).shifts]


@pytest.fixture(scope="module")
def reference(walked: Walked, names: list[str]) -> Numbers:
    """What `robustness` says of every shift."""
    index = walked.index
    return {key: numbers for name in names for key, numbers in of_robustness(index, name, walked.origins).items()}


def of_robustness(index: Index, name: str, origins: Mapping[str, Origin]) -> Numbers:
    try:
        found = robustness(index, name, origins=origins)
    except OodometerError:  # no line: what there is to say of both sides
        points = pairs_of(index, asked_shift(index, name), origins=origins, how=IntervalOptions())
        return {
            (name, one.model): told(x=one.x[0], y=one.y, drop=drop_under_shift(points, at, 0.95), rho=None, tau=None)
            for at, one in enumerate(points.models)
        }
    return {
        (name, one.model): told(x=one.x[0], y=one.y, drop=one.drop, rho=one.rho, tau=one.tau) for one in found.models
    }


@pytest.fixture(scope="module")
def study(walked: Walked) -> Study:
    return study_of(walked.index, origins=walked.origins)


def assert_same(found: Numbers, reference: Numbers) -> None:
    """The same shifts and models, and of each the same numbers, all that are told."""
    assert found.keys() == reference.keys()
    for key, numbers in found.items():
        assert numbers == {name: reference[key][name] for name in numbers}, key


# The library


def test_the_stores_have_what_they_are_for(reference: Numbers, names: list[str], walked: Walked):
    assert len(names) >= 3
    assert all(any(shift == name for shift, _ in reference) for name in names)
    with_line = {shift for (shift, _), numbers in reference.items() if numbers["rho"] is not None}
    assert len(with_line) >= 3, walked.path


def test_gaps(walked: Walked, reference: Numbers):
    found = gaps(walked.index)
    assert_same(
        {
            (row.shift, row.model): told(x=row.accuracy_standard, y=row.accuracy_shifted, drop=row.gap)
            for row in found.rows
        },
        reference,
    )


def test_the_study(study: Study, reference: Numbers):
    found = {
        (shift.name, one.model): told(x=one.x[0], y=one.y, **_beside(shift.of_model.get(one.model)))
        for shift in study.shifts
        for one in shift.points.models
    }
    assert_same(found, reference)


def _beside(one: Any) -> dict[str, Any]:
    """What is known where there is a line."""
    return {"rho": None, "tau": None} if one is None else {"drop": one.drop, "rho": one.rho, "tau": one.tau}


def test_the_tables_of_papers(study: Study, reference: Numbers, names: list[str]):
    table = leaderboard_table(study, TableOptions(columns=TOLD, most=None))
    columns = {key: column_of(table, key) for key in keys_of(table)}
    gaps_of = gaps_table(study)
    losses = {key: column_of(gaps_of, key) for key in keys_of(gaps_of)}
    for name in names:
        of_shift = {model: numbers for (shift, model), numbers in reference.items() if shift == name}
        for prefix, number in (("", "y"), ("drop:", "drop"), ("rho:", "rho")):
            every = {model: plain(one) for model, one in columns.get(f"{prefix}{name}", {}).items()}
            values = {model: one for model, one in every.items() if model in of_shift}
            assert values == {model: one[number] for model, one in of_shift.items() if one[number] is not None}
            # Who did not finish is no model of the shift, and stands there with the images that it saw.
            others = {model: one for model, one in every.items() if model not in of_shift}
            assert others.items() <= alone_under(study, name).items()
        assert {model: plain(one) for model, one in losses[name].items()} == {
            model: one["drop"] for model, one in of_shift.items()
        }
        told_tau = {model: plain(one) for model, one in columns.get(f"tau:{name}", {}).items()}
        assert told_tau.items() >= {model: one["tau"] for model, one in of_shift.items() if one["tau"]}.items()


def alone_under(study: Study, name: str) -> dict[str, Any]:
    """What `score` says of each model under a shift that is one condition."""
    shifted = study.shift(name).shifted
    return plain(dict(study.condition(shifted[0]).accuracies)) if len(shifted) == 1 else {}


def test_the_clean_column_is_all_that_was_answered(run: Walked):
    """It belongs to no shift: each model on all clean images that it saw, as in `score`."""
    index = run.index
    rows = score(index, metrics=["top-1"]).rows
    by_score = {row.model: plain(row.estimate) for row in rows if row.condition == "clean"}
    study = study_of(index)
    table = leaderboard_table(study, TableOptions(columns=("clean",)))
    assert {model: plain(one) for model, one in column_of(table, "clean").items()} == by_score
    assert {model: plain(one) for model, one in study.condition("clean").accuracies.items()} == by_score
    assert {one["n"] for one in by_score.values()} == {96, 64}  # one model did not finish


def test_the_figure(study: Study, reference: Numbers):
    """What the scatter draws: the points, and the line that each is beside."""
    found = {
        (shift.name, one.model): told(x=one.x[0], y=one.y)
        for shift in study.shifts
        for one in shown_points(shift, FigureOptions(shifts=(shift.name,)))
    }
    assert_same(found, reference)


def test_rho_that_is_correlated(walked: Walked, reference: Numbers, names: list[str]):
    index = walked.index
    for name in names:
        shift = asked_shift(index, name)
        points = pairs_of(index, shift, origins=walked.origins, how=IntervalOptions())
        rules = rules_for(points, shift, DEFAULT_OPTIONS)
        if reference[name, points.models[0].model]["rho"] is None:
            continue
        values = rho_values(points, baseline_models(points, rules.options), rules.options)
        of_model = {one.model: value for one, value in zip(points.models, values.tolist(), strict=True)}
        assert of_model == {model: reference[name, model]["rho"]["value"] for model in of_model}


def synthetic_and_natural(study: Study) -> tuple[list[str], list[str]]:
    lines = [one for one in study.shifts if one.robustness is not None]
    made = [one.name for one in lines if not one.natural and (one.kind in SYNTHETIC or one.family)]
    return made, [one.name for one in lines if one.natural]


def test_correlations(walked: Walked, study: Study, reference: Numbers):
    synthetic, natural = synthetic_and_natural(study)
    found = correlate(walked.index, synthetic, natural, origins=walked.origins)
    assert [plain(one) for one in found.pairs] == walked.ask(
        "correlate", *(f"--synthetic={one}" for one in synthetic), *(f"--natural={one}" for one in natural)
    )["pairs"]
    by_study = {(one.synthetic, one.natural): one for one in predicted(study).whole.pairs}
    assert {(one.synthetic, one.natural): one for one in found.pairs}.items() <= by_study.items()
    category = {one.name: one.origin.category for one in study.models}
    for pair in found.pairs:
        both = [
            (numbers["rho"]["value"], reference[pair.natural, model]["rho"]["value"])
            for (shift, model), numbers in reference.items()
            if shift == pair.synthetic
            and category[model] not in ("", "standard")
            and (pair.natural, model) in reference
        ]
        assert pair.n == len(both)
        if pair.r is not None:  # reference: scipy; the order of a sum is its own
            assert pair.r.value == pytest.approx(pearsonr(*np.array(both).T).statistic, abs=1e-12)


# The pages


def test_the_explorer(walked: Walked, reference: Numbers, names: list[str]):
    explorer = Explorer(open_store(str(walked.path)), origins=walked.origins)
    try:
        explorer.wait_for_study()
        assert {one["name"] for one in leaderboard(explorer)["shifts"]} == set(names)
        found: Numbers = {}
        for name in names:
            for one in shift_page(explorer, name)["models"]:
                known = {key: one[key] for key in ("drop", "rho", "tau") if key != "drop" or one["drop"]}
                found[name, one["name"]] = told(x=one["x"][0], y=one["y"], **known)
            _check_leaderboard(leaderboard(explorer, shift=name), name, reference)
        assert_same(found, reference)
        for model in dict.fromkeys(model for _, model in reference):
            for one in model_page(explorer, model)["shifts"]:
                numbers = told(x=one["x"], y=one["y"], rho=one["rho"], tau=one["tau"])
                assert numbers == {key: reference[one["name"], model][key] for key in numbers}
    finally:
        explorer.close()


def _check_leaderboard(page: dict[str, Any], name: str, reference: Numbers) -> None:
    """The column of the shift, and the ρ and τ under it."""
    y, rho, tau = (
        column_of(page["table"], key) if key in keys_of(page["table"]) else {}
        for key in (name, f"rho:{name}", f"tau:{name}")
    )
    for (shift, model), numbers in reference.items():
        if shift == name:
            # τ is known without a line too
            shown = told(y=y[model], rho=rho.get(model), tau=tau.get(model) if numbers["tau"] else None)
            assert shown == {key: numbers[key] for key in shown}, (name, model)


# The command line


def test_the_command_line(walked: Walked, reference: Numbers, names: list[str]):
    found: Numbers = {}
    for name in names:
        lines = [numbers["rho"] for (shift, _), numbers in reference.items() if shift == name]
        if None in lines:
            continue
        for one in walked.ask("robustness", "--shift", name)["models"]:
            found[name, one["model"]] = {"x": one["x"][0], **{key: one[key] for key in ("y", "drop", "rho", "tau")}}
    assert_same(found, {key: numbers for key, numbers in reference.items() if numbers["rho"] is not None})
    rows = walked.ask("gaps")
    keys = {"x": "accuracy_standard", "y": "accuracy_shifted", "drop": "gap"}
    assert_same(
        {(row["shift"], row["model"]): {name: row[key] for name, key in keys.items()} for row in rows}, reference
    )


def test_the_tables_of_the_command_line(walked: Walked, reference: Numbers):
    board = walked.ask("table", "--columns", ",".join(TOLD), "--format", "csv")
    losses = walked.ask("table", "--what", "gaps", "--format", "csv")
    by_model = {one["model"]: one["values"] for one in board["models"]}
    lost = {one["model"]: one["values"] for one in losses["models"]}
    for (shift, model), numbers in reference.items():
        shown = by_model[model]
        for column, number in ((shift, "y"), (f"drop:{shift}", "drop"), (f"rho:{shift}", "rho")):
            assert _without_best(shown.get(column)) == numbers[number], (column, model)
        if numbers["tau"]:
            assert _without_best(shown[f"tau:{shift}"]) == numbers["tau"]
        assert _without_best(lost[model][shift]) == numbers["drop"]


def _without_best(cell: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if cell is None else {key: value for key, value in cell.items() if key != "best"}


# One number that was once three


@pytest.mark.slow
def test_efficientnet_l2_on_imagenet_a_is_one_number(public: Walked):
    """ImageNet-A bends at ResNet-50, by whose mistakes its images were chosen: without it, ρ is another."""
    model, name = "efficientnet-l2-noisystudent", "imagenet-a"
    found = robustness(public.index, name, origins=public.origins)
    (one,) = (one for one in found.models if one.model == model)
    assert found.fitted.kind == "two lines"
    study = study_of(public.index, origins=public.origins, only=[name])
    asked = public.ask("robustness", "--shift", name)["models"]
    table = public.ask("table", "--shift", name, "--columns", "rho")["models"]
    rho = {
        study.shift(name).of_model[model].rho.value,
        next(row["rho"]["value"] for row in asked if row["model"] == model),
        next(row["values"][f"rho:{name}"]["value"] for row in table if row["model"] == model),
    }
    assert rho == {one.rho.value}
