"""Models of ONNX files with gradients: every form of input and output, what is refused, and when torch is needed."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from oodometer.core.errors import MissingExtraError, ModelError
from oodometer.core.model import IMAGENET_STD, Compute
from oodometer.models.load import load_model
from oodometer.models.onnx_autograd import operators as table
from oodometer.models.onnx_autograd.convert import distance, is_half, probes
from oodometer.models.session import Network

torch = pytest.importorskip("torch")

HEIGHT, WIDTH, CLASSES = 6, 8, 5
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "uint8": TensorProto.UINT8}


@pytest.fixture
def matrix(rng) -> np.ndarray:
    """A row of weights for each single pixel and channel."""
    return rng.normal(size=(HEIGHT * WIDTH * 3, CLASSES)).astype(np.float32) / 10


@pytest.fixture
def images(rng) -> np.ndarray:
    return rng.integers(0, 256, (5, HEIGHT, WIDTH, 3), dtype=np.uint8)


def linear(
    matrix: np.ndarray, *tail: onnx.NodeProto, element: str = "float32", channels_last: bool = False, batch="n"
) -> onnx.ModelProto:
    """logits = flattened input @ matrix; after it the nodes of the tail, of which the last gives the output."""
    kind = TensorProto.FLOAT16 if element == "float16" else TensorProto.FLOAT
    output = tail[-1].output[0] if tail else "logits"
    graph = helper.make_graph(
        [
            helper.make_node("Flatten", ["x"], ["flat"]),
            helper.make_node("Cast", ["flat"], ["numbers"], to=kind),
            helper.make_node("MatMul", ["numbers", "the.weights"], ["logits"]),
            *tail,
        ],
        "linear",
        [
            helper.make_tensor_value_info(
                "x", TYPES[element], [batch, HEIGHT, WIDTH, 3] if channels_last else [batch, 3, HEIGHT, WIDTH]
            )
        ],
        [helper.make_tensor_value_info(output, kind, [batch, CLASSES])],
        [numpy_helper.from_array(matrix.astype(np.float16 if element == "float16" else np.float32), "the.weights")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def load(folder: Path, proto: onnx.ModelProto):
    onnx.save(proto, folder / "mine.onnx")
    return load_model(str(folder / "mine.onnx"))


def pixels_of(images: np.ndarray):
    return (torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255).requires_grad_(True)


@pytest.mark.parametrize("element", ["float32", "float16", "uint8"])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("batch", ["n", 1, 3, 5])
def test_all_forms_of_input(tmp_path, matrix, images, element, channels_last, batch):
    model = load(tmp_path, linear(matrix, element=element, channels_last=channels_last, batch=batch))
    pixels = pixels_of(images)
    logits = model.differentiable(Compute())(pixels)
    assert (logits.dtype, tuple(logits.shape)) == (torch.float32, (5, CLASSES))
    tolerance = {"float32": 1e-4, "float16": 0.15, "uint8": 2e-2}[element]
    np.testing.assert_allclose(logits.detach().numpy(), model.logits(images), atol=tolerance)
    logits[:, 2].sum().backward()
    # closed form: the weights of that class, divided by std or, for pixels as they are, times 255
    shape = (HEIGHT, WIDTH, 3) if channels_last else (3, HEIGHT, WIDTH)
    weight = matrix[:, 2].astype(np.float16 if element == "float16" else np.float32).astype(np.float64).reshape(shape)
    weight = weight.transpose(2, 0, 1) if channels_last else weight
    factor = np.full(3, 255.0) if element == "uint8" else 1 / np.array(IMAGENET_STD)
    wanted = np.broadcast_to(weight * factor[:, None, None], pixels.shape)
    np.testing.assert_allclose(pixels.grad.numpy(), wanted, rtol=1e-5)


def softmax(**axis: int) -> onnx.NodeProto:
    return helper.make_node("Softmax", ["logits"], ["p"], **axis)


def test_a_softmax_becomes_log_probabilities(tmp_path, matrix, images):
    model = load(tmp_path, linear(matrix, softmax(axis=1)))
    pixels = pixels_of(images)
    answer = model.differentiable(Compute())(pixels)
    np.testing.assert_allclose(answer.detach().numpy(), model.logits(images), atol=1e-4)


def test_gradients_of_a_softmax_that_is_sure(tmp_path, matrix, images):
    # Every probability but one is 0 in float32: the logarithm of a softmax has gradients still.
    model = load(tmp_path, linear(matrix * 1000, softmax()))
    network, pixels = model.differentiable(Compute()), pixels_of(images)
    answer = network(pixels)
    worst = answer.argmin(1)
    assert (answer.min(1).values < -200).all()
    answer[torch.arange(5), worst].sum().backward()
    # closed form: the weights of the worst class less those of the best
    apart = matrix[:, worst].T - matrix[:, answer.argmax(1)].T
    wanted = 1000 * apart.reshape(5, 3, HEIGHT, WIDTH) / np.array(IMAGENET_STD)[:, None, None]
    np.testing.assert_allclose(pixels.grad.numpy(), wanted, rtol=1e-3, atol=1)


def test_an_output_of_four_axes(tmp_path, rng):
    weight = rng.normal(size=(CLASSES, 3, HEIGHT, WIDTH)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, HEIGHT, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", CLASSES, 1, 1])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = load(tmp_path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8))
    images = probes(HEIGHT, WIDTH)
    answer = model.differentiable(Compute())(pixels_of(images))
    np.testing.assert_allclose(answer.detach().numpy(), model.logits(images), rtol=1e-4, atol=1e-4)


def test_external_weights(tmp_path, matrix, images, monkeypatch):
    onnx.save(linear(matrix), tmp_path / "big.onnx", save_as_external_data=True, location="big.bin", size_threshold=0)
    monkeypatch.chdir("/")
    model = load_model(str(tmp_path / "big.onnx"))
    answer = model.differentiable(Compute())(pixels_of(images))
    np.testing.assert_allclose(answer.detach().numpy(), model.logits(images), atol=1e-4)


def test_functions_of_the_models_own(tmp_path, matrix, images):
    proto = linear(matrix, helper.make_node("Twice", ["logits"], ["y"], domain="mine"))
    body = [helper.make_node("Add", ["a", "a"], ["b"])]
    proto.functions.append(helper.make_function("mine", "Twice", ["a"], ["b"], body, [helper.make_opsetid("", 13)]))
    proto.opset_import.append(helper.make_opsetid("mine", 1))
    model = load(tmp_path, proto)
    answer = model.differentiable(Compute())(pixels_of(images))
    np.testing.assert_allclose(answer.detach().numpy(), model.logits(images), atol=1e-4)


def test_several_threads(tmp_path, matrix, rng):
    model = load(tmp_path, linear(matrix, helper.make_node("Tanh", ["logits"], ["y"])))
    network = model.differentiable(Compute(threads=1))
    parts = [rng.integers(0, 256, (4, HEIGHT, WIDTH, 3), dtype=np.uint8) for _ in range(12)]

    def ask(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pixels = pixels_of(images)
        logits = network(pixels)
        logits.square().sum().backward()
        return logits.detach().numpy(), pixels.grad.numpy()

    alone = [ask(part) for part in parts]
    with ThreadPoolExecutor(4) as pool:
        for (logits, gradient), (wanted, wanted_gradient) in zip(pool.map(ask, parts), alone, strict=True):
            np.testing.assert_array_equal(logits, wanted)
            np.testing.assert_array_equal(gradient, wanted_gradient)


def hint(why: str) -> str:
    return f"model mine: it can't be attacked: {why}; give the network that it was exported from, as a torch model"


@pytest.mark.parametrize(
    ("tail", "why"),
    [
        (
            [helper.make_node("NonZero", ["logits"], ["z"]), helper.make_node("Hardmax", ["logits"], ["y"])],
            "no gradients are known of operator Hardmax",
        ),
        (
            [helper.make_node("Det", ["logits"], ["d"]), helper.make_node("Hardmax", ["d"], ["y"])],
            "no gradients are known of operators Det, Hardmax",
        ),
        (
            [
                helper.make_node("DynamicQuantizeLinear", ["logits"], ["q", "s", "z"]),
                helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
            ],
            "it is quantized (DequantizeLinear, DynamicQuantizeLinear), and whole numbers have no gradients",
        ),
        (
            [
                helper.make_node("Cast", ["logits"], ["whole"], to=TensorProto.INT64),
                helper.make_node("Cast", ["whole"], ["y"], to=TensorProto.FLOAT),
            ],
            "its logits have no gradients",
        ),
    ],
)
def test_what_is_refused_is_one_line_and_runs_without_attack(tmp_path, matrix, images, tail, why):
    model = load(tmp_path, linear(matrix, *tail))
    if "Det" not in why:  # which wants square matrices
        assert model.logits(images).shape == (5, CLASSES)
    with pytest.raises(ModelError) as caught:
        model.differentiable(Compute())
    assert str(caught.value) == hint(why)


def test_a_use_of_an_operator_that_is_refused(tmp_path):
    graph = helper.make_graph(
        [
            helper.make_node("Resize", ["x", "", "", "sizes"], ["small"], mode="linear", antialias=1, axes=[2, 3]),
            helper.make_node("Flatten", ["small"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, HEIGHT, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 12])],
        [numpy_helper.from_array(np.array([2, 2]), "sizes")],
    )
    model = load(tmp_path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    assert model.logits(probes(HEIGHT, WIDTH)).shape == (2, 12)
    with pytest.raises(ModelError) as caught:
        model.differentiable(Compute())
    assert str(caught.value) == hint("no gradients are known of Resize with antialias or exclude_outside")


def test_other_answers_than_those_of_onnxruntime(tmp_path, matrix, monkeypatch):
    model = load(tmp_path, linear(matrix, helper.make_node("Elu", ["logits"], ["y"])))
    assert model.differentiable(Compute()) is not None
    wrong = replace(table.operators()["Elu"], function=lambda node, x: torch.nn.functional.elu(x, 0.9))
    monkeypatch.setitem(table._table, "Elu", wrong)
    with pytest.raises(ModelError, match=r"gives other logits than onnxruntime \(by .*% of their spread\)"):
        model.differentiable(Compute())


def cast(kind: int) -> onnx.NodeProto:
    return helper.make_node("Cast", ["logits"], ["y"], to=kind)


def held(element: type) -> onnx.NodeProto:
    return helper.make_node("Constant", [], ["y"], value=numpy_helper.from_array(np.zeros(2, element)))


@pytest.mark.parametrize(
    ("element", "tail", "half"),
    [
        ("float32", [], False),
        ("float32", [cast(TensorProto.INT64), held(np.float32)], False),
        ("float16", [], True),
        ("float32", [cast(TensorProto.FLOAT16)], True),
        ("float32", [held(np.float16)], True),
    ],
)
def test_half_precision_is_seen(matrix, element, tail, half):
    assert is_half(Network(linear(matrix, *tail, element=element), input="x", output="y")) is half


def test_distance():
    expected = np.array([[0.0, 10.0]])
    assert distance(expected, expected) == 0
    assert distance(np.array([[np.nan, 10.0]]), expected) == np.inf
    assert distance(np.zeros((1, 3)), expected) == np.inf
    assert distance(np.array([[-100.0, 10.0]]), np.array([[-87.0, 10.0]]), least=-87.0) == 0
    # Constant logits: rounding is judged by their size.
    assert distance(np.full((1, 2), 3 + 1e-6), np.full((1, 2), 3.0)) < 1e-3


def test_loading_does_not_import_torch(tmp_path, matrix):
    onnx.save(linear(matrix), tmp_path / "mine.onnx")
    code = (
        "import sys, oodometer as odo; "
        f"models = [odo.load_model({str(tmp_path / 'mine.onnx')!r}), odo.load_model('zoo:efficientnet-lite0')]; "
        "assert all(model.differentiable for model in models); print('torch' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"


def test_a_missing_extra(tmp_path, matrix, monkeypatch):
    model = load(tmp_path, linear(matrix))
    monkeypatch.setitem(sys.modules, "torch", None)
    message = r"attacks on ONNX models need more packages: pip install 'oodometer\[torch\]'"
    with pytest.raises(MissingExtraError, match=message):
        model.differentiable(Compute())


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_devices_that_are_absent(tmp_path, matrix, device):
    if {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}[device]:
        pytest.skip(f"{device} is there")
    with pytest.raises(ModelError, match=f"model mine: this torch has no device {device}"):
        load(tmp_path, linear(matrix)).differentiable(Compute(device=device))
