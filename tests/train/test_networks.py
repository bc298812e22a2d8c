"""The networks: as many parameters as published, the right shapes, gradients everywhere, the same weights by seed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import torch
from sklearn.neighbors import KNeighborsClassifier

from oodometer.core.errors import MissingExtraError, UsageError
from oodometer.core.random import rng_for
from oodometer.train.networks import random_features
from oodometer.train.networks.registry import build_network, n_parameters, network_names, with_width

SMALL = ["resnet8", "resnet8x0.5", "wrn10-1", "densenet10-4", "resnext11-2x4d", "linear", "random-features-4"]


def build(name: str, n_classes: int = 10, size: int = 32, seed: int = 0):
    return build_network(name, n_classes=n_classes, size=(size, size), seed=seed)


@pytest.mark.parametrize(
    ("name", "millions", "digits"),
    [
        # He et al. 2016 (Deep Residual Learning), table 6
        ("resnet20", 0.27, 2),
        ("resnet32", 0.46, 2),
        ("resnet56", 0.85, 2),
        # Zagoruyko & Komodakis 2016 (Wide Residual Networks), table 4
        ("wrn40-1", 0.6, 1),
        ("wrn40-2", 2.2, 1),
        ("wrn16-8", 11.0, 1),
        # Huang et al. 2017 (Densely Connected Convolutional Networks), table 2: k = 12, depth 40
        ("densenet40", 1.0, 1),
        # Xie et al. 2017 (Aggregated Residual Transformations), table 7
        ("resnext29-8x64d", 34.4, 1),
    ],
)
def test_as_many_parameters_as_published(name, millions, digits):
    assert round(n_parameters(build(name)) / 1e6, digits) == millions


def test_parameters_of_the_others_in_closed_form():
    assert n_parameters(build("linear")) == (3 * 32 * 32 + 1) * 10
    # 4 filters of 6x6x3; both signs and four quarters of each are features
    assert n_parameters(build("random-features-4")) == 4 * 108 + (4 * 2 * 4 + 1) * 10


def test_twice_the_width_is_nearly_four_times_the_parameters():
    assert n_parameters(build("resnet20x2")) / n_parameters(build("resnet20")) == pytest.approx(4, abs=0.05)


@pytest.mark.parametrize("name", SMALL)
def test_shapes_and_gradients(name):
    network = build(name, n_classes=5, size=16)
    if hasattr(network, "prepare"):
        network.prepare(torch.randn(9, 3, 16, 16), np.arange(9) % 5, rng_for("test"))
    logits = network.train()(torch.randn(6, 3, 16, 16))
    assert logits.shape == (6, 5)
    torch.nn.functional.cross_entropy(logits, torch.arange(6) % 5).backward()
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None, key
        assert parameter.grad.abs().max() > 0, key


@pytest.mark.parametrize("name", ["resnet8", "wrn10-1", "densenet10-4", "resnext11-2x4d"])
def test_convolutional_ones_take_images_of_any_size(name):
    network = build(name).eval()
    assert network(torch.zeros(1, 3, 20, 28)).shape == (1, 10)


def test_weights_depend_on_the_seed_and_on_nothing_else():
    torch.manual_seed(1)
    state = torch.random.get_rng_state()
    first = build("resnet8", seed=3).state_dict()
    assert torch.equal(torch.random.get_rng_state(), state), "the generator of others is left alone"
    torch.manual_seed(2)
    again, other = build("resnet8", seed=3).state_dict(), build("resnet8", seed=4).state_dict()
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not torch.equal(first["0.weight"], other["0.weight"])


def test_a_block_where_the_shape_changes_passes_every_second_pixel_on():
    from oodometer.train.networks.resnet import Block

    block = Block(2, 4, stride=2).eval()
    torch.nn.init.zeros_(block.conv2.weight)
    x = torch.rand(1, 2, 6, 6)
    out = block(x)
    assert torch.equal(out[:, :2], x[:, :, ::2, ::2])  # option A of He et al. 2016
    assert out[:, 2:].abs().max() == 0


# reference: scikit-learn's nearest neighbour on the images at a quarter of their size
def test_the_nearest_neighbour():
    rng = np.random.default_rng(0)
    training, asked = (torch.from_numpy(rng.normal(size=(n, 3, 8, 8))).float() for n in (60, 40))
    labels = rng.permutation(np.arange(60) % 5)
    network = build("nearest", n_classes=5, size=8)
    network.prepare(training, labels, rng_for("test"))

    def small(images):
        return images.numpy().reshape(-1, 3, 2, 4, 2, 4).mean(axis=(3, 5)).reshape(len(images), -1)

    reference = KNeighborsClassifier(1).fit(small(training), labels)
    logits = network(asked)
    assert logits.argmax(dim=1).tolist() == reference.predict(small(asked)).tolist()
    distances, _ = reference.kneighbors(small(asked))
    np.testing.assert_allclose(-logits.amax(dim=1).numpy(), distances[:, 0] ** 2, rtol=1e-4)


def test_random_features_against_a_loop_over_patches():
    rng = np.random.default_rng(1)
    images = torch.from_numpy(rng.normal(size=(3, 3, 9, 9))).float()
    network = build("random-features-4", n_classes=2, size=9)
    network.prepare(images, np.zeros(3, dtype=int), rng_for("test"))
    torch.nn.init.normal_(network.classifier.weight)
    weight, offset = network.weight.numpy(), network.offset.numpy()
    pixels = images.numpy()
    answers = np.zeros((3, 4, 4, 4))
    for n, y, x in np.ndindex(3, 4, 4):
        patch = pixels[n, :, y : y + 6, x : x + 6]
        normal = (patch - patch.mean()) / np.sqrt(patch.var() + random_features.CONTRAST)
        answers[n, :, y, x] = (weight * normal).sum(axis=(1, 2, 3)) - offset
    both = np.concatenate([np.maximum(answers - 0.25, 0), np.maximum(-answers - 0.25, 0)], axis=1)
    corners = [(slice(2), slice(2)), (slice(2), slice(2, 4)), (slice(2, 4), slice(2)), (slice(2, 4), slice(2, 4))]
    features = np.concatenate([both[:, :, rows, columns].mean(axis=(2, 3)) for rows, columns in corners], axis=1)
    features /= np.sqrt(1 + network.norm.eps)  # the statistics of a batch norm that has seen nothing
    wanted = features @ network.classifier.weight.detach().numpy().T
    np.testing.assert_allclose(network.eval()(images).detach().numpy(), wanted, atol=1e-4)


# reference: scipy's matrix power
def test_whitening():
    patches = torch.from_numpy(np.random.default_rng(2).normal(size=(200, 6)) @ np.diag(np.arange(1.0, 7)))
    covariance = np.cov(patches.numpy().T)
    wanted = scipy.linalg.fractional_matrix_power(covariance + 0.1 * np.eye(6), -0.5)
    np.testing.assert_allclose(random_features.whitening_of(patches).numpy(), wanted, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: build("resnt20"), "no network named 'resnt20'; did you mean resnet20?"),
        (
            lambda: build("resnet21"),
            "resnet21: the depth of a ResNet for small images is 6n + 2: 8, 14, 20, 32, 44, 56, 110",
        ),
        (lambda: build("wrn17-2"), "wrn17: the depth of a Wide ResNet is 6n + 4: 10, 16, 22, 28, 40"),
        (lambda: build("densenet41"), "densenet41: the depth of a DenseNet is 3n + 4: 22, 40, 100"),
        (lambda: build("resnext30"), "resnext30: the depth of a ResNeXt for small images is 9n + 2: 11, 20, 29"),
        (
            lambda: build("random-features", size=6),
            "random-features: images must have at least 7 pixels in each direction",
        ),
        (lambda: build("nearest", size=3), "nearest: images must have at least 4 pixels in each direction"),
        (
            lambda: with_width("wrn16-2", 2),
            "--width is for a plain ResNet such as resnet20; the width of wrn16-2 is in its name",
        ),
    ],
)
def test_names_that_mean_nothing(call, message):
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message


def test_without_torch_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingExtraError, match=r"networks to train need more packages: pip install 'oodometer\[train\]'"
    ):
        build("linear")


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in network_names()
        if name not in ("wrn28-10", "resnext29-8x64d", "resnext29-8x32d", "densenet40-24")
    ],
)
def test_every_named_network_can_be_built(name):
    assert n_parameters(build(name)) > 0
