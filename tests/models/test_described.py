"""Models are sent to other processes by their description, and opened there."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from oodometer.core.errors import ModelError
from oodometer.core.model import Compute, Model
from oodometer.models import shipped_zoo
from oodometer.models.card import Declared
from oodometer.models.load import load_model

torch = pytest.importorskip("torch")

SIDE, CLASSES = 4, 3
SMALL = Declared(size=(SIDE, SIDE))
MODULE = """
import numpy as np
import torch
def net(seed=3):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 3))
def drawn():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 3))
def means(images):
    return images.mean(axis=(1, 2), dtype=np.float32)
"""


def network(seed: int = 3) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(SIDE * SIDE * 3, CLASSES))


def write_onnx(path: Path, *, factor: float = 1.0) -> str:
    """A network whose logits are the means of the channels, times a factor."""
    nodes = [
        helper.make_node("ReduceMean", ["pixels"], ["means"], axes=[2, 3], keepdims=0),
        helper.make_node("Mul", ["means", "factor"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "means",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", CLASSES])],
        [numpy_helper.from_array(np.array(factor, dtype=np.float32), "factor")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path.name


def write_script(path: Path) -> str:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
        torch.jit.script(network().eval()).save(path)
    return path.name


def write_program(path: Path) -> str:
    shapes = ({0: torch.export.Dim("n", min=1, max=64)},)
    example = (torch.zeros(2, 3, SIDE, SIDE),)
    torch.export.save(torch.export.export(network().eval(), example, dynamic_shapes=shapes), path)
    return path.name


def write_state(path: Path, *, seed: int = 3) -> str:
    torch.save(network(seed).state_dict(), path)
    return path.name


# By kind: what is given to load_model, after the files that it needs were written into the current folder.
SPECS: dict[str, Callable[[Path], str]] = {
    "onnx": lambda here: f"onnx:{write_onnx(here / 'mine.onnx')}",
    "torch factory": lambda here: "torch:mynets:net",
    "torch weights": lambda here: f"torch:mynets:net@{write_state(here / 'w.pth')}",
    "torch script": lambda here: f"torch:{write_script(here / 'mine.pt')}",
    "torch program": lambda here: f"torch:{write_program(here / 'mine.pt2')}",
    "callable": lambda here: "callable:mynets:means",
}


@pytest.fixture
def load(module, here) -> Callable[[str], Model]:
    """Load the model of a kind."""
    module(MODULE)
    return lambda kind: load_model(SPECS[kind](here), card=SMALL, allow_pickle=True)


@pytest.fixture
def images(rng) -> np.ndarray:
    return rng.integers(0, 256, (5, SIDE, SIDE, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def other_process() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def copied(model: Model) -> Model:
    return pickle.loads(pickle.dumps(model))


def check_copy(model: Model, images: np.ndarray) -> None:
    """The copy is equal, is small, and answers the same, with gradients where the model has them."""
    model.logits(images)  # what was opened must not be in the way
    assert len(pickle.dumps(model.open)) < 2000
    copy = copied(model)
    assert copy == model
    np.testing.assert_array_equal(copy.logits(images), model.logits(images))
    if model.differentiable is not None:
        assert copy.differentiable is not None
        pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
        modules = [each.differentiable(Compute()) for each in (model, copy)]
        np.testing.assert_array_equal(*(module(pixels).detach().numpy() for module in modules))


@pytest.mark.parametrize("kind", SPECS)
def test_a_copy_by_pickle_is_the_same_model(load, images, kind):
    check_copy(load(kind), images)


@pytest.mark.parametrize("kind", SPECS)
def test_the_current_folder_does_not_matter(load, images, kind, tmp_path_factory, monkeypatch):
    model = load(kind)
    sent = pickle.dumps(model)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    np.testing.assert_array_equal(pickle.loads(sent).logits(images), model.logits(images))


@pytest.mark.parametrize("kind", SPECS)
def test_another_process_gives_the_same_logits(load, images, kind, other_process):
    model = load(kind)
    np.testing.assert_array_equal(other_process.submit(model.logits, images).result(), model.logits(images))


def test_another_process_opens_the_zoo_of_icons(other_process, rng):
    name = next(iter(shipped_zoo.shipped_names("icons")), None)
    if name is None:
        pytest.skip("the zoo is not here")
    model = load_model(f"zoo:{name}")
    images = rng.integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    check_copy(model, images)
    np.testing.assert_array_equal(other_process.submit(model.logits, images).result(), model.logits(images))


def test_a_copy_of_the_zoo_of_photographs(rng):
    check_copy(load_model("zoo:efficientnet-lite0"), rng.integers(0, 256, (2, 224, 224, 3), dtype=np.uint8))


def test_a_copy_of_a_timm_model(timm, here, rng):
    torch.manual_seed(5)
    torch.save(timm.create_model("test_vit", pretrained=False).state_dict(), here / "w.pth")
    model = load_model("timm:test_vit@w.pth")
    check_copy(model, rng.integers(0, 256, (2, 160, 160, 3), dtype=np.uint8))


def test_a_copy_of_predictions(here):
    np.save(here / "theirs.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    (here / "theirs.ids.txt").write_text("a\nb\n")
    answers = load_model("predictions:theirs.npy", name="t")
    copy = pickle.loads(pickle.dumps(answers))
    assert (copy.name, copy.digest, copy.ids, copy.card) == (answers.name, answers.digest, answers.ids, answers.card)
    np.testing.assert_array_equal(copy.values, answers.values)


# By kind: what is written over the file of the model, and the name of the file.
CHANGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "onnx": ("mine.onnx", lambda path: write_onnx(path, factor=2.0)),
    "torch weights": ("mynets:net@", lambda path: write_state(path.with_name("w.pth"), seed=4)),
    "torch script": ("mine.pt", lambda path: path.write_bytes(path.read_bytes() + b"x")),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_weights_that_changed_since_are_refused(load, here, images, kind):
    model = load(kind)
    sent = pickle.dumps(model)
    place, change = CHANGES[kind]
    change(here / place)
    with pytest.raises(ModelError) as caught:
        pickle.loads(sent).logits(images)
    message = str(caught.value)
    assert message.startswith(f"model {model.name}: ")
    assert place in message
    assert message.endswith("load the model again")
    assert "\n" not in message
    model.logits(images)  # this process has read it before


def test_a_file_that_is_gone_is_one_line(load, here, images):
    sent = pickle.dumps(load("onnx"))
    (here / "mine.onnx").unlink()
    with pytest.raises(ModelError, match=r"mine\.onnx: no such model file$"):
        pickle.loads(sent).logits(images)


def test_weights_that_are_drawn_anew_are_refused_elsewhere(load, images):
    load("torch factory")
    model = load_model("torch:mynets:drawn", card=SMALL)
    assert model.logits(images).shape == (5, CLASSES)
    with pytest.raises(ModelError, match=r"mynets:drawn \(without a file of weights\) is not what it was when"):
        copied(model).logits(images)


def means(images: np.ndarray) -> np.ndarray:
    return images.mean(axis=(1, 2), dtype=np.float32)


class Scaled:
    """A function with a value of its own."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, images: np.ndarray) -> np.ndarray:
        return self.factor * means(images)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scaled) and other.factor == self.factor

    def __hash__(self) -> int:
        return hash(self.factor)


@pytest.mark.parametrize("function", [means, Scaled(2.0)])
def test_functions_of_a_module_are_sent_by_name(images, function):
    check_copy(load_model(function, card=SMALL), images)


def test_a_function_that_can_not_be_sent_is_one_line(images):
    model = load_model(lambda pixels: means(pixels), card=SMALL)
    assert model.logits(images).shape == (5, 3)
    with pytest.raises(ModelError) as caught:
        pickle.dumps(model)
    message = str(caught.value)
    assert "<lambda> can't be sent to another process (" in message
    assert message.endswith("; put it into a module and give callable:MODULE:FUNCTION")
    assert "\n" not in message


def test_a_function_that_changed_since_is_refused(module, images):
    module(MODULE)
    sent = pickle.dumps(load_model("callable:mynets:means", card=SMALL))
    module(MODULE.replace("return images.mean", "return 2 * images.mean"))
    del sys.modules["mynets"]  # as if in another process
    with pytest.raises(ModelError, match="model means: mynets:means is not what it was when the model was loaded"):
        pickle.loads(sent).logits(images)
