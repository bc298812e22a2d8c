"""The section about provenance: what the store knows, whole; and commands that give the numbers of the page."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.cli.main import main
from oodometer.core.condition import Condition, Shift
from oodometer.core.model import Card, Input
from oodometer.core.predictions import from_logits, from_top_classes
from oodometer.core.preprocessing import Geometry
from oodometer.core.records import (
    AttackRecord,
    ConditionRecord,
    ModelRecord,
    TransformRecord,
    record_of_data,
    record_of_shift,
)
from oodometer.document.section import Words
from oodometer.document.table import Table
from oodometer.report import commands
from oodometer.report.commands import commands_of, spec_of, written
from oodometer.report.html.sections.provenance import section
from oodometer.stats.bootstrap import Resampling
from oodometer.store.cells import Cell
from oodometer.store.index import look
from oodometer.store.tables import parse_table, write_table
from oodometer.study import study_of

INPUT = Input(
    Geometry(224, 224, resize=256, interpolation="bicubic"), mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)
)
FOG = TransformRecord(
    "fog",
    {"severity": 3, "seed": 7, "quality": None},
    Geometry(224, 224, resize=256, interpolation="bilinear"),
)
ATTACK = AttackRecord("pgd-linf-4", {"attack": "pgd", "steps": 100, "step": 0.03, "norm": "linf", "epsilon": 4.0})


def cell_of(data, model: str, condition: str, **more) -> Cell:
    """A cell with all that a run tells of it; ``more``: transform, attack."""
    record = ModelRecord(
        model,
        "onnx",
        (model * 32)[:32],
        INPUT,
        n_classes=10,
        card=Card("standard", interventions=("noise", "crops"), training_data="ours"),
        notes={"input": "default", "seed": "3", "epochs": "90"},
    )
    asked = ConditionRecord(condition, record_of_data(data), **more)
    versions = {"python": "3.11.7", "oodometer": "0.1.0"}
    return Cell(record, asked, data.space.name, 10, len(data), versions=versions)


def put(store, data, cell: Cell, seed: int, *, n: int | None = None) -> None:
    positions = np.arange(n or len(data))
    logits = np.random.default_rng(seed).normal(0, 2, (len(positions), 10)) + 2 * np.eye(10)[data.labels[positions]]
    store.add_cell(cell, data)
    store.write_part(cell.key, 0, len(positions), from_logits(logits, data.labels[positions], positions))
    store.seal(cell, keep_logits=False)


@pytest.fixture
def store(filled, make_dataset):
    """Two models on clean images, in fog, and under attack on some of them; one cell is unfinished."""
    data = make_dataset(40)
    some = make_dataset(20, subset="20, seed 5", ids=[f"{at:04d}" for at in range(20)])
    for seed, model in enumerate(("one", "two")):
        put(filled.store, data, cell_of(data, model, "clean"), seed)
        put(filled.store, data, cell_of(data, model, "mine-c/fog/3", transform=FOG), seed + 2)
        put(filled.store, some, cell_of(some, model, "pgd-linf-4", attack=ATTACK), seed + 4)
    put(filled.store, data, cell_of(data, "two", "v2"), 9, n=15)
    return filled.store


def table_of(found, name: str) -> Table:
    return next(one for one in found.parts if isinstance(one, Table) and one.id == name)


def rows_of(found, name: str) -> list[dict]:
    table = table_of(found, name)
    return [dict(zip([column.title for column in table.columns], row, strict=True)) for row in table.rows]


def test_models_are_told_whole(store):
    found = section(study_of(store))
    (row,) = [row for row in rows_of(found, "models") if row["model"] == "one"]
    assert row == {
        "model": "one",
        "kind": "onnx",
        "category": "standard",
        "parent": "",
        "interventions": "noise, crops",
        "training data": "ours",
        "input": "shorter side to 256, centre crop 224 x 224, bicubic",
        "input from": "nobody declared it",
        "mean": "0.485, 0.456, 0.406",
        "std": "0.229, 0.224, 0.225",
        "precision": "float32",
        "classes": 10,
        "weights": "oneoneon",
        "digest of the weights": ("one" * 32)[:32],
        "notes": "seed 3; epochs 90",
    }
    hidden = {column.title for column in table_of(found, "models").columns if column.hidden}
    assert hidden == {"parent", "mean", "std", "digest of the weights", "notes"}  # no model here has a parent


def test_data_sets_are_told_by_content(store, make_dataset):
    rows = {row["data set"]: row for row in rows_of(section(study_of(store)), "data-sets")}
    digest = make_dataset(40).digest
    assert rows["val"]["digest of the content"] == digest
    assert rows["val"]["content"] == digest[:8]
    assert (rows["val"]["images"], rows["val"]["classes"], rows["val"]["runs"]) == (40, 10, 5)
    assert (rows["val[20, seed 5]"]["images"], rows["val[20, seed 5]"]["runs"]) == (20, 2)


def test_conditions_are_told_with_their_parameters(store):
    rows = {row["condition"]: row for row in rows_of(section(study_of(store)), "conditions")}
    assert (rows["clean"]["what is done"], rows["clean"]["parameters"]) == ("nothing", "")
    fog = rows["mine-c/fog/3"]
    assert fog["what is done"] == "fog"
    assert fog["parameters"] == "severity 3, seed 7, on shorter side to 256, centre crop 224 x 224, bilinear"
    attack = rows["pgd-linf-4"]
    assert attack["parameters"] == "attack pgd, steps 100, step 0.03, norm linf, epsilon 4"
    assert (attack["models"], attack["images"], attack["data set"]) == (2, 20, "val[20, seed 5]")


def test_versions_unfinished_runs_and_draws_are_told(store):
    options = RobustnessOptions(scale="probit", leave_out=("*aws*",), resampling=Resampling(500, 0.9, seed=4))
    found = section(study_of(store, options=options))
    assert rows_of(found, "versions") == [{"python": "3.11.7", "oodometer": "0.1.0", "runs": 7}]
    assert rows_of(found, "unfinished") == [
        {"model": "two", "condition": "v2", "data set": "val", "done": 15, "of": 40}
    ]
    lines = next(one.lines for one in found.parts if isinstance(one, Words) and one.kind == "list")
    assert lines == (
        "Intervals of shares: clopper-pearson, 90 %.",
        "Bootstraps: 500 draws, seed 4, over images; of lines over models too.",
        "Lines: straight on the probit scale, through models of the category 'standard', without *aws*.",
    )


def test_the_lead_counts_what_was_run(store):
    lead = section(study_of(store)).lead
    assert lead[0].startswith("7 runs of 2 models on 2 data sets: 240 predictions, each kept with the digests")


def test_tables_are_told_by_their_names(filled):
    write_table(filled.store, parse_table("model,val,v2\na,76,60\nb,70,\n", source="table of theirs.csv", n=1000))
    found = section(study_of(filled.store))
    assert rows_of(found, "imported") == [
        {"table": "table of theirs.csv", "models": 2, "conditions": 2, "accuracies": 3, "without n": 0}
    ]
    assert "Of 2 models only accuracies from tables are known." in found.lead
    lines = [line for one in commands_of(study_of(filled.store)) for line in one.lines]
    assert ("oodometer", "import", "table of theirs.csv", "--n", "1000", "--store", str(filled.store)) in lines
    assert not [one for one in found.parts if isinstance(one, Table) and one.id in ("models", "versions")]


def test_warnings_of_attacks_are_told(store):
    (attacked,) = [
        cell for cell in look(store).cells if (cell.model_name, cell.condition_name) == ("one", "pgd-linf-4")
    ]
    store.write_warnings(attacked, ["its gradients are zero"])
    notes = [one.lines for one in section(study_of(store)).parts if isinstance(one, Words) and one.kind == "note"]
    assert notes == [("one on pgd-linf-4: its gradients are zero",)]
    (file,) = Path(str(store), "cells", attacked.key).glob("warnings.*.json")
    file.write_bytes(b"{")
    notes = [one.lines for one in section(study_of(store)).parts if isinstance(one, Words) and one.kind == "note"]
    assert notes[0][0].startswith("one on pgd-linf-4: its warnings can't be read: ")


def test_commands_of_runs_name_models_data_and_choices_of_images(store):
    runs = [line for line in commands_of(study_of(store))[0].lines if line[1] == "run"]
    models = ("--model", "onnx:one", "--model", "onnx:two")
    swapped = ("--model", "onnx:two", "--model", "onnx:one")
    end = ("--store", str(store))
    assert sorted(line[6:] for line in runs) == sorted(
        [
            ("--data", "val", "--on", "clean", "--on", "v2", *end),
            ("--data", "val", "--on", "mine-c/fog/3", "--seed", "7", *end),
            ("--data", "val", "--on", "pgd-linf-4", "--images", "20", "--seed", "5", *end),
        ]
    )
    assert {line[2:6] for line in runs} <= {models, swapped}


def read_by_a_shell(line: str) -> list[str]:
    """The words of a command."""
    said = subprocess.run(["sh", "-c", f"printf '%s\\0' {line}"], check=True, capture_output=True).stdout
    return said.decode().split("\0")[:-1]


def invoked(line: str):
    """What a command prints."""
    words = read_by_a_shell(line)
    assert words[0] == "oodometer"
    return CliRunner().invoke(main, [*words[1:], "--json"])


def test_commands_give_the_numbers_of_the_page(store):
    options = RobustnessOptions(scale="probit", baseline="", resampling=Resampling(200, 0.9, seed=4))
    study = study_of(store, options=options)
    found = {one.what: [written(line) for line in one.lines] for one in commands_of(study)}
    score, curves = found["Accuracies, corruption errors, calibration, AURRA:"]
    assert invoked(curves).exit_code == 0
    shown = {
        (row["model"], row["condition"], row["metric"]): row["estimate"] for row in json.loads(invoked(score).stdout)
    }
    for model, estimate in study.conditions[0].accuracies.items():
        assert shown[model, "clean", "top-1"] == asdict(estimate)
    told = {(one.model, one.condition, one.metric): asdict(one.estimate) for one in study.scores}
    assert {metric for _, _, metric in told} == {"ece", "rms-calibration", "aurra"}
    assert told == {place: shown[place] for place in told}
    assert not [what for what in found if "line of each shift" in what]  # two models make no line


def test_a_line_is_given_again_by_its_command(filled, make_dataset):
    data, others = make_dataset(60), make_dataset(60, name="v2", ids=[f"o{at}" for at in range(60)])
    for seed in range(6):
        for at, (some, condition) in enumerate(((data, "clean"), (others, "v2"))):
            put(filled.store, some, cell_of(some, f"net{seed}", condition), 10 * seed + at)
    options = RobustnessOptions(scale="probit", baseline="", resampling=Resampling(200, 0.9, seed=4))
    study = study_of(filled.store, options=options)
    (command,) = commands_of(study)[2].lines
    asked = "--shift v2 --scale probit --baseline all --level 0.9 --draws 200 --seed 4"
    assert command[3:] == tuple(asked.split())
    told = json.loads(invoked(written(command)).stdout)
    expected = {one.model: asdict(one.rho) for one in study.shift("v2").robustness.models}
    assert {one["model"]: one["rho"] for one in told["models"]} == expected


def test_parents_are_compared_and_categories_asked_for(store):
    study = study_of(store, origins={"two": Origin("more data", "one")})
    found = {one.what: one.lines for one in commands_of(study)}
    (line,) = found["Models against their parents:"]
    assert line == ("oodometer", "compare", str(store), "one", "two")
    assert invoked(written(line)).exit_code == 0
    assert found["This report:"] == (("oodometer", "report", str(store), "--categories", "CATEGORIES.csv"),)
    assert "--categories" not in commands_of(study_of(store))[-1].lines[0]


def test_images_of_no_class_are_asked_about(store, make_dataset):
    outside = make_dataset(10, labels=[-1] * 10, name="o", ids=[f"o{at}" for at in range(10)])
    cell = cell_of(outside, "one", "imagenet-o")
    rows = from_logits(np.random.default_rng(0).normal(size=(10, 10)), outside.labels, np.arange(10))
    store.add_cell(cell, outside)
    store.write_part(cell.key, 0, 10, rows)
    store.seal(cell, keep_logits=False)
    lines = commands_of(study_of(store))[1].lines
    assert lines[-1][3:] == ("--metrics", "auroc,aupr,fpr@95%", "--ood", "imagenet-o")
    assert invoked(written(lines[-1])).exit_code == 0


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@settings(max_examples=30)
@given(st.lists(TEXTS | st.sampled_from(["--model", "--a b", "'", "$(id)", "\\"]), min_size=1), st.integers(10, 120))
def test_a_shell_reads_every_command_as_it_was_meant(words, width):
    assert read_by_a_shell(written(words, width)) == words


def test_two_unlike_machines_are_two_rows(store, make_dataset):
    data = make_dataset(40)
    cell = replace(cell_of(data, "three", "clean"), versions={"python": "3.12.1", "oodometer": "0.1.0"})
    put(store, data, cell, 30)
    assert sorted(rows_of(section(study_of(store)), "versions"), key=lambda row: row["python"]) == [
        {"python": "3.11.7", "oodometer": "0.1.0", "runs": 7},
        {"python": "3.12.1", "oodometer": "0.1.0", "runs": 1},
    ]


@pytest.mark.parametrize(
    ("name", "notes", "expected"),
    [
        ("mine", {}, "onnx:mine"),
        ("resnet8", {"zoo": "icons/resnet8"}, "onnx:icons/resnet8"),
        ("mine", {"zoo": "icons/resnet8"}, "mine=onnx:icons/resnet8"),
    ],
)
def test_a_model_of_the_zoo_is_named_by_its_place_there(make_dataset, name, notes, expected):
    cell = cell_of(make_dataset(4), name, "clean")
    assert spec_of(replace(cell, model=replace(cell.model, notes=notes))) == expected


def test_sets_that_were_run_as_pairs_are_asked_for_together(filled, make_dataset):
    data = make_dataset(40)
    for place, name in enumerate(("styles", "versions")):
        other = make_dataset(40, name=name, ids=[f"{name}{at}" for at in range(40)])
        filled.store.add_shift(record_of_shift(Shift(name, "style", Condition("iid", data), Condition(name, other))))
        put(filled.store, other, cell_of(other, "one", name), place)
    put(filled.store, data, cell_of(data, "one", "iid"), 5)
    (line,) = commands_of(study_of(filled.store))[0].lines
    asked = ("--data", "DATA", "--on", "styles", "--on", "versions", "--store", str(filled.store))
    assert line == ("oodometer", "run", "--model", "onnx:one", *asked)


def test_of_many_parents_the_first_are_compared(store, monkeypatch):
    monkeypatch.setattr(commands, "MOST_COMPARISONS", 1)
    study = study_of(store, origins={"two": Origin("more data", "one"), "one": Origin("standard", "two")})
    assert "Models against their parents (the first 1 of 2):" in {one.what for one in commands_of(study)}


def test_versions_that_nobody_knows_are_no_table(filled, make_dataset):
    filled.add(make_dataset(40), [0] * 40)
    assert not [one for one in section(study_of(filled.store)).parts if getattr(one, "id", "") == "versions"]


def test_only_what_is_defined_is_asked_for(filled, make_dataset):
    data = make_dataset(40)
    rows = from_top_classes(np.zeros((40, 1), dtype=int), data.labels, np.arange(40))
    filled.put(data, rows, known_classes=1)
    (line,) = commands_of(study_of(filled.store))[1].lines
    assert line == ("oodometer", "score", str(filled.store), "--metrics", "top-1")
    assert invoked(written(line)).exit_code == 0


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"n": None}, ()),
        ({"n": 1000}, ("--n", "1000")),
        ({"n": None, "sizes": {"val": 50_000, "imagenet-sketch": 50_889}}, ("--sizes", "published")),
        ({"n": None, "sizes": {"val": 10, "imagenet-sketch": 20}}, ("--sizes", "SIZES.csv")),
    ],
)
def test_an_import_is_told_with_the_numbers_of_images(filled, sizes, said):
    write_table(filled.store, parse_table("model,val,imagenet-sketch\na,70,50\nb,60,40\n", source="t.csv", **sizes))
    study = study_of(filled.store)
    (line,) = next(one.lines for one in commands_of(study) if one.what == "What was imported:")
    assert line == ("oodometer", "import", "t.csv", *said, "--store", study.address)
