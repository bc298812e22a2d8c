"""Networks that want blue first: every runtime shows them the channels in that order, gradients included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from oodometer.core.errors import UsageError
from oodometer.core.model import Compute, Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.models.load import load_model

H = W = 6
MEAN, STD = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)
GIVEN = Input(Geometry(H, W), MEAN, STD, "bgr")
WEIGHTS = np.random.default_rng(0).normal(size=(H * W * 3, 4)).astype(np.float32)


@pytest.fixture
def images() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (5, H, W, 3), dtype=np.uint8)


def expected(images: np.ndarray) -> np.ndarray:
    """By numpy alone: normalised in the order of the pixels, then blue first, channels before rows."""
    shown = (images / 255 - np.array(MEAN)) / np.array(STD)
    flat = shown[..., [2, 1, 0]].transpose(0, 3, 1, 2).reshape(len(images), -1)
    return flat @ WEIGHTS


def onnx_file(path: Path) -> str:
    value, make = onnx.helper.make_tensor_value_info, onnx.helper.make_node
    weights = onnx.numpy_helper.from_array(WEIGHTS, "w")
    graph = onnx.helper.make_graph(
        [make("Flatten", ["x"], ["flat"]), make("MatMul", ["flat", "w"], ["y"])],
        "linear",
        [value("x", onnx.TensorProto.FLOAT, ["N", 3, H, W])],
        [value("y", onnx.TensorProto.FLOAT, ["N", 4])],
        [weights],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(model, str(path))
    return f"onnx:{path}"


def test_onnx_and_its_gradients(tmp_path: Path, images: np.ndarray) -> None:
    torch = pytest.importorskip("torch")
    model = load_model(onnx_file(tmp_path / "net.onnx"), input=GIVEN)
    assert isinstance(model, Model)
    np.testing.assert_allclose(model.logits(images), expected(images), rtol=1e-4, atol=1e-4)
    assert model.differentiable is not None
    pixels = (torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255).requires_grad_(True)
    logits = model.differentiable(Compute())(pixels)
    np.testing.assert_allclose(logits.detach().numpy(), expected(images), rtol=1e-4, atol=1e-4)
    logits[:, 0].sum().backward()
    # The gradient of the red pixels is that of the network's last channel.
    own = WEIGHTS[:, 0].reshape(3, H, W)[::-1] / np.array(STD, dtype=np.float32).reshape(3, 1, 1)
    np.testing.assert_allclose(pixels.grad[0].numpy(), own, rtol=1e-4, atol=1e-4)


FACTORY = """
import numpy as np, torch
def net():
    linear = torch.nn.Linear(108, 4, bias=False)
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(np.load("weights.npy").T))
    return torch.nn.Sequential(torch.nn.Flatten(), linear)
"""


def test_torch(here: Path, images: np.ndarray) -> None:
    pytest.importorskip("torch")
    np.save(here / "weights.npy", WEIGHTS)
    (here / "blue_first.py").write_text(FACTORY)
    model = load_model("torch:blue_first:net", input=GIVEN)
    assert isinstance(model, Model)
    np.testing.assert_allclose(model.logits(images), expected(images), rtol=1e-4, atol=1e-4)


def first_channel(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1, 3).mean(axis=1)


def test_a_function(images: np.ndarray) -> None:
    given = Input(Geometry(H, W), (0.0, 0.0, 0.0), (1 / 255,) * 3, "bgr")
    model = load_model(first_channel, input=given)
    assert isinstance(model, Model)
    np.testing.assert_allclose(model.logits(images), first_channel(images)[:, ::-1], rtol=1e-6)


def test_what_is_told_and_refused() -> None:
    assert str(GIVEN).endswith("; BGR")
    assert str(Input()).endswith("std 0.229, 0.224, 0.225")
    with pytest.raises(UsageError, match="expected rgb or bgr"):
        Input(channels="gbr")  # type: ignore[arg-type]


def test_a_card_says_it(tmp_path: Path, images: np.ndarray) -> None:
    spec = onnx_file(tmp_path / "net.onnx")
    (tmp_path / "net.toml").write_text(
        f'[input]\nsize = {H}\nresize = "squash"\nmean = {list(MEAN)}\nstd = {list(STD)}\nchannels = "bgr"\n'
    )
    model = load_model(spec)
    assert isinstance(model, Model)
    np.testing.assert_allclose(model.logits(images), expected(images), rtol=1e-4, atol=1e-4)
