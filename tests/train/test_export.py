"""What is written answers as the network does, in float32 and with weights in float16, and has its gradients."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch

from oodometer.core.errors import ModelError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.core.model import Card, Compute, Input
from oodometer.core.preprocessing import Geometry
from oodometer.core.random import rng_for
from oodometer.models.card import read_card
from oodometer.models.load import load_model
from oodometer.train import export_and_verify as written_model
from oodometer.train.card import Written, card_text
from oodometer.train.export import halved, in_half, to_onnx
from oodometer.train.export_and_verify import write_model
from oodometer.train.loop import Work, logits_of
from oodometer.train.networks.registry import build_network
from oodometer.train.pixels import Pixels, as_input
from oodometer.train.recipe import Recipe

SIDE = 16
SPACE = LabelSpace("shapes", ("disc", 'box "2"', "wedge\\é"))
GIVEN = Input(Geometry(SIDE, SIDE), mean=(0.4, 0.5, 0.6), std=(0.2, 0.25, 0.3))
NETS = ["resnet8", "wrn10-1", "densenet10-4", "resnext11-2x8d", "linear", "random-features-4", "nearest"]


def work_of(net: str) -> Work:
    """A network with weights and statistics that nobody trained, but that are not those of the beginning either."""
    rng = np.random.default_rng(0)
    labels = np.arange(30) % 3
    images = rng.integers(0, 256, size=(30, SIDE, SIDE, 3), dtype=np.uint8)
    network = build_network(net, n_classes=3, size=(SIDE, SIDE))
    seen = as_input(images, GIVEN)
    if hasattr(network, "prepare"):
        network.prepare(seen, labels, rng_for("test"))
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.05 * torch.randn(parameter.shape)
        network.train()(seen)
    some = Pixels(images, labels, tuple(map(str, range(30))))
    return Work(network, some, some, GIVEN, Recipe(net=net, size=SIDE))


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("net", NETS)
def test_the_file_answers_as_the_network_does(net, half, tmp_path):
    work = work_of(net)
    out = tmp_path / "mine.onnx"
    model = write_model(work, {"architecture": net}, out, half=half, card=Card(parent="p"), space=SPACE)
    wanted = logits_of(work, work.iid.images)
    tolerance = 1e-2 if half else 1e-5
    np.testing.assert_allclose(model.logits(work.iid.images), wanted, atol=tolerance * np.ptp(wanted))
    assert (model.name, model.space.classes, model.input) == ("mine", SPACE.classes, GIVEN)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.onnx", "mine.toml"]
    # What attacks will differentiate is the same network.
    pixels = torch.from_numpy(work.iid.images[:4]).permute(0, 3, 1, 2).float() / 255
    pixels.requires_grad_(True)
    logits = model.differentiable(Compute())(pixels)
    np.testing.assert_allclose(logits.detach().numpy(), wanted[:4], atol=tolerance * np.ptp(wanted))
    logits[:, 0].sum().backward()
    assert pixels.grad.abs().max() > 0


def test_half_the_size_and_all_arithmetic_in_float32():
    work = work_of("resnet8")
    whole = to_onnx(work.network, (SIDE, SIDE))
    half = halved(whole)
    assert half.ByteSize() < 0.56 * whole.ByteSize()
    kinds = {one.data_type for one in half.graph.initializer if len(one.dims) > 1}
    assert kinds == {onnx.TensorProto.FLOAT16}
    casts = [node for node in half.graph.node if node.input and node.input[0].endswith("/half")]
    assert {node.attribute[0].i for node in casts} == {onnx.TensorProto.FLOAT}
    onnx.checker.check_model(half)


def test_weights_beyond_float16_are_refused():
    with pytest.raises(ModelError, match="the weights w are too large for float16; leave --half out"):
        in_half(np.array([1e5], dtype=np.float32), "w")


def test_a_file_that_answers_otherwise_is_not_written(tmp_path, monkeypatch):
    work, other = work_of("linear"), work_of("linear")
    torch.nn.init.normal_(other.network[1].weight)
    proto = to_onnx(other.network, (SIDE, SIDE))
    monkeypatch.setattr(written_model, "to_onnx", lambda network, size: proto)
    with pytest.raises(ModelError, match=r"mine: the exported logits are up to .* apart from the network's"):
        write_model(work, {"architecture": "linear"}, tmp_path / "mine.onnx", half=False, card=Card(), space=SPACE)
    assert list(tmp_path.iterdir()) == []


def test_the_model_of_another_training_is_not_taken_for_this_one(tmp_path):
    out = tmp_path / "mine.onnx"
    assert written_model.finished_model(out, "a", half=False, card=Card()) is None
    notes = {"architecture": "linear", "key": "a", "weights": "float32"}
    written = write_model(work_of("linear"), notes, out, half=False, card=Card(), space=SPACE)
    assert written_model.finished_model(out, "a", half=False, card=Card()).digest == written.digest
    assert written_model.finished_model(out, "a", half=True, card=Card()) is None
    with pytest.raises(UsageError, match="there is a model of another training; give another --out, or --force"):
        written_model.finished_model(out, "b", half=False, card=Card())


def test_a_card_is_read_as_it_was_written(tmp_path):
    card = Card("robust intervention", "resnet20", ("erase",), 'icons, "all" of them')
    notes = {"epochs": 3, "rate": 1e-05, "augment": ["mirror", "crop"], "half": True, "init": None, "hold_out": []}
    (tmp_path / "a.toml").write_text(card_text(Written("ä\n", card, SPACE, GIVEN, notes)), encoding="utf-8")
    read = read_card(tmp_path / "a.toml")
    assert read.name == "ä\n"
    assert read.card() == card
    assert read.classes.classes == SPACE.classes
    assert (read.size, read.resize, read.mean, read.std) == ((SIDE, SIDE), "squash", GIVEN.mean, GIVEN.std)
    assert read.notes == {"epochs": "3", "rate": "1e-05", "augment": "mirror, crop", "half": "yes"}


def test_notes_that_are_no_table(tmp_path):
    (tmp_path / "a.toml").write_text("notes = 3")
    with pytest.raises(UsageError, match=r"a\.toml: notes must be a table \(\[notes\]\), not a number"):
        read_card(tmp_path / "a.toml")
    (tmp_path / "a.toml").write_text("[notes]\nb = {c = 1}")
    with pytest.raises(UsageError, match=r"notes: b must be a text, a number, true or false, or a list of texts"):
        load_model("onnx:x.onnx", card=tmp_path / "a.toml")
