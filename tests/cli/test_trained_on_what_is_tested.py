"""``oodometer run`` says when a model was trained on the icons that a shift tests."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from as_typed import oodometer

KINDS = {"bird": ["duck", "owl", "eagle"], "hat": ["cap", "crown", "womans_hat"]}
STYLES = ("apple", "google", "htc", "lg", "microsoft")
CARD = """\
classes = ["bird", "hat"]
[input]
size = [8, 8]
mean = [0, 0, 0]
std = [1, 1, 1]
[notes]
"""
TRAINED = 'made_with = "oodometer 1.0, torch 2.0"\n'


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with icons of five vendors in two drawings, as ``oodometer build icons`` lists them."""
    rows = []
    for label, kinds in KINDS.items():
        (tmp_path / "icons" / label).mkdir(parents=True)
        for place, style in enumerate(STYLES):
            for kind in kinds:
                for number, version in enumerate(("new", "old")):
                    path = f"{label}/{style}_{version}_{kind}.png"
                    pixels = np.full((8, 8, 3), (kinds.index(kind), place, number), np.uint8)
                    Image.fromarray(pixels).save(tmp_path / "icons" / path)
                    rows.append([path, label, style, version, kind])
    with (tmp_path / "icons" / "manifest.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["path", "label", "style", "version", "subtype"], *rows])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put_model(folder: Path, notes: str) -> None:
    """A model of two classes, and a card with these notes beside it."""
    weights = numpy_helper.from_array(np.eye(3, 2, dtype=np.float32), "w")
    nodes = [
        helper.make_node("GlobalAveragePool", ["x"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])
    graph = helper.make_graph(nodes, "tiny", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "mine.onnx"))
    (folder / "mine.toml").write_text(CARD + notes)


def warnings(*on: str) -> list[str]:
    asked = [word for name in on for word in ("--on", name)]
    done = oodometer("run", "--model", "onnx:mine.onnx", "--data", "icons", *asked, "--store", "runs")
    assert done.exit_code == 0, done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith("warning")]


def test_one_line_for_all_that_was_trained_on(workplace: Path) -> None:
    put_model(workplace, TRAINED)
    assert warnings("icons") == [
        "warning: mine was trained on what icons-style, icons-subtypes, icons-versions test: "
        "its card holds out nothing, not style=microsoft, subtypes, versions"
    ]


def test_what_is_held_out_is_not_told(workplace: Path) -> None:
    put_model(workplace, 'hold_out = ["style=microsoft", "versions"]\n')
    assert warnings("icons") == [
        "warning: mine was trained on what icons-subtypes tests: its card holds out style=microsoft, versions, "
        "not subtypes"
    ]
    assert warnings("icons-style", "icons-versions") == []


@pytest.mark.parametrize(
    ("hold_out", "on", "is_fair"),
    [
        ('"style=microsoft", "subtypes", "versions"', "icons", True),
        ('"style=google|microsoft"', "icons-style", True),
        ('"style=google|microsoft"', "icons-styles/google", True),
        ('"style=microsoft"', "icons-styles/google", False),
        ('"style=google"', "icons-style", False),
        ('"subtype=duck|womans_hat"', "icons-subtypes", True),
        ('"subtype=duck"', "icons-subtypes", False),
        ('"subtypes"', "clean", True),
    ],
)
def test_whatever_way_it_was_held_out(workplace: Path, hold_out: str, on: str, is_fair: bool) -> None:
    put_model(workplace, f"hold_out = [{hold_out}]\n")
    assert len(warnings(on)) == (not is_fair)


def test_of_a_card_that_does_not_tell_nothing_is_said(workplace: Path) -> None:
    put_model(workplace, 'architecture = "mine"\n')
    assert warnings("icons") == []


def test_the_cards_of_oodometer_train_tell(workplace: Path) -> None:
    pytest.importorskip("torch")
    words = ("train", "icons", "--net", "linear", "--epochs", "1", "--augment", "none", "-o", "mine.onnx")
    assert oodometer(*words).exit_code == 0
    assert warnings("icons-style") == [
        "warning: mine was trained on what icons-style tests: its card holds out nothing, not style=microsoft"
    ]
    assert oodometer(*words, "--hold-out", "style=microsoft,versions", "--force").exit_code == 0
    assert warnings("icons-style", "icons-versions") == []
