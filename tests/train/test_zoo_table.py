"""The table of the zoo: every row is a training that the command accepts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import oodometer
from oodometer.cli.train import command
from oodometer.models.card import read_card
from oodometer.train.augment.registry import parse_augmentations
from oodometer.train.networks.registry import build_network, is_trained, n_parameters

ZOO = Path(oodometer.__file__).parents[2] / "zoo"


def load(name: str):
    """A script of the zoo as a module."""
    spec = importlib.util.spec_from_file_location(f"zoo_{name}", ZOO / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def script():
    yield load("train")
    del sys.modules["zoo_train"]


def test_every_row_is_a_command(script, tmp_path):
    rows = script.read_table(ZOO / "icons.toml")
    by_name = {row["name"]: row for row in rows}
    assert len(by_name) == len(rows)
    data = {"icons": tmp_path / "icons", "outside": tmp_path / "outside"}
    for row in rows:
        words = script.command_of(row, script.Places(data, tmp_path, tmp_path))
        context = command.make_context("train", words[words.index("train") + 1 :])
        assert context.params["net"] == row["net"]
        assert context.params["hold_outs"] == tuple(row["hold_out"])
        assert context.params["half"]
        assert parse_augmentations(context.params["augment"]) == tuple(row["augment"])
        for key, name in (("objective", "objective"), ("adversarial", "adversarial"), ("recipe", "recipe")):
            assert context.params[name] == row.get(key, {"objective": "plain"}.get(key))
        if "init" in row:
            assert by_name[row["init"]]["net"] == row["net"]
        if "parent" in row:
            assert "parent" not in by_name[row["parent"]]
    assert sum(row.get("in_zoo", True) for row in rows) >= 12


def test_options_of_several_words(script, tmp_path):
    row = {"name": "a", "data": "icons", "hold_out": [], "augment": [], "net": "linear"}
    row |= {"warm_up": 2, "weight_decay": 0.1, "objective_weight": 3, "schedule": "steps:4"}
    words = script.command_of(row, script.Places({"icons": tmp_path}, tmp_path, tmp_path))
    said = command.make_context("train", words[words.index("train") + 1 :]).params
    assert (said["warm_up"], said["weight_decay"], said["weight"], said["schedule"]) == (2, 0.1, 3, "steps:4")
    table = tmp_path / "table.toml"
    table.write_text('[defaults]\n[[model]]\nname = "a"\nwarmup = 2\n')
    with pytest.raises(SystemExit, match=r"a has a key 'warmup'; known: .*warm_up"):
        script.read_table(table)


def test_every_row_of_cifar_10_is_a_known_network_and_has_its_parent(script, tmp_path):
    rows = {row["name"]: row for row in script.read_table(ZOO / "cifar10.toml")}
    assert len(rows) >= 6
    for row in rows.values():
        words = script.command_of(row, script.Places({"cifar10": tmp_path}, tmp_path, tmp_path))
        said = command.make_context("train", words[words.index("train") + 1 :]).params
        assert (said["net"], parse_augmentations(said["augment"])) == (row["net"], tuple(row["augment"]))
        assert is_trained(row["net"])
        if "parent" in row:
            assert rows[row["parent"]]["net"] == row["net"], "they differ in what is done to it, not in the network"
    sizes = [n_parameters(build_network(row["net"], n_classes=10, size=(32, 32))) for row in rows.values()]
    assert 2 * sum(sizes) < 0.99 * (25 * 10**6 - script.MOST_BYTES)  # in float16; with the icons at most 25 MB


def test_together_they_stay_small(script):
    rows = [row for row in script.read_table(ZOO / "icons.toml") if row.get("in_zoo", True)]
    sizes = [n_parameters(build_network(row["net"], n_classes=50, size=(32, 32))) for row in rows]
    nearest = 3826 * 48  # icons that are kept, times components
    assert 2 * (sum(sizes) + nearest) < 0.99 * script.MOST_BYTES


@pytest.mark.slow
def test_rows_are_trained_once_and_what_is_missing_is_said(script, tmp_path, photos):
    base = {"data": "icons", "hold_out": [], "augment": [], "batch": 16, "lr": 0.01, "seed": 0, "epochs": 1}
    rows = [
        {**base, "name": "a", "net": "linear"},
        {**base, "name": "b", "net": "linear", "in_zoo": False},
        {**base, "name": "c", "net": "linear", "init": "b"},
        {**base, "name": "d", "net": "linear", "data": "outside"},
        {**base, "name": "e", "net": "linear", "init": "d"},
        {**base, "name": "f", "net": "resnet21"},
    ]
    places = script.Places({"icons": photos}, tmp_path / "checkpoints", tmp_path / "zoo")
    for folder in (places.work, places.out):
        folder.mkdir()
    problems = script.train_all(rows, places, jobs=2)
    assert problems == [
        "d: left out, since --outside is not given",
        f"f: failed; see {places.work / 'f.log'}",
        "e: left out, since d is not trained",
    ]
    assert sorted(one.name for one in places.out.iterdir()) == ["a.onnx", "a.toml", "c.onnx", "c.toml"]
    assert "the depth of a ResNet" in (places.work / "f.log").read_text()
    assert script.train_all(rows[:1], places, jobs=1) == []
    assert (places.work / "a.log").read_text().count("nothing new to do") == 1


def test_a_model_that_is_there_keeps_its_card(script, tmp_path):
    source, target = tmp_path / "checkpoints", tmp_path / "zoo"
    for folder in (source, target):
        folder.mkdir()
    (source / "a.onnx").write_bytes(b"1")
    (source / "a.toml").write_text("name = 'a'")
    script.copy_model(source / "a.onnx", target / "a.onnx")
    (target / "a.toml").write_text("name = 'a'\n[notes]")
    script.copy_model(source / "a.onnx", target / "a.onnx")
    assert (target / "a.toml").read_text() == "name = 'a'\n[notes]"
    (source / "a.onnx").write_bytes(b"2")
    script.copy_model(source / "a.onnx", target / "a.onnx")
    assert ((target / "a.onnx").read_bytes(), (target / "a.toml").read_text()) == (b"2", "name = 'a'")


def test_measured_accuracies_replace_older_ones(tmp_path):
    measure = load("measure")
    del sys.modules["zoo_measure"]
    card = 'name = "a"\n\n[notes]\nseed = 0\n'
    old = measure.with_accuracies(card, {"icons-iid": "0.1", "icons-old": "0.2"})
    new = measure.with_accuracies(old, {"icons-iid": "0.9 [0.8, 1.0] n=10"})
    (tmp_path / "a.toml").write_text(new)
    assert read_card(tmp_path / "a.toml").notes == {"seed": "0", "accuracy_icons_iid": "0.9 [0.8, 1.0] n=10"}


@pytest.mark.parametrize("name", ["icons", "cifar10"])
def test_the_documentation_has_what_the_cards_say(name):
    module = load("table")
    try:
        zoo = module.ZOOS[name]
        page = zoo.page.read_text(encoding="utf-8")
        assert module.with_table(page, module.table(module.read_cards(ZOO / name), zoo)) == page, (
            f"run `python zoo/table.py {name} --write`"
        )
    finally:
        del sys.modules["zoo_table"]
