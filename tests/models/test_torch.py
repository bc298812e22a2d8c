from __future__ import annotations

import json
import pickle
import re
import sys
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from oodometer.cli.main import main
from oodometer.core.errors import MissingExtraError, ModelError
from oodometer.core.model import IMAGENET_MEAN, IMAGENET_STD, Compute, Model
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


def load_trusted(path: Path, card: Declared | None = None) -> Model:
    return load_model(f"torch:{path}", card=card, allow_pickle=True)


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


PRINTING = """
print("importing")
import torch
def net():
    print("building")
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 8 * 8, 4))
"""


def test_what_a_factory_prints_goes_to_stderr(module, capsys):
    module(PRINTING)
    load_model("torch:mynets:net", card=Declared(size=(8, 8)))
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "importing\nbuilding\n")


def test_json_stays_json_with_a_factory_that_prints(photos, module, here):
    module(PRINTING)
    words = ["--model", "torch:mynets:net", "--data", str(photos), "--size", "8", "--store", str(here / "runs")]
    result = CliRunner().invoke(main, ["run", *words, "--json"])
    assert result.exit_code == 0, result.stderr
    (row,) = json.loads(result.stdout)
    assert row["model"] == "net"
    assert "building" in result.stderr


def test_the_card_beside_the_weights(module, here):
    module(FACTORY)
    torch.save(network().state_dict(), here / "best.pth")
    (here / "best.toml").write_text(f'name = "mine"\nparent = "p"\n[input]\nsize = [{HEIGHT}, {WIDTH}]\n')
    model = load_model("torch:mynets:net@best.pth")
    assert (model.name, model.card.parent, model.input.view) == ("mine", "p", Geometry(HEIGHT, WIDTH))
    assert load_model("torch:mynets:net@best.pth", name="other").name == "other"
    assert load_model("torch:mynets:net", card=SMALL).card.parent is None


@pytest.mark.parametrize("batch", [None, 1, 4])
def test_an_exported_program(tmp_path, images, batch):
    path = exported(tmp_path / "mine.pt2", batch=batch)
    model = load_trusted(path)
    np.testing.assert_allclose(model.logits(images), expected(images), atol=1e-4)
    assert (model.name, model.input.view, model.notes["input"]) == ("mine", Geometry(HEIGHT, WIDTH), "default")


@pytest.mark.parametrize("limits", [None, (3, 5), (2, 4)])
def test_an_exported_program_that_limits_its_batch(tmp_path, images, limits):
    model = load_trusted(exported(tmp_path / "mine.pt2", limits=limits))
    for n in (1, 2, 7):
        np.testing.assert_allclose(model.logits(images[:n]), expected(images[:n]), atol=1e-4)


@pytest.mark.parametrize("layer", [torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(CLASSES)])
def test_a_program_exported_in_training_mode_is_refused(tmp_path, layer):
    path = tmp_path / "mine.pt2"
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(HEIGHT * WIDTH * 3, CLASSES), layer)
    example = (torch.zeros(4, 3, HEIGHT, WIDTH),)
    torch.export.save(torch.export.export(net.train(), example), path)
    with pytest.raises(ModelError, match=r"mine\.pt2: exported in training mode"):
        load_trusted(path)
    torch.export.save(torch.export.export(net.eval(), example), path)
    assert len(load_trusted(path).space) == CLASSES


@pytest.mark.parametrize("batch", [None, 1])
def test_an_exported_program_fixes_its_size(tmp_path, batch):
    path = exported(tmp_path / "mine.pt2", batch=batch)
    with pytest.raises(ModelError, match="its input is fixed to 6x8 pixels"):
        load_trusted(path, card=Declared(size=(8, 8)))


def test_a_script(tmp_path, images):
    path = scripted(tmp_path / "mine.pt")
    (tmp_path / "mine.toml").write_text(f'parent = "p"\n[input]\nsize = [{HEIGHT}, {WIDTH}]\n')
    model = load_trusted(path)
    np.testing.assert_allclose(model.logits(images), expected(images), atol=1e-4)
    assert (model.name, model.card.parent) == ("mine", "p")


def pickled(path: Path) -> Path:
    torch.save(network(), path)
    return path


def test_a_pickled_module(tmp_path, images):
    model = load_trusted(pickled(tmp_path / "mine.pt"), card=SMALL)
    np.testing.assert_allclose(model.logits(images), expected(images), atol=1e-4)


@pytest.mark.parametrize(("make", "name"), [(exported, "m.pt2"), (scripted, "m.pt"), (pickled, "m.pth")])
def test_a_file_of_a_whole_network_only_if_allowed(here, make, name):
    make(here / name)
    with pytest.raises(ModelError) as caught:
        load_model(f"torch:{name}", card=SMALL)
    assert str(caught.value) == (
        f"{name}: refused, since a torch file of a whole network can run code of its own; export the network to ONNX, "
        "or give its weights (safetensors or a plain state dict) as torch:MODULE:FUNCTION@FILE; if you trust this "
        "file, add --allow-pickle"
    )


class Loops(torch.nn.Module):
    def forward(self, x):
        while bool(x.sum() < 1e9):
            x = x * 1
        return x.mean((2, 3))


def test_a_script_that_never_ends_is_not_run(tmp_path):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
        torch.jit.script(Loops()).save(tmp_path / "m.pt")
    with pytest.raises(ModelError, match="refused"):
        load_model(f"torch:{tmp_path / 'm.pt'}", card=SMALL)


def test_a_size_that_never_ends_is_not_computed(tmp_path):
    path = exported(tmp_path / "m.pt2")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(tmp_path / "bad.pt2", "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename.endswith("models/model.json"):
                content = re.sub(rb'"expr_str": "[^"]*"', b'"expr_str": "9**9**9**9"', content)
                assert b"9**9**9**9" in content
            target.writestr(entry.filename, content)
    with pytest.raises(ModelError, match="refused"):
        load_model(f"torch:{tmp_path / 'bad.pt2'}")


@pytest.mark.parametrize("allow_pickle", [False, True])
@pytest.mark.parametrize("spec", ["torch:{}", "torch:mynets:net@{}"])
def test_an_archive_with_a_name_in_no_encoding(module, here, spec, allow_pickle):
    module(FACTORY)
    with zipfile.ZipFile(here / "m.pt", "w") as archive:
        archive.writestr("m/data-\u00fc.pkl", b"x")  # a name in UTF-8, and marked as such
    content = (here / "m.pt").read_bytes()
    assert content.count("\u00fc".encode()) == 2
    (here / "m.pt").write_bytes(content.replace("\u00fc".encode(), b"\xff\xff"))
    with pytest.raises(UnicodeDecodeError):
        zipfile.ZipFile(here / "m.pt")
    with pytest.raises(ModelError) as caught:
        load_model(spec.format("m.pt"), card=SMALL, allow_pickle=allow_pickle)
    assert "\n" not in str(caught.value)


def test_weights_alone_are_no_model(tmp_path):
    torch.save(network().state_dict(), tmp_path / "w.pth")
    (tmp_path / "w.safetensors").write_bytes(b"x")
    for name in ("w.pth", "w.safetensors"):
        with pytest.raises(ModelError, match=r"weights without a network; give torch:MODULE:FUNCTION@"):
            load_trusted(tmp_path / name)
    with pytest.raises(ModelError, match=r"or give its weights .* as torch:MODULE:FUNCTION@FILE"):
        load_model(f"torch:{tmp_path / 'w.pth'}")


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
    with pytest.raises(ModelError, match=r"or a damaged one|torch can't load it") as caught:
        load_trusted(path, card=SMALL)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["text.pt", "text.pt2"])
def test_texts_are_no_networks(here, name):
    (here / name).write_text("hello, I am a text\n")
    with pytest.raises(ModelError, match=rf"^{name}: (torch can't load it|not an exported program)") as caught:
        load_trusted(here.joinpath(name).relative_to(here))
    assert "\n" not in str(caught.value)


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
    network = load_trusted(exported(tmp_path / "mine.pt2", **form)).differentiable(Compute())
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
    gradients = []
    for asked in (model, scaled):
        pixels = (torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255).requires_grad_(True)
        asked.differentiable(Compute())(pixels).sum().backward()
        gradients.append(pixels.grad.numpy())
    np.testing.assert_allclose(gradients[1], 2 * gradients[0], rtol=1e-6)


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
