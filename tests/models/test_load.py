from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from oodometer.core.errors import UsageError
from oodometer.core.model import Card, Input
from oodometer.core.preprocessing import Geometry
from oodometer.models.card import Declared
from oodometer.models.load import expand, load_model, model_kinds, split_spec


def answer(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1)[:, :3].astype(np.float32)


def test_the_kinds():
    assert model_kinds.names() == ["callable", "onnx", "predictions", "timm", "torch", "torchvision", "zoo"]


def test_an_unknown_kind():
    with pytest.raises(UsageError, match="no model kind named 'onx'; did you mean onnx"):
        load_model("onx:mine.onnx")


@pytest.mark.parametrize("spec", ["resnet50", "onnx:", ""])
def test_no_kind(spec):
    with pytest.raises(UsageError, match="expected KIND:NAME, for example timm:resnet50; known kinds: callable, onnx"):
        load_model(spec)


def test_a_windows_path_is_not_a_kind():
    assert split_spec("C:\\nets\\mine.onnx") == ("onnx", "C:\\nets\\mine.onnx")


def test_expand():
    assert expand("zoo:*lite*") == [f"zoo:efficientnet-lite{number}" for number in range(3)]
    assert expand("timm:*") == ["timm:*"]
    with pytest.raises(UsageError, match=r"no model of the zoo matches 'resnet\*'"):
        expand("zoo:resnet*")


def test_arguments_declare():
    model = load_model(answer, name="mine", card=Card("more data", parent="p"), input=None)
    assert (model.name, model.card, model.notes["input"]) == ("mine", Card("more data", parent="p"), "default")
    model = load_model(answer, card=Declared(name="x", size=(8, 8)), name="y")
    assert (model.name, model.input.view) == ("y", Geometry(8, 8))


def test_a_whole_input_replaces_all():
    view = Geometry(8, 8, 12, "bicubic")
    model = load_model(answer, input=Input(view, (0.0, 0.0, 0.0), (1 / 255, 1 / 255, 1 / 255)))
    assert model.input.view == view
    assert model.notes["input"] == "declared"


def test_a_card_by_path(tmp_path):
    path = tmp_path / "any.toml"
    path.write_text('name = "carded"\ncategory = "more data"\nversion = "3"\n')
    model = load_model(answer, card=path)
    assert (model.name, model.card.category) == ("carded", "more data")


def test_function_words_are_for_functions(tmp_path):
    with pytest.raises(UsageError, match="version and thread_safe are for Python functions"):
        load_model("onnx:mine.onnx", card=Declared(version="1"))


def test_loading_imports_no_framework():
    code = "import oodometer.models.load, sys; print({'torch', 'onnx', 'onnxruntime', 'timm'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
