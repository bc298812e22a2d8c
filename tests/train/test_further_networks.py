"""SE, CBAM, Shake-Shake, MSDNet, multigrid, and networks like AlexNet and SqueezeNet: sizes, answers, draws, files."""

from __future__ import annotations

import importlib.util
import itertools
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch.nn import functional

import oodometer as odo
from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for
from oodometer.train.augment.registry import Moment
from oodometer.train.loop import begin_step, judged
from oodometer.train.networks.registry import build_network, n_parameters
from oodometer.train.networks.shake_shake import mixed


def _reference() -> ModuleType:
    place = Path(__file__).parents[1] / "reference" / "networks.py"
    spec = importlib.util.spec_from_file_location("reference_networks", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _reference()

NAMES = [
    "se-resnet8x0.5",
    "cbam-resnet8x0.5",
    "se-resnext11-2x4d",
    "cbam-resnext11-2x4d",
    "shake-shake8-2x4d",
    "shake-shake11-2x2x4d",
    "msdnet2-2",
    "multigrid8",
    "alexnetx0.125",
    "squeezenetx0.25",
]

REFERENCES = {
    "se-resnet8x0.5": lambda state, x: reference.resnet(state, x, 1, reference.se),
    "cbam-resnet8x0.5": lambda state, x: reference.resnet(state, x, 1, reference.cbam),
    "se-resnext11-2x4d": lambda state, x: reference.resnext(state, x, 1, 2, reference.se),
    "cbam-resnext11-2x4d": lambda state, x: reference.resnext(state, x, 1, 2, reference.cbam),
    "shake-shake8-2x4d": lambda state, x: reference.shake_shake(state, x, 1),
    "shake-shake11-2x2x4d": lambda state, x: reference.shake_shake(state, x, 1, 2),
    "msdnet2-2": lambda state, x: reference.msdnet(state, x, 6)[-1],
    "multigrid8": lambda state, x: reference.multigrid(state, x, 1),
    "alexnetx0.125": reference.alexnet,
    "squeezenetx0.25": reference.squeezenet,
}


def build(name: str, n_classes: int = 10, size: int = 32, seed: int = 0):
    return build_network(name, n_classes=n_classes, size=(size, size), seed=seed)


def learned(name: str, size: int = 32):
    """A network whose normalisations have statistics of their own, as after learning."""
    network = build(name, n_classes=5, size=size)
    generator = torch.Generator().manual_seed(1)
    for key, value in network.state_dict().items():
        if key.endswith(("running_mean", "bias")):
            value.copy_(0.3 * torch.randn(value.shape, generator=generator))
        elif key.endswith("running_var"):
            value.copy_(0.5 + torch.rand(value.shape, generator=generator))
    return network.eval()


@pytest.mark.parametrize("name", NAMES)
def test_answers_as_the_plain_reference(name):
    network = learned(name)
    x = torch.randn(3, 3, 32, 32, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        ours, theirs = network(x), REFERENCES[name](network.state_dict(), x)
    assert ours.std() > 1e-3, "it says something"
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4 * float(theirs.abs().max()))


@pytest.mark.parametrize("name", NAMES)
def test_shapes_and_gradients(name):
    network = build(name, n_classes=5, size=16)
    logits = network.train()(torch.randn(6, 3, 16, 16))
    assert logits.shape == (6, 5)
    loss, _ = judged(network, lambda said, rows: (functional.cross_entropy(said, rows), 0), logits, torch.arange(6) % 5)
    loss.backward()
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None, key


@pytest.mark.parametrize("name", NAMES)
def test_images_of_any_size(name):
    assert build(name).eval()(torch.zeros(1, 3, 20, 28)).shape == (1, 10)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_answers_as_the_network(name, make_quarters, tmp_path):
    """`odo.train` compares the logits of the exported file with the network's before it is done."""
    options = odo.TrainingOptions(net=name, epochs=1, size=16, batch=32, lr=0.01, threads=1)
    trained = odo.train(odo.training_job(make_quarters(96), options, out=tmp_path / "mine.onnx"))
    assert trained.model.notes["architecture"] == name
    assert trained.model.card.parameters == int(trained.model.notes["parameters"]) == n_parameters(build(name, 4, 16))


# reference: Zoph et al. 2018 (Learning Transferable Architectures), table 1, which lists Gastaldi's networks
@pytest.mark.parametrize(("name", "millions"), [("shake-shake26-2x32d", 2.9), ("shake-shake26-2x96d", 26.2)])
def test_as_many_parameters_as_published(name, millions):
    assert round(n_parameters(build(name)) / 1e6, 1) == millions


# reference: counted layer by layer; two branches, and a shortcut in two halves where the shape changes
def test_shake_shake_resnext_in_closed_form():
    n_in, total = 16, 3 * 9 * 16 + 2 * 16
    for wide in (4 * 8, 8 * 8, 16 * 8):
        for place in range(2):
            total += 2 * (n_in * wide + 9 * wide * wide // 4 + wide * wide + 6 * wide)
            total += n_in * wide + 2 * wide if place == 0 else 0
            n_in = wide
    assert n_parameters(build("shake-shake20-2x4x8d")) == total + n_in * 10 + 10


# reference: torchvision's table of weights gives 1,235,496 for SqueezeNet 1.1 with 1,000 classes
def test_squeezenet_has_the_published_parameters():
    assert n_parameters(build("squeezenet", 1000)) == 1_235_496


def test_what_attention_adds_in_closed_form():
    plain = n_parameters(build("resnet20"))
    # three blocks of 16, 32 and 64 channels, of which 4 are left in between
    weights = sum(3 * 2 * 4 * channels for channels in (16, 32, 64))
    biases = sum(3 * (4 + channels) for channels in (16, 32, 64))
    assert n_parameters(build("se-resnet20")) - plain == weights + biases
    assert n_parameters(build("cbam-resnet20")) - plain == weights + 9 * 2 * 7 * 7


def test_alexnet_in_closed_form():
    channels = [3, 64, 192, 384, 256, 256]
    convolutions = sum(9 * a * b + b for a, b in itertools.pairwise(channels))
    linear = 256 * 512 + 512 + 512 * 512 + 512 + 512 * 10 + 10
    assert n_parameters(build("alexnet")) == convolutions + linear


# reference: counted layer by layer; each convolution has two numbers of its normalisation per channel
def test_densenet_and_resnext_of_the_icons_paper_in_closed_form():
    channels, total = 16, 3 * 9 * 16
    for block in range(3):
        for _ in range(12):
            total += 9 * channels * 24 + 2 * channels
            channels += 24
        total += 2 * channels + (channels * channels if block < 2 else 0)
    assert n_parameters(build("densenet40-24")) == total + channels * 10 + 10
    n_in, total = 64, 3 * 9 * 64 + 2 * 64
    for stage in range(3):
        inner, n_out = 8 * 32 * 2**stage, 128 * 2**stage
        for place in range(3):
            total += n_in * inner + 9 * inner * inner // 8 + inner * n_out + 2 * (2 * inner + n_out)
            total += n_in * n_out + 2 * n_out if place == 0 else 0
            n_in = n_out
    assert n_parameters(build("resnext29-8x32d")) == total + n_in * 10 + 10


def test_multigrid_in_closed_form():
    total, before = 3 * 9 * (16 + 8 + 4) + 2 * (16 + 8 + 4), [16, 8, 4]
    for finest in (16, 32, 64):
        channels = [finest, finest // 2, finest // 4]
        for n_in in (before, channels):
            seen = [n_in[0] + n_in[1], sum(n_in), n_in[1] + n_in[2]]
            total += sum(9 * a * b + 2 * b for a, b in zip(seen, channels, strict=True))
        before = channels
    assert n_parameters(build("multigrid8")) == total + sum(before) * 10 + 10


def test_the_mix_forwards_and_backwards():
    first, second = (torch.randn(4, 2, 3, 3, requires_grad=True) for _ in range(2))
    alpha, beta = torch.rand(4, 1, 1, 1), torch.rand(4, 1, 1, 1)
    out = mixed(first, second, alpha, beta)
    torch.testing.assert_close(out, alpha * first + (1 - alpha) * second)
    out.backward(torch.ones_like(out))
    torch.testing.assert_close(first.grad, beta.expand_as(first))
    torch.testing.assert_close(second.grad, (1 - beta).expand_as(second))


def test_every_image_has_a_mix_of_its_own_keyed_by_the_step():
    network = build("shake-shake8-2x4d", size=16)
    for layer in network.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = 0.0  # so that only the mixes differ from call to call
            layer.eval()
    draws = network.draws
    begin_step(network, Moment(2, 7, 0))
    first = [draws.per_image(torch.zeros(5, 1)).flatten() for _ in range(2)]
    assert len({round(float(one), 6) for one in torch.cat(first)}) == 10
    torch.manual_seed(99)
    begin_step(network, Moment(2, 7, 0))
    assert torch.equal(draws.per_image(torch.zeros(5, 1)).flatten(), first[0]), "whatever was drawn before"
    for other in (Moment(2, 8, 0), Moment(3, 7, 0), Moment(2, 7, 1)):
        begin_step(network, other)
        assert not torch.equal(draws.per_image(torch.zeros(5, 1)).flatten(), first[0])
    numbers = draws.per_image(torch.zeros(4000, 1))
    assert abs(float(numbers.mean()) - 0.5) < 5 * np.sqrt(1 / 12 / 4000)  # five standard errors


@pytest.mark.parametrize("name", ["shake-shake8-2x4d", "msdnet2-2"])
def test_a_stopped_training_ends_with_the_same_bits(name, make_quarters, tmp_path):
    options = odo.TrainingOptions(net=name, epochs=2, size=16, batch=32, threads=1)
    job = odo.training_job(make_quarters(96), options, out=tmp_path / "whole.onnx")
    odo.train(job)

    def stop(epoch):
        raise KeyboardInterrupt

    other = replace(job, out=tmp_path / "stopped.onnx")
    with pytest.raises(KeyboardInterrupt):
        odo.train(other, odo.TrainingWatcher(stop, lambda note: None))
    odo.train(other)
    assert other.out.read_bytes() == job.out.read_bytes()


def test_msdnet_learns_from_all_its_classifiers():
    network = learned("msdnet3-2")
    x = torch.randn(2, 3, 32, 32)
    assert network(x).shape == (2, 5)
    assert network.side_logits == [], "nobody waits for the earlier ones when nothing is learned"
    network.train()
    for layer in network.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.eval()
    last = network(x)
    wanted = reference.msdnet(network.state_dict(), x, 8)
    for ours, theirs in zip([*network.side_logits, last], wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)

    def summed(logits, rows):
        assert len(logits) == len(rows)
        return logits.sum(), 7

    rows = np.array([0])  # as if the second image were a copy of the first
    loss, n_right = judged(network, summed, last[:1], rows)
    torch.testing.assert_close(loss, sum(one[0].sum() for one in wanted), rtol=1e-4, atol=1e-3)
    assert n_right == 7
    plain, _ = judged(torch.nn.Linear(1, 1), summed, last[:1], rows)
    torch.testing.assert_close(plain, last[0].sum())


def test_weights_depend_on_the_seed_alone():
    first, again, other = (build("shake-shake8-2x4d", seed=seed).state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not torch.equal(first["0.weight"], other["0.weight"])


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("shake-shake25-2x32d", 32, "shake-shake25: the depth of a Shake-Shake ResNet is 6n + 2: 8, 14, 20, 26"),
        ("shake-shake26-2x4x8d", 32, "shake-shake26: the depth of a Shake-Shake ResNeXt is 9n + 2: 11, 20, 29"),
        ("msdnet0", 32, "msdnet0-6: at least one classifier, and an even growth from 2 on"),
        ("msdnet2-3", 32, "msdnet2-3: at least one classifier, and an even growth from 2 on"),
        ("msdnet2", 3, "msdnet: images must have at least 4 pixels in each direction"),
        ("multigrid9", 32, "multigrid9: the depth of a multigrid network is 6n + 2: 8, 14, 20"),
        ("multigrid8", 15, "multigrid: images must have at least 16 pixels in each direction"),
        ("se-resnet21", 32, "resnet21: the depth of a ResNet for small images is 6n + 2: 8, 14, 20, 32, 44, 56, 110"),
    ],
)
def test_names_that_mean_nothing(name, size, message):
    with pytest.raises(UsageError) as caught:
        build(name, size=size)
    assert str(caught.value) == message


def test_begin_step_is_for_those_that_draw():
    begin_step(torch.nn.Linear(1, 1), Moment(0, 0, 0))
    assert rng_for("network", 0, 0, seed=0).random() == rng_for("network", 0, 0, seed=0).random()
