"""How many numbers a network has learned: the same as torch counts, and typed on the card."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, load, numpy_helper

from oodometer.core.errors import DataError, UsageError
from oodometer.core.model import Card
from oodometer.models.card import read_card
from oodometer.models.load import load_model
from oodometer.models.parameter_count import onnx_parameters, torch_parameters
from oodometer.models.prediction_files import read_categories
from oodometer.models.shipped_zoo import folder_of, shipped_names
from oodometer.models.torch_weights import read_tensors
from oodometer.models.zoo import ZOO, weights_of


def a_network(*, quantised: bool = False):
    """A convolution of 8 x 3 x 3 x 3, a normalisation of 8 channels, a matrix of 8 x 5."""
    conv = np.ones((8, 3, 3, 3), dtype=np.int8 if quantised else np.float32)
    norm = {name: np.ones(8, dtype=np.float32) for name in ("scale", "shift", "mean", "var")}
    arrays = {"conv": conv, **norm, "matrix": np.ones((8, 5), np.float32), "shape": np.array([0, -1], np.int64)}
    arrays["limit"] = np.array(6.0, np.float32)  # a constant, not learned
    nodes = [
        helper.make_node("Conv", ["x", "conv"], ["a"]),
        helper.make_node("BatchNormalization", ["a", "scale", "shift", "mean", "var"], ["b"]),
        helper.make_node("GlobalAveragePool", ["b"], ["c"]),
        helper.make_node("Reshape", ["c", "shape"], ["d"]),
        helper.make_node("MatMul", ["d", "matrix"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 5])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


LEARNED = 8 * 27 + 2 * 8 + 8 * 5
"""Convolution, scale and shift, matrix: means, variances, shapes and limits are not learned."""


@pytest.mark.parametrize("quantised", [False, True])
def test_statistics_shapes_and_constants_do_not_count(quantised):
    assert onnx_parameters(a_network(quantised=quantised)) == LEARNED


def test_a_file_is_counted_where_its_card_is_silent(tmp_path: Path):
    path = tmp_path / "net.onnx"
    path.write_bytes(a_network().SerializeToString())
    assert load_model(str(path)).card.parameters == LEARNED
    path.with_suffix(".toml").write_text("parameters = 1000\n")
    assert load_model(str(path)).card.parameters == 1000


def test_a_torch_module_is_counted():
    torch = pytest.importorskip("torch")
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, bias=False), torch.nn.BatchNorm2d(8), torch.nn.Linear(8, 5, False)
    )
    assert torch_parameters(layers) == LEARNED
    assert torch_parameters(lambda images: images) is None


@pytest.mark.parametrize("name", ZOO)
def test_the_zoo_has_as_many_as_its_weights(name):
    """Reference: the checkpoints themselves, without the statistics of the normalisations."""
    tensors = read_tensors(weights_of(ZOO[name]))
    learned = {key: one for key, one in tensors.items() if "running_" not in key and "num_batches" not in key}
    assert ZOO[name].parameters == sum(one.size for one in learned.values())
    assert load_model(f"zoo:{name}").card.parameters == ZOO[name].parameters


def test_the_icons_have_what_their_cards_note():
    names = shipped_names("icons")
    assert names
    for name in names:
        card = folder_of("icons") / f"{name.removeprefix('icons/')}.toml"
        assert load_model(f"zoo:{name}").card.parameters == tomllib.loads(card.read_text())["notes"]["parameters"]


def test_a_count_is_near_the_note_of_the_same_network():
    """Exporters fold normalisations into convolutions, so that a file has a little less than was learned."""
    model = folder_of("icons") / "resnet20.onnx"
    noted = read_card(model.with_suffix(".toml")).parameters
    assert onnx_parameters(load(model)) == pytest.approx(noted, rel=0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('parameters = "25M"', "parameters must be a whole number, not a text"),
        ("parameters = 25.5", "parameters must be a whole number, not a number"),
        ("parameters = 0", "parameters 0: a model has at least one"),
    ],
)
def test_what_is_no_number_of_parameters(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_card(path)


def test_in_a_table_of_categories(tmp_path):
    path = tmp_path / "cats.csv"
    path.write_text("model,category,parent,parameters\na,standard,,25557032\nb,more data,a,\n")
    said = read_categories(str(path))
    assert (said["a"].parameters, said["b"].parameters) == (25_557_032, None)
    assert said["a"].card() == Card("standard", parameters=25_557_032)
    path.write_text("model,category,parameters\na,standard,25.5M\n")
    with pytest.raises(DataError, match=r"cats.csv: line 2: parameters '25.5M' is not a whole number of at least 1"):
        read_categories(str(path))
