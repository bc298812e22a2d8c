"""DeepAugment: draws as described, on any network, which stays as it is; the same copies whatever the batches are."""

from __future__ import annotations

import copy
from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn

from oodometer.core.errors import ModelError, UsageError
from oodometer.core.random import rng_for
from oodometer.train.augment import DeepAugment
from oodometer.train.augment.deepaugment.cae import Cae
from oodometer.train.augment.deepaugment.deepaugment import runs
from oodometer.train.augment.deepaugment.distort import Activations, Draws, distorted, drawn_activations
from oodometer.train.augment.deepaugment.edsr import Edsr
from oodometer.train.augment.deepaugment.learn import learned_network, new_network
from oodometer.train.augment.deepaugment.places import Places, places_of
from oodometer.train.augment.deepaugment.plans import PLANS, drawn_operations, drawn_weights, plan_for

IMAGES = np.random.default_rng(0).integers(256, size=(30, 12, 12, 3), dtype=np.uint8)


def small(kind: str):
    torch.manual_seed(0)
    return (Edsr(n_blocks=4, n_features=8) if kind == "edsr" else Cae()).eval()


class Plain(nn.Module):
    """A network of somebody else's, which says nothing of places, with a layer of another kind in it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 5, 3, padding=1), nn.BatchNorm2d(5), nn.Conv2d(5, 7, 3, stride=2, padding=1), nn.ReLU()
        )
        self.up = nn.ConvTranspose2d(7, 5, 2, stride=2)
        self.last = nn.Conv2d(5, 3, 1)

    def forward(self, images):
        return self.last(self.up(self.layers(images)))[:, :, : images.shape[2], : images.shape[3]]


NETWORKS = {"edsr": lambda: small("edsr"), "cae": lambda: small("cae"), "plain": lambda: Plain().train()}


@pytest.mark.parametrize("kind", sorted(NETWORKS))
def test_copies_are_deterministic_and_the_network_stays(kind):
    network = NETWORKS[kind]()
    before = copy.deepcopy(network.state_dict())
    modes = [module.training for module in network.modules()]
    storages = [one.data_ptr() for one in network.parameters()]
    augment = DeepAugment(network)
    first, again, other = (augment(IMAGES, seed=seed) for seed in (1, 1, 2))
    assert (first.shape, first.dtype) == (IMAGES.shape, np.uint8)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    for name, value in network.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert [one.data_ptr() for one in network.parameters()] == storages
    assert [module.training for module in network.modules()] == modes
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())


def test_a_network_stays_as_it_is_when_something_goes_wrong():
    network = small("edsr")
    before = copy.deepcopy(network.state_dict())

    def fails(given, made):
        raise ValueError("no")

    activations = Activations()
    activations.add("head", 0, fails)
    weights = drawn_weights(network, network.places(), PLANS["edsr"], rng_for("test"))
    with pytest.raises(ValueError, match="no"), distorted(network, weights, activations, "head"):
        network(torch.zeros(1, 3, 8, 8))
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert not network.head._forward_hooks


@pytest.mark.parametrize("kind", sorted(NETWORKS))
@pytest.mark.parametrize("size", [(1, 1), (5, 3), (2, 17), (33, 31), (150, 131)])
def test_every_size(kind, size):
    images = np.random.default_rng(0).integers(256, size=(2, *size, 3), dtype=np.uint8)
    augment = DeepAugment(NETWORKS[kind](), side=64)
    made = augment(images)
    assert (made.shape, made.dtype) == (images.shape, np.uint8)
    assert augment(images[0]).shape == images[0].shape


def test_what_is_no_image_is_refused():
    with pytest.raises(UsageError, match=r"expected images \(N, H, W, 3\) of uint8"):
        DeepAugment(small("cae"))(np.zeros((4, 4, 3)))
    with pytest.raises(UsageError, match="skip='both'"):
        DeepAugment(small("cae"), skip="both")
    with pytest.raises(ModelError, match="has 1 plain convolutions"):
        DeepAugment(nn.Sequential(nn.Conv2d(3, 3, 1)))


def test_runs_hold_every_image_once_and_are_about_twenty_long():
    several = runs(20_000, seed=0)
    assert sorted(np.concatenate([run.rows for run in several]).tolist()) == list(range(20_000))
    # reference: a coin of 0.05 for each image but the first; five standard errors
    assert abs(len(several) - 1 - 0.05 * 19_999) < 5 * np.sqrt(0.05 * 0.95 * 19_999)
    # Neighbours, which often are of one class, do not share their weights.
    number = {int(row): run.number for run in several for row in run.rows}
    assert np.mean([number[row] == number[row + 1] for row in range(19_999)]) < 0.01
    assert [run.rows.tolist() for run in runs(1, seed=3)] == [[0]]


def test_images_of_one_run_share_their_weights_and_others_do_not(monkeypatch):
    from oodometer.train.augment.deepaugment import deepaugment as module

    # Without distorted activations, equal images differ by their weights alone.
    monkeypatch.setattr(module, "drawn_activations", lambda *_args, **_named: Activations())
    augment = DeepAugment(small("edsr"), redrawn=0.3)
    made = augment(np.repeat(IMAGES[:1], 30, axis=0), seed=0)
    several = runs(30, seed=0, redrawn=0.3)
    assert len(several) > 3
    looks = [{made[row].tobytes() for row in run.rows} for run in several]
    assert all(len(one) == 1 for one in looks)
    assert len(set.union(*looks)) > len(several) / 2


def test_copies_of_a_run_equal_one_pass_by_hand():
    """reference: weights copied into another network, and activations changed between its layers, image by image."""
    network, seed = small("edsr"), 5
    augment = DeepAugment(network)
    keys = ["a", "b", "c"]
    made = augment.of_run(2, list(IMAGES[:3]), keys, seed)
    other = copy.deepcopy(network)
    weights = drawn_weights(network, augment.places, augment.plan, rng_for("deepaugment", "edsr", "weights", 2, seed=5))
    other.load_state_dict({**other.state_dict(), **weights})
    for position, key in enumerate(keys):
        pixels = torch.from_numpy(IMAGES[position : position + 1]).permute(0, 3, 1, 2) / 255
        with torch.no_grad():
            values = by_hand(other, pixels, key, seed)
            values = nn.functional.interpolate(
                values, size=(12, 12), mode="bilinear", align_corners=False, antialias=True
            )
        expected = (values[0].clamp(0, 1) * 255).permute(1, 2, 0).numpy()
        assert np.abs(made[position] - expected).max() <= 0.5 + 1e-2


def by_hand(network, pixels, key, seed):
    from oodometer.train.augment.deepaugment.activations import BODY, HEAD, activation_distortions

    rng = rng_for("deepaugment", "edsr", "head", key, seed=seed)
    name = str(rng.choice(HEAD))
    first = activation_distortions.get(name)(network.head(network.sub_mean(pixels))[0], rng)[None]
    rng = rng_for("deepaugment", "edsr", "body", key, seed=seed)
    name = str(rng.choice(BODY))
    skipped = (rng.integers(2, 17, size=3) * 5 // 17).tolist() if name == "skip" else []
    values = first
    for number, block in enumerate(network.body):
        values = values if number in skipped else block(values)
        if number == 0 and name not in ("skip", "none"):  # block 5 of 16 is block 1 of 4
            values = activation_distortions.get(name)(values[0], rng)[None]
    return network.add_mean(network.tail(first + values))


def skipping(places, *, skip):
    """The activations of one image whose body distortion is to skip, and which members that leaves out."""
    plan = plan_for(places, "edsr")
    for number in range(200):
        activations = drawn_activations(places, plan, Draws("edsr", [str(number)], 0), skip=skip)
        skipped = [int(name.split(".")[1]) for name in activations.after if name != "head"]
        if len(skipped) > 1:
            return activations, skipped
    raise AssertionError("nobody skips")


def test_skipping_as_intended_and_as_released():
    network = Edsr(n_blocks=16, n_features=8).eval()
    places, shown = network.places(), torch.rand(1, 3, 6, 6)
    assert len(places.body) == 17
    for skip in ("intended", "release"):
        activations, skipped = skipping(places, skip=skip)
        activations.after.pop("head")
        with torch.no_grad(), distorted(network, {}, activations, places.head):
            made = network(shown)
        with torch.no_grad():
            first = network.head(network.sub_mean(shown))
            values = first
            for number, block in enumerate(network.body):
                if number not in skipped:
                    # In the release every block is given what the head made.
                    values = block(first if skip == "release" else values)
            expected = network.add_mean(network.tail(first + values))
        torch.testing.assert_close(made, expected)


@pytest.mark.parametrize(("name", "n_draws", "n_operations"), [("edsr", 3, 17), ("cae", 1, 8)])
def test_draws_of_weights_are_as_many_as_described_and_all_as_likely(name, n_draws, n_operations):
    plan = PLANS[name]
    assert (plan.n_draws, len(plan.draws)) == (n_draws, n_operations)
    counts: Counter[str] = Counter()
    for number in range(2000):
        drawn = drawn_operations(plan, rng_for("test", number))
        assert len(drawn) == n_draws
        counts.update(one.name for one in drawn)
    expected = 2000 * n_draws / n_operations
    assert len(counts) == n_operations
    # Five standard errors of a multinomial share.
    assert all(abs(count - expected) < 5 * np.sqrt(expected) for count in counts.values())


def test_weights_are_drawn_for_the_blocks_of_the_release():
    network = Edsr(n_blocks=16, n_features=4)
    touched = Counter(
        name
        for number in range(400)
        for name in drawn_weights(network, network.places(), PLANS["edsr"], rng_for("test", number))
    )
    blocks = {int(name.split(".")[1]) for name in touched if name.startswith("body.")}
    assert blocks == set(range(15))  # never the last
    assert all(name.startswith("body.") for name in touched)


def test_places_of_our_networks_and_of_others():
    assert len(Edsr(n_blocks=16).places().blocks) == 16
    places = Cae().places()
    assert (len(places.blocks), places.bottleneck, places.code) == (16, "encoder.6", "code")
    found = places_of(Plain())
    assert found == Places(blocks=(("layers.2",),), head="layers.0", body=(), bottleneck="layers.2")
    resnet = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Sequential(*(nn.Conv2d(4, 4, 3, padding=1) for _ in range(6))))
    found = places_of(resnet)
    assert (found.head, found.body) == ("0", tuple(f"1.{n}" for n in range(6)))
    assert plan_for(found).name == "edsr"


def test_published_weights_have_our_names():
    """reference: the names in edsr_baseline_x4.pt of the EDSR release, 16 blocks of 64 features, x4."""
    names = set(Edsr(16, 64, 4, value_range=255).state_dict())
    layers = ["sub_mean", "add_mean", "head.0", "body.16", "tail.0.0", "tail.0.2", "tail.1"]
    layers += [f"body.{block}.body.{place}" for block in range(16) for place in (0, 2)]
    assert names == {f"{layer}.{kind}" for layer in layers for kind in ("weight", "bias")}
    assert Edsr(2, 4, 4)(torch.zeros(1, 3, 5, 7)).shape == (1, 3, 20, 28)


@pytest.mark.parametrize("kind", ["edsr", "cae"])
def test_learning_makes_pictures_of_pictures_again(kind):
    stripes = np.zeros((8, 32, 32, 3), dtype=np.uint8)
    for number, image in enumerate(stripes):
        image[:, :: 2 + number] = (200, 20 * number, 255 - 30 * number)
        image[:: 3 + number] = 128
    network = learned_network(kind, list(stripes), seed=0, steps=30)
    again = learned_network(kind, list(stripes), seed=0, steps=30)
    assert all(torch.equal(one, other) for one, other in zip(network.parameters(), again.parameters(), strict=True))
    errors = [
        np.abs(DeepAugment(one).passed(stripes).astype(float) - stripes).mean()
        for one in (new_network(kind, seed=0).eval(), network)
    ]
    assert errors[1] < 0.7 * errors[0]
