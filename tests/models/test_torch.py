from __future__ import annotations

import os
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from oodometer.core.errors import MissingExtraError, ModelError
from oodometer.core.model import IMAGENET_MEAN, IMAGENET_STD, Compute
from oodometer.core.preprocessing import Geometry
from oodometer.models.card import Declared
from oodometer.models.load import load_model
from oodometer.models.torch import Net, to_model

torch = pytest.importorskip("torch")

HEIGHT, WIDTH, CLASSES = 6, 8, 5
SMALL = Declared(size=(HEIGHT, WIDTH))
FACTORY = """
import torch
def net():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(144, 5), torch.nn.Dropout(0.5))
def broken():
    return 1 / 0
def number():
    return 3
"""


def network() -> torch.nn.Module:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(HEIGHT * WIDTH * 3, CLASSES), torch.nn.Dropout(0.5))


@pytest.fixture
def images(rng) -> np.ndarray:
    return rng.integers(0, 256, (7, HEIGHT, WIDTH, 3), dtype=np.uint8)


def expected(images: np.ndarray) -> np.ndarray:
    """The logits of the network above, by numpy."""
    linear = network()[1]
    pixels = (images / 255 - np.array(IMAGENET_MEAN)) / np.array(IMAGENET_STD)
    flat = pixels.transpose(0, 3, 1, 2).reshape(len(images), -1)
    return flat @ linear.weight.detach().numpy().T + linear.bias.detach().numpy()


def exported(path: Path, *, batch: int | None = None, limits: tuple[int, int] | None = (1, 512)) -> Path:
    n = torch.export.Dim("n", min=limits[0], max=limits[1]) if limits else torch.export.Dim("n")
    shape = {0: n} if batch is None else None
    example = torch.zeros(batch or 4, 3, HEIGHT, WIDTH)
    program = torch.export.export(network().eval(), (example,), dynamic_shapes=(shape,) if shape else None)
    torch.export.save(program, path)
    return path


def scripted(path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
        torch.jit.script(network().eval()).save(path)
    return path


def test_a_factory(module, images):
    module(FACTORY)
    model = load_model("torch:mynets:net", card=SMALL)
    np.testing.assert_allclose(model.logits(images), expected(images), atol=1e-4)
    assert (model.name, model.kind, len(model.space)) == ("net", "torch", CLASSES)
    assert model.notes == {"input": "declared (size), the rest default"}
    assert model.logits(images).dtype == np.float32


def test_a_factory_that_imports_its_neighbours(module):
    module(FACTORY, "neighbour")
    module("def net():\n    import neighbour\n    return neighbour.net()\n")
    before = list(sys.path)
    assert len(load_model("torch:mynets:net", card=SMALL).space) == CLASSES
    assert sys.path == before


@pytest.mark.parametrize("wrap", [lambda state: state, lambda state: {"state_dict": state, "epoch": 3}])
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_a_factory_with_weights(module, images, here, wrap, suffix):
    module(FACTORY.replace("manual_seed(3)", "manual_seed(4)"))
    state = network().state_dict()
    if suffix == ".safetensors":
        from safetensors.torch import save_file

        save_file(state, here / "best.safetensors")
    else:
        torch.save(wrap({f"module.{key}": value for key, value in state.items()}), here / "best.pth")
    model = load_model(f"torch:mynets:net@best{suffix}", card=SMALL)
    np.testing.assert_allclose(model.logits(images), expected(images), atol=1e-4)
    assert model.name == "best"
    assert model.digest != load_model("torch:mynets:net", card=SMALL).digest


@pytest.mark.parametrize("batch", [None, 1, 4])
def test_an_exported_program(tmp_path, images, batch):
    path = exported(tmp_path / "mine.pt2", batch=batch)
    model = load_model(f"torch:{path}")
    np.testing.assert_allclose(model.logits(images), expected(images), atol=1e-4)
    assert (model.name, model.input.view, model.notes["input"]) == ("mine", Geometry(HEIGHT, WIDTH), "default")
    np.testing.assert_allclose(
        load_model(f"torch:{path}", allow_pickle=True).logits(images), expected(images), atol=1e-4
    )


@pytest.mark.parametrize("limits", [None, (3, 5), (2, 4)])
def test_an_exported_program_that_limits_its_batch(tmp_path, images, limits):
    model = load_model(f"torch:{exported(tmp_path / 'mine.pt2', limits=limits)}")
    for n in (1, 2, 7):
        np.testing.assert_allclose(model.logits(images[:n]), expected(images[:n]), atol=1e-4)


@pytest.mark.parametrize("layer", [torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(CLASSES)])
def test_a_program_exported_in_training_mode_is_refused(tmp_path, layer):
    path = tmp_path / "mine.pt2"
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(HEIGHT * WIDTH * 3, CLASSES), layer)
    example = (torch.zeros(4, 3, HEIGHT, WIDTH),)
    torch.export.save(torch.export.export(net.train(), example), path)
    with pytest.raises(ModelError, match=r"mine\.pt2: exported in training mode"):
        load_model(f"torch:{path}")
    torch.export.save(torch.export.export(net.eval(), example), path)
    assert len(load_model(f"torch:{path}").space) == CLASSES


@pytest.mark.parametrize("batch", [None, 1])
def test_an_exported_program_fixes_its_size(tmp_path, batch):
    path = exported(tmp_path / "mine.pt2", batch=batch)
    with pytest.raises(ModelError, match="its input is fixed to 6x8 pixels"):
        load_model(f"torch:{path}", card=Declared(size=(8, 8)))


def test_a_script(tmp_path, images):
    path = scripted(tmp_path / "mine.pt")
    (tmp_path / "mine.toml").write_text(f'parent = "p"\n[input]\nsize = [{HEIGHT}, {WIDTH}]\n')
    model = load_model(f"torch:{path}")
    np.testing.assert_allclose(model.logits(images), expected(images), atol=1e-4)
    assert (model.name, model.card.parent) == ("mine", "p")


def test_a_pickled_module_only_if_allowed(tmp_path, images):
    torch.save(network(), tmp_path / "mine.pt")
    with pytest.raises(ModelError, match=r"refused, since it is a pickle of more than tensors .* add --allow-pickle"):
        load_model(f"torch:{tmp_path / 'mine.pt'}", card=SMALL)
    model = load_model(f"torch:{tmp_path / 'mine.pt'}", card=SMALL, allow_pickle=True)
    np.testing.assert_allclose(model.logits(images), expected(images), atol=1e-4)


def test_weights_alone_are_no_model(tmp_path):
    torch.save(network().state_dict(), tmp_path / "w.pth")
    (tmp_path / "w.safetensors").write_bytes(b"x")
    for name in ("w.pth", "w.safetensors"):
        with pytest.raises(ModelError, match=r"weights without a network; give torch:package\.module:function@"):
            load_model(f"torch:{tmp_path / name}")


@pytest.mark.parametrize("old_format", [False, True])
@pytest.mark.parametrize(
    "spec", ["torch:{}/x.pth", "torch:{}/x.pt", "torch:{}/x.pt2", "torch:mynets:net@{}/x.pth", "onnx:{}/x.onnx"]
)
def test_no_code_is_run_by_a_pickle(module, tmp_path, evil, spec, old_format):
    module(FACTORY)
    bomb, marker = evil
    path = tmp_path / f"x{Path(spec).suffix}"
    torch.save({"1.weight": bomb}, path, _use_new_zipfile_serialization=not old_format)
    with pytest.raises(ModelError):
        load_model(spec.format(tmp_path), card=SMALL)
    path.write_bytes(pickle.dumps(bomb))
    with pytest.raises(ModelError):
        load_model(spec.format(tmp_path), card=SMALL)
    np.save(tmp_path / "x.npy", np.array([bomb], dtype=object), allow_pickle=True)
    (tmp_path / "x.npy").rename(path)
    with pytest.raises(ModelError):
        load_model(spec.format(tmp_path), card=SMALL)
    assert not marker.exists()


def test_a_pickle_that_is_allowed_does_run(tmp_path, evil):
    # The other half of the tests above: the marker is written when nothing is in the way.
    bomb, marker = evil
    torch.save({"1.weight": bomb}, tmp_path / "x.pth")
    with pytest.raises(ModelError):
        load_model(f"torch:{tmp_path}/x.pth", allow_pickle=True)
    assert marker.exists()


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("mynets:broken", "mynets:broken: the factory failed (ZeroDivisionError: division by zero)"),
        ("mynets:number", "mynets:number: expected a torch.nn.Module, got int"),
        ("mynets:absent", "mynets:absent: mynets has no function 'absent'"),
        ("absent_nets:net", "absent_nets:net: no module named 'absent_nets' can be imported from here"),
        ("mynets:net@absent.pth", "absent.pth: no such model file"),
        ("absent.pt2", "absent.pt2: no such model file"),
        ("empty.pt", "empty.pt: the model file is empty"),
        ("text.pt", "text.pt: not a file of torch, or a damaged one"),
        ("text.pt2", "text.pt2: not a model file of torch, or a damaged one"),
        ("mynets:net@text.pt", "text.pt: not a file of torch, or a damaged one"),
        ("mynets:net@text.safetensors", "text.safetensors: not a safetensors file, or a damaged one"),
        ("mynets:net@list.pt", "list.pt: expected a state dict, got list"),
    ],
)
def test_errors_are_one_line(module, here, rest, message):
    module(FACTORY)
    (here / "empty.pt").write_bytes(b"")
    for suffix in ("pt", "pt2", "safetensors"):
        (here / f"text.{suffix}").write_text("hello, I am a text\n")
    torch.save([1, 2], here / "list.pt")
    with pytest.raises(ModelError) as caught:
        load_model(f"torch:{rest}", card=SMALL)
    assert str(caught.value) == message


def test_weights_that_do_not_fit(module, here):
    module(FACTORY)
    torch.save({"1.weight": torch.zeros(2, 2), "extra": torch.zeros(1)}, here / "w.pth")
    with pytest.raises(ModelError, match=r"w\.pth: these weights do not fit the network \(.*Missing key") as caught:
        load_model("torch:mynets:net@w.pth", card=SMALL)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.3, 0.9])
@pytest.mark.parametrize("make", [exported, scripted])
def test_truncated_files(tmp_path, make, share):
    path = make(tmp_path / ("m.pt2" if make is exported else "m.pt"))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelError, match="or a damaged one"):
        load_model(f"torch:{path}", card=SMALL)


class Answers(torch.nn.Module):
    def __init__(self, form):
        super().__init__()
        self.form = form

    def forward(self, x):
        return self.form(x.mean((2, 3)))


@pytest.mark.parametrize(
    "form",
    [lambda y: y, lambda y: (y, None), lambda y: SimpleNamespace(logits=y), lambda y: {"loss": None, "logits": y}],
)
def test_forms_of_an_answer(form):
    model = to_model(Net(Answers(form), name="m", digest="d"), SMALL)
    assert model.logits(np.zeros((2, HEIGHT, WIDTH, 3), np.uint8)).shape == (2, 3)


def test_an_answer_of_the_wrong_shape():
    with pytest.raises(ModelError, match=r"its output has shape \(1,\) for one image"):
        to_model(Net(Answers(lambda y: y[:, 0]), name="m", digest="d"), SMALL)


def test_a_forward_pass_that_fails(module):
    module(FACTORY)
    with pytest.raises(ModelError, match=r"model net: its forward pass failed \(RuntimeError: mat1 and mat2") as caught:
        load_model("torch:mynets:net")
    assert "\n" not in str(caught.value)


def test_the_digest_follows_the_weights(module, here):
    module(FACTORY)
    module(FACTORY.replace("manual_seed(3)", "manual_seed(4)"), "others")
    first = load_model("torch:mynets:net", card=SMALL).digest
    assert first == load_model("torch:mynets:net", card=SMALL).digest
    assert first != load_model("torch:others:net", card=SMALL).digest
    torch.save(network().state_dict(), here / "w.pth")
    assert load_model("torch:mynets:net@w.pth", card=SMALL).digest == first


def test_gradients_reach_the_pixels(module, images):
    module(FACTORY)
    model = load_model("torch:mynets:net", card=SMALL)
    network = model.differentiable(Compute())
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    pixels.requires_grad_(True)
    logits = network(pixels)
    np.testing.assert_allclose(logits.detach().numpy(), expected(images), atol=1e-4)
    logits[:, 2].sum().backward()
    # closed form: the weights of that class, divided by std
    weight = expected_weight()[2].reshape(3, HEIGHT, WIDTH) / np.array(IMAGENET_STD)[:, None, None]
    np.testing.assert_allclose(pixels.grad[0].numpy(), weight, atol=1e-5)


@pytest.mark.parametrize("form", [{"batch": 1}, {"batch": 4}, {"limits": (3, 5)}])
def test_gradients_through_a_program_that_limits_its_batch(tmp_path, images, form):
    network = load_model(f"torch:{exported(tmp_path / 'mine.pt2', **form)}").differentiable(Compute())
    for n in (1, 4, 7):
        pixels = (torch.from_numpy(images[:n]).permute(0, 3, 1, 2).float() / 255).requires_grad_(True)
        logits = network(pixels)
        np.testing.assert_allclose(logits.detach().numpy(), expected(images[:n]), atol=1e-4)
        logits[:, 2].sum().backward()
        # closed form: the weights of that class, divided by std
        weight = expected_weight()[2].reshape(3, HEIGHT, WIDTH) / np.array(IMAGENET_STD)[:, None, None]
        np.testing.assert_allclose(pixels.grad.numpy(), np.broadcast_to(weight, pixels.shape), atol=1e-5)


@pytest.mark.parametrize("batch", [(1, 64), (1, 2), (4, 4)])
def test_gradients_through_a_network_that_writes_to_its_input(images, batch):
    model = to_model(Net(Answers(lambda y: y), name="m", digest="d", batch=batch), SMALL)
    scaled = to_model(Net(WritesToInput(), name="m", digest="d", batch=batch), SMALL)
    found = []
    for one in (model, scaled):
        pixels = (torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255).requires_grad_(True)
        one.differentiable(Compute())(pixels).sum().backward()
        found.append(pixels.grad.numpy())
    np.testing.assert_allclose(found[1], 2 * found[0], rtol=1e-6)


class WritesToInput(torch.nn.Module):
    def forward(self, x):
        return x.mul_(2).mean((2, 3))


class Remembers(torch.nn.Module):
    """Makes a table when it is first asked, as networks with rotary positions do."""

    def __init__(self) -> None:
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None:
            self.table = torch.linspace(1, 2, WIDTH)
        return (x * self.table).mean((2, 3))


def test_gradients_through_what_a_network_remembers_of_a_plain_pass(images):
    model = to_model(Net(Remembers(), name="m", digest="d"), SMALL)
    model.logits(images)
    pixels = (torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255).requires_grad_(True)
    model.differentiable(Compute())(pixels).sum().backward()
    assert pixels.grad.all()


def expected_weight() -> np.ndarray:
    return network()[1].weight.detach().numpy()


def test_several_threads_and_read_only_pixels(module, images):
    module(FACTORY)
    forward = load_model("torch:mynets:net", card=SMALL).open(Compute(threads=1))
    images.flags.writeable = False
    with ThreadPoolExecutor(3) as pool:
        for answer in pool.map(forward, [images] * 6):
            np.testing.assert_allclose(answer, expected(images), atol=1e-4)


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_devices_that_are_absent(module, device):
    if {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}[device]:
        pytest.skip(f"{device} is there")
    module(FACTORY)
    model = load_model("torch:mynets:net", card=SMALL)
    with pytest.raises(ModelError, match=f"model net: this torch has no device {device}"):
        model.open(Compute(device=device))


def test_a_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"torch models need more packages: pip install 'oodometer\[torch\]'"):
        load_model("torch:mynets:net")


def test_the_environment_is_as_before(tmp_path, monkeypatch):
    path = exported(tmp_path / "mine.pt2")
    load_model(f"torch:{path}")
    assert "TORCH_FORCE_WEIGHTS_ONLY_LOAD" not in os.environ
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0")
    load_model(f"torch:{path}")
    assert os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] == "0"
