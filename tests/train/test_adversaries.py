"""Adversaries against plain arithmetic: on a linear classifier the gradient is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from oodometer.core.model import Input
from oodometer.core.preprocessing import Geometry
from oodometer.core.random import rng_for
from oodometer.train.adversaries.registry import adversaries
from oodometer.train.augment.registry import Moment
from oodometer.train.lesson import Lesson
from oodometer.train.loop import Work, lesson_of, loss_for, make_optimizer, train_epochs
from oodometer.train.networks.registry import build_network
from oodometer.train.pixels import Pixels
from oodometer.train.recipe import Recipe

SIDE, N = 6, 8
RNG = np.random.default_rng(0)
IMAGES = RNG.integers(256, size=(N, SIDE, SIDE, 3), dtype=np.uint8)
LABELS = np.arange(N) % 3
GIVEN = Input(Geometry(SIDE, SIDE), mean=(0.4, 0.5, 0.6), std=(0.2, 0.25, 0.3))
WEIGHTS = RNG.normal(size=(3, SIDE, SIDE, 3))


def lesson(name: str | None, net: str = "linear", **said) -> Lesson:
    """A batch before a network; the linear one has known weights."""
    recipe = Recipe(net=net, augment=(), size=SIDE, batch=N, adversarial=name, **said)
    network = build_network(net, n_classes=3, size=(SIDE, SIDE))
    if net == "linear":
        with torch.no_grad():
            network[1].weight[:] = torch.from_numpy(WEIGHTS.transpose(0, 3, 1, 2).reshape(3, -1))
    network.train()
    training = Pixels(IMAGES, LABELS, tuple("abcdefgh"))
    work = Work(network, training, training, GIVEN, recipe)
    return lesson_of(work, np.arange(N), Moment(1, 2, 3), loss_for(training))


def probabilities(pixels: np.ndarray) -> np.ndarray:
    """Of the linear classifier by hand, (N, H, W, 3) in [0, 1] -> (N, 3)."""
    logits = np.einsum("nhwc,khwc->nk", (pixels - GIVEN.mean) / np.array(GIVEN.std), WEIGHTS)
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def directions(pixels: np.ndarray) -> np.ndarray:
    """The sign of the gradient of the cross-entropy by the pixels: softmax minus one-hot, through the weights."""
    return np.sign(np.einsum("nk,khwc->nhwc", probabilities(pixels) - np.eye(3)[LABELS], WEIGHTS))


def perturbed(name: str, **said) -> np.ndarray:
    return lesson(name, **said).perturbed(IMAGES).permute(0, 2, 3, 1).numpy().astype(np.float64)


def largest_changes(result: np.ndarray) -> np.ndarray:
    return np.abs(result - IMAGES / 255).max(axis=(1, 2, 3))


@pytest.mark.parametrize("name", adversaries.names())
def test_all_of_them(name):
    result, again, other = perturbed(name), perturbed(name), lesson(name)
    usual = adversaries.get(name).eps
    assert largest_changes(result).max() <= usual / 255 + 1e-6
    assert result.min() >= 0
    assert result.max() <= 1
    assert np.array_equal(result, again)
    assert (largest_changes(result) > 0).all()
    # twice the budget goes beyond the usual one
    assert largest_changes(perturbed(name, eps=2 * usual)).max() > usual / 255
    later = replace(other, moment=Moment(1, 3, 3)).perturbed(IMAGES).permute(0, 2, 3, 1).numpy()
    assert not np.array_equal(result, later)


# reference: the image moved along the known signs by a radius that is the same in all its pixels, and clipped
def test_one_step_by_hand():
    pixels = IMAGES / 255
    result = perturbed("fgsm")
    radii = largest_changes(result)
    assert ((radii > 0) & (radii < 8 / 255)).all()
    assert len(set(radii.round(6))) == N, "each image has a radius of its own"
    expected = np.clip(pixels + radii[:, None, None, None] * directions(pixels), 0, 1)
    np.testing.assert_allclose(result, expected, atol=1e-6)


# reference: ten steps by hand, each of the radius over the root of ten, projected on the ball and on [0, 1]
def test_ten_steps_by_hand():
    pixels = IMAGES / 255
    result = perturbed("pgd")
    radii = largest_changes(result)[:, None, None, None]
    # Ten steps along one direction reach the edge (sqrt(10) > 1) somewhere, so that the radius can be read off.
    current = pixels
    for _ in range(10):
        moved = current + radii / math.sqrt(10) * directions(current)
        current = np.clip(np.clip(moved, pixels - radii, pixels + radii), 0, 1)
    np.testing.assert_allclose(result, current, atol=1e-5)


# reference: the start from the same key, a step of 1.25 radii along the signs there, projected, all by hand
def test_one_step_from_a_random_start():
    pixels, radius = IMAGES / 255, 4 / 255
    drawn = 2 * rng_for("adversary", "fast", 1, 2, seed=3).random(pixels.shape, dtype=np.float32) - 1
    start = np.clip(pixels + radius * drawn, 0, 1)
    moved = start + 1.25 * radius * directions(start)
    expected = np.clip(np.clip(moved, pixels - radius, pixels + radius), 0, 1)
    np.testing.assert_allclose(perturbed("fast"), expected, atol=1e-6)
    assert not np.allclose(expected, np.clip(pixels + radius * directions(pixels), 0, 1), atol=1e-3)


def test_noise_asks_nobody_and_is_uniform():
    def nobody(pixels):
        raise AssertionError("it asked")

    pixels = torch.full((300, 3, 8, 8), 0.5)
    result = adversaries.get("zero-step").perturb(pixels, nobody, 0.1, np.random.default_rng(0)) - 0.5
    bounds = result.abs().amax(dim=(1, 2, 3)).numpy()
    # 192 values come within a few hundredths of their bound, which is uniform on (0, 0.1)
    assert bounds.mean() == pytest.approx(0.05, abs=5 * 0.1 / math.sqrt(12 * 300))
    shares = result / torch.from_numpy(bounds)[:, None, None, None]
    assert float(shares.var()) == pytest.approx(1 / 3, rel=0.05)
    assert float(shares.mean()) == pytest.approx(0, abs=0.02)


def test_the_adversary_leaves_no_trace_in_the_network():
    batch = lesson("pgd", net="resnet8x0.25")
    before = {name: value.clone() for name, value in batch.network.state_dict().items()}
    batch.perturbed(IMAGES)
    assert batch.network.training
    assert all(torch.equal(before[name], value) for name, value in batch.network.state_dict().items())
    assert all(one.grad is None for one in batch.network.parameters())


def test_the_loss_grows_with_the_steps():
    def loss(name: str) -> float:
        batch = lesson(name, net="resnet8x0.5", eps=8)
        batch.network.eval()
        generator = np.random.default_rng(0)
        pixels = adversaries.get(name).perturb(batch.pixels(IMAGES), batch._gradients, 8 / 255, generator)
        return float(batch.judge(batch.ask_pixels(pixels))[0].detach())

    assert loss("zero-step") < loss("fgsm") < loss("pgd")


def test_pixels_are_what_the_bytes_are():
    batch = lesson(None, net="resnet8x0.5")
    batch.network.eval()
    np.testing.assert_allclose(
        batch.ask_pixels(batch.pixels(IMAGES)).detach(), batch.ask(IMAGES).detach(), atol=1e-4, rtol=1e-4
    )


@pytest.mark.parametrize("name", ["fast", "pgd"])
def test_a_network_learns_against_an_adversary(name):
    rng = np.random.default_rng(0)
    labels = np.arange(96) % 3
    images = (rng.integers(0, 60, size=(96, 12, 12, 3)) + 60 * labels[:, None, None, None]).astype(np.uint8)
    pixels = Pixels(images, labels, tuple(str(one) for one in range(96)))
    recipe = Recipe(net="resnet8x0.5", epochs=4, lr=0.1, batch=16, size=12, adversarial=name)
    network = build_network(recipe.net, n_classes=3, size=(12, 12))
    given = replace(GIVEN, view=Geometry(12, 12))
    told = []
    work = Work(network, pixels, pixels, given, recipe)
    train_epochs(work, make_optimizer(network, recipe), first=0, after=told.append)
    assert told[-1].loss < told[0].loss
    assert told[-1].iid_accuracy > 0.9  # the three classes differ in brightness by far more than the budget
