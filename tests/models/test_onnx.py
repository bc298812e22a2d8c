from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from oodometer.core.errors import MissingExtraError, ModelError, UsageError
from oodometer.core.model import IMAGENET_MEAN, IMAGENET_STD, Compute
from oodometer.core.preprocessing import Geometry
from oodometer.models.card import Declared
from oodometer.models.load import load_model

HEIGHT, WIDTH, CLASSES = 6, 8, 5
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "uint8": TensorProto.UINT8}


def weights(rng: np.random.Generator) -> np.ndarray:
    """A row of weights for each single pixel and channel, so that no confusion of axes goes unseen."""
    return rng.normal(size=(HEIGHT * WIDTH * 3, CLASSES)).astype(np.float32) / 10


def linear(
    matrix: np.ndarray,
    *,
    batch: int | str = "batch",
    channels_last: bool = False,
    element: str = "float32",
    opset: int = 13,
    tail: list | None = None,
    outputs: list | None = None,
) -> onnx.ModelProto:
    """logits = flattened input @ matrix, in any of the forms that exporters write."""
    shape = [batch, HEIGHT, WIDTH, 3] if channels_last else [batch, 3, HEIGHT, WIDTH]
    half = element == "float16"
    nodes = [helper.make_node("Flatten", ["x"], ["flat"], axis=1)]
    if element == "uint8":
        nodes.append(helper.make_node("Cast", ["flat"], ["f"], to=TensorProto.FLOAT))
    nodes.append(helper.make_node("MatMul", ["f" if element == "uint8" else "flat", "w"], ["logits"]))
    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    graph = helper.make_graph(
        [*nodes, *(tail or [])],
        "linear",
        [helper.make_tensor_value_info("x", TYPES[element], shape)],
        outputs or [helper.make_tensor_value_info("logits", kind, [batch, CLASSES])],
        [numpy_helper.from_array(matrix.astype(np.float16 if half else np.float32), "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def save(folder: Path, proto: onnx.ModelProto, name: str = "mine.onnx") -> str:
    onnx.save(proto, folder / name)
    return str(folder / name)


def expected(images: np.ndarray, matrix: np.ndarray, *, channels_last: bool, element: str) -> np.ndarray:
    pixels = images.astype(np.float64)
    if element != "uint8":
        pixels = (pixels / 255 - np.array(IMAGENET_MEAN)) / np.array(IMAGENET_STD)
    if not channels_last:
        pixels = pixels.transpose(0, 3, 1, 2)
    return pixels.reshape(len(images), -1) @ matrix


@pytest.mark.parametrize("n", [1, 3, 4, 9])
@pytest.mark.parametrize("element", ["float32", "float16", "uint8"])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("batch", ["batch", 1, 4])
def test_all_forms_of_input(tmp_path, rng, batch, channels_last, element, n):
    matrix = weights(rng)
    model = load_model(save(tmp_path, linear(matrix, batch=batch, channels_last=channels_last, element=element)))
    images = rng.integers(0, 256, (n, HEIGHT, WIDTH, 3), dtype=np.uint8)
    answer = model.logits(images)
    wanted = expected(images, matrix, channels_last=channels_last, element=element)
    assert answer.dtype == np.float32
    tolerance = {"float32": 1e-4, "float16": 0.15, "uint8": 2e-2}[element]
    np.testing.assert_allclose(answer, wanted, atol=tolerance)
    assert (model.input.view, model.notes) == (Geometry(HEIGHT, WIDTH), {"input": "default"})


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 21])
def test_the_models_own_opset_is_kept(tmp_path, rng, opset):
    matrix = weights(rng)
    model = load_model(save(tmp_path, linear(matrix, opset=opset)))
    images = rng.integers(0, 256, (2, HEIGHT, WIDTH, 3), dtype=np.uint8)
    np.testing.assert_allclose(
        model.logits(images), expected(images, matrix, channels_last=False, element="float32"), atol=1e-4
    )


def test_an_opset_that_is_too_old(tmp_path, rng):
    with pytest.raises(ModelError, match="opset 6 is too old"):
        load_model(save(tmp_path, linear(weights(rng), opset=6)))


def test_several_threads_and_no_images_in_the_last_batch(tmp_path, rng):
    matrix = weights(rng)
    forward = load_model(save(tmp_path, linear(matrix))).open(Compute(threads=1))
    parts = [rng.integers(0, 256, (130, HEIGHT, WIDTH, 3), dtype=np.uint8) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(forward, parts))
    for part, answer in zip(parts, answers, strict=True):
        np.testing.assert_allclose(answer, expected(part, matrix, channels_last=False, element="float32"), atol=1e-4)


def test_softmax_becomes_log_probabilities(tmp_path, rng):
    tail = [helper.make_node("Softmax", ["logits"], ["p"], axis=1)]
    outputs = [helper.make_tensor_value_info("p", TensorProto.FLOAT, ["batch", CLASSES])]
    matrix = weights(rng)
    model = load_model(save(tmp_path, linear(matrix, tail=tail, outputs=outputs)))
    images = rng.integers(0, 256, (3, HEIGHT, WIDTH, 3), dtype=np.uint8)
    logits = expected(images, matrix, channels_last=False, element="float32")
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.logits(images), logits, atol=1e-4)
    assert model.notes["output"] == "softmax"


def test_a_probability_of_zero_stays_finite(tmp_path, rng):
    tail = [helper.make_node("Softmax", ["logits"], ["p"], axis=1)]
    outputs = [helper.make_tensor_value_info("p", TensorProto.FLOAT, ["batch", CLASSES])]
    model = load_model(save(tmp_path, linear(weights(rng) * 1000, tail=tail, outputs=outputs)))
    assert np.isfinite(model.logits(np.full((1, HEIGHT, WIDTH, 3), 255, np.uint8))).all()


def test_of_several_outputs_the_first_of_rank_2(tmp_path, rng):
    tail = [
        helper.make_node("Unsqueeze", ["logits", "last"], ["features"]),
        helper.make_node("Identity", ["logits"], ["second"]),
    ]
    outputs = [
        helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", CLASSES, 1]),
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES]),
        helper.make_tensor_value_info("second", TensorProto.FLOAT, ["batch", CLASSES]),
    ]
    proto = linear(weights(rng), tail=tail, outputs=outputs)
    proto.graph.initializer.append(numpy_helper.from_array(np.array([2]), "last"))
    model = load_model(save(tmp_path, proto))
    assert model.notes["output"] == "logits (the first of 3 with a row of logits per image)"
    assert len(model.space) == CLASSES
    del proto.graph.output[1:]
    with pytest.raises(ModelError, match=r"its output has shape \(N, 5, 1\); expected \(N, K\)"):
        load_model(save(tmp_path, proto))


def pooled(*, size: list, output: list | None, keep: int = 0) -> onnx.ModelProto:
    """The mean of each channel: a network of any height and width."""
    graph = helper.make_graph(
        [helper.make_node("ReduceMean", ["x"], ["y"], axes=[2, 3], keepdims=keep)],
        "pooled",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, *size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize(
    ("output", "keep"), [(["n", 3], 0), (["n", "k"], 0), (None, 0), (["n", 3, 1, 1], 1), (None, 1)]
)
def test_dynamic_size_and_the_number_of_classes(tmp_path, output, keep):
    path = save(tmp_path, pooled(size=["h", "w"], output=output, keep=keep))
    model = load_model(path)
    assert (model.input.view, len(model.space)) == (Geometry(224, 224, 256), 3)
    small = load_model(path, card=Declared(size=(4, 5), mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0)))
    images = np.arange(2 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 4, 5, 3)
    np.testing.assert_allclose(small.logits(images), images.mean(axis=(1, 2)) / 255, atol=1e-6)
    assert small.notes["input"] == "declared (size, mean, std), the rest default"


def test_a_declared_size_that_the_graph_contradicts(tmp_path, rng):
    with pytest.raises(ModelError, match="its input is fixed to 6x8 pixels, but 8x8 is declared"):
        load_model(save(tmp_path, linear(weights(rng))), card=Declared(size=(8, 8)))


def test_mean_and_std_mean_nothing_to_uint8(tmp_path, rng):
    path = save(tmp_path, linear(weights(rng), element="uint8"))
    with pytest.raises(UsageError, match="leave mean and std out"):
        load_model(path, card=Declared(mean=IMAGENET_MEAN))


def test_the_card_beside_and_the_flags_above_it(tmp_path, rng):
    path = save(tmp_path, linear(weights(rng)))
    (tmp_path / "mine.toml").write_text('name = "card"\nparent = "p"\nclasses = ["a", "b", "c", "d", "e"]\n')
    model = load_model(f"onnx:{path}", name="flag")
    assert (model.name, model.card.parent, model.space.classes) == ("flag", "p", tuple("abcde"))
    (tmp_path / "mine.toml").write_text('classes = ["a", "b"]\n')
    with pytest.raises(ModelError, match="it has 5 outputs, but 2 classes are declared"):
        load_model(path)


def test_the_digest_is_that_of_the_file(tmp_path, rng):
    matrix = weights(rng)
    first = load_model(save(tmp_path, linear(matrix)))
    assert first.digest == load_model(save(tmp_path, linear(matrix), "other.onnx")).digest
    assert first.digest != load_model(save(tmp_path, linear(matrix + 1))).digest
    assert first.name == "mine"


def external(folder: Path, proto: onnx.ModelProto, location: str) -> str:
    onnx.save(
        proto,
        folder / "big.onnx",
        save_as_external_data=True,
        location=location,
        size_threshold=0,
        convert_attribute=True,
    )
    return str(folder / "big.onnx")


def test_external_weights(tmp_path, rng, monkeypatch):
    matrix = weights(rng)
    path = external(tmp_path, linear(matrix), "big.bin")
    monkeypatch.chdir(os.sep)
    model = load_model(path)
    images = rng.integers(0, 256, (2, HEIGHT, WIDTH, 3), dtype=np.uint8)
    np.testing.assert_allclose(
        model.logits(images), expected(images, matrix, channels_last=False, element="float32"), atol=1e-4
    )
    content = bytearray((tmp_path / "big.bin").read_bytes())
    content[0] ^= 1
    (tmp_path / "big.bin").write_bytes(content)
    assert load_model(path).digest != model.digest
    (tmp_path / "big.bin").unlink()
    with pytest.raises(ModelError, match=r"its weights file big\.bin is missing"):
        load_model(path)


@pytest.mark.parametrize("location", ["../secret.bin", "{tmp}/secret.bin", "link.bin"])
def test_external_weights_stay_in_the_models_folder(tmp_path, rng, location):
    folder = tmp_path / "models"
    folder.mkdir()
    path = external(folder, linear(weights(rng)), "big.bin")
    (folder / "big.bin").rename(tmp_path / "secret.bin")
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    proto = onnx.load(path, load_external_data=False)
    for entry in proto.graph.initializer[0].external_data:
        if entry.key == "location":
            entry.value = location.format(tmp=tmp_path)
    Path(path).write_bytes(proto.SerializeToString())
    with pytest.raises(ModelError, match="outside the model's folder"):
        load_model(path)


def input_of(shape: list, element: int = TensorProto.FLOAT) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Flatten", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", element, ["n", "k"])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize(
    ("proto", "message"),
    [
        (input_of(["n", 3, 8, 3]), "(?, 3, 8, 3): of axes 1 and 3 both could be the channels"),
        (input_of(["n", 1, 28, 28]), "(?, 1, 28, 28): of axes 1 and 3 none is the 3 channels"),
        (input_of(["n", 10]), "shape (?, 10); expected (N, 3, H, W) or (N, H, W, 3)"),
        (input_of(["n", 3, 8, 8], TensorProto.INT64), "its input is neither float32, float16 nor uint8"),
    ],
)
def test_inputs_that_are_not_images(tmp_path, proto, message):
    with pytest.raises(ModelError) as caught:
        load_model(save(tmp_path, proto))
    assert message in str(caught.value)


def test_two_inputs(tmp_path, rng):
    proto = linear(weights(rng))
    proto.graph.input.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [1]))
    with pytest.raises(ModelError, match=r"expected one input for images; it has 2 \(x, z\)"):
        load_model(save(tmp_path, proto))


def test_weights_that_are_also_inputs(tmp_path, rng):
    # As exporters wrote before IR version 4.
    proto = linear(weights(rng))
    proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [HEIGHT * WIDTH * 3, CLASSES]))
    assert load_model(save(tmp_path, proto)).logits(np.zeros((1, HEIGHT, WIDTH, 3), np.uint8)).shape == (1, CLASSES)


def damage(kind: str, path: Path, content: bytes) -> None:
    if kind == "image":
        Image.new("RGB", (9, 9)).save(path, format="png")
    else:
        path.write_bytes({"empty": b"", "half": content[: len(content) // 2], "text": b"hello\n"}[kind])


@pytest.mark.parametrize("kind", ["image", "empty", "half", "text"])
def test_files_that_are_not_models(tmp_path, rng, kind):
    path = Path(save(tmp_path, linear(weights(rng))))
    damage(kind, path, path.read_bytes())
    with pytest.raises(ModelError) as caught:
        load_model(str(path))
    wanted = "the model file is empty" if kind == "empty" else "not an ONNX model, or a damaged one"
    assert str(caught.value) == f"{path}: {wanted}"


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(ModelError, match=r"absent\.onnx: no such model file"):
        load_model(str(tmp_path / "absent.onnx"))
    (tmp_path / "folder.onnx").mkdir()
    with pytest.raises(ModelError, match=r"folder\.onnx: a folder, not a file"):
        load_model(str(tmp_path / "folder.onnx"))


def test_an_operator_that_nobody_knows(tmp_path, rng):
    proto = linear(weights(rng))
    proto.graph.node[0].op_type = "Flattn"
    with pytest.raises(ModelError, match="onnxruntime can't open it") as caught:
        load_model(save(tmp_path, proto)).open(Compute())
    assert "\n" not in str(caught.value)


def test_pixels_of_the_wrong_size(tmp_path, rng):
    model = load_model(save(tmp_path, linear(weights(rng))))
    with pytest.raises(ModelError, match="its forward pass failed"):
        model.logits(np.zeros((1, 5, 5, 3), np.uint8))


@pytest.mark.parametrize(
    ("device", "provider"), [("cuda", "CUDAExecutionProvider"), ("mps", "CoreMLExecutionProvider")]
)
def test_devices_that_are_absent(tmp_path, rng, device, provider):
    model = load_model(save(tmp_path, linear(weights(rng))))
    with pytest.raises(ModelError, match=rf"this onnxruntime can't use device {device} \(no {provider}\)"):
        model.open(Compute(device=device))


@pytest.mark.filterwarnings("ignore:Specified provider")
def test_a_device_that_does_not_start(tmp_path, rng, monkeypatch):
    model = load_model(save(tmp_path, linear(weights(rng))))
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ["CUDAExecutionProvider"])
    with pytest.raises(ModelError, match="onnxruntime could not start CUDAExecutionProvider for device cuda"):
        model.open(Compute(device="cuda"))


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_a_missing_extra(tmp_path, rng, monkeypatch, package):
    path = save(tmp_path, linear(weights(rng)))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'oodometer\[onnx\]'"):
        load_model(path)
