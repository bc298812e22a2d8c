from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.attacks.spec import parse_attack
from oodometer.core.attack import Attacked, Target
from oodometer.core.labels import LabelMap, LabelSpace, numbered

torch = pytest.importorskip("torch")
quick = settings(deadline=None, derandomize=True, max_examples=6)


def attack(spec: str, network: Any, data: Any, *, seed: int = 0, **more: Any) -> Attacked:
    return parse_attack(spec, seed=seed).apply(Target(network, **more), data.images, data.labels, data.ids)


@dataclass(frozen=True)
class Linear:
    """A network of one layer on H x W pixels, with what is known of it by hand."""

    weights: np.ndarray  # (K, 3 * H * W), float64
    bias: np.ndarray

    def __call__(self, pixels: Any) -> Any:
        weights, bias = (torch.from_numpy(one.astype(np.float32)) for one in (self.weights, self.bias))
        return pixels.flatten(1) @ weights.T + bias

    def by_hand(self, pixels: np.ndarray) -> np.ndarray:
        return pixels @ self.weights.T + self.bias


@dataclass(frozen=True)
class Few:
    images: np.ndarray
    labels: np.ndarray
    ids: tuple[str, ...]

    @property
    def pixels(self) -> np.ndarray:
        """(N, 3 * H * W) in the order of a network's input, float64."""
        return self.images.transpose(0, 3, 1, 2).reshape(len(self.images), -1) / 255.0


def linear(seed: int, *, classes: int, first: float = 0.0, side: int = 4) -> Linear:
    rng = np.random.default_rng(seed)
    bias = np.zeros(classes)
    bias[0] = first
    return Linear(rng.normal(0, 0.3, (classes, 3 * side * side)), bias)


def few(seed: int, *, low: int = 0, high: int = 256, n: int = 3, side: int = 4) -> Few:
    images = np.random.default_rng(seed).integers(low, high, (n, side, side, 3), dtype=np.uint8)
    return Few(images, np.zeros(n, dtype=np.int64), tuple(f"image {one}" for one in range(n)))


# closed form: of two classes the loss grows with (w1 - w0)·x alone. Over the L∞ ball within [0, 1] each pixel is best
# at its end on the side of the sign; over the L2 ball the best is straight along w1 - w0.
@quick
@given(seed=st.integers(0, 999), start=st.sampled_from(["zero", "random"]))
def test_linf_reaches_the_optimum_of_a_linear_network(seed, start):
    network, data = linear(seed, classes=2, first=25.0), few(seed)
    found = attack(f"pgd-linf-20,start={start}", network, data)
    slope = network.weights[1] - network.weights[0]
    best = np.where(slope > 0, np.minimum(data.pixels + 20 / 255, 1), np.maximum(data.pixels - 20 / 255, 0))
    np.testing.assert_allclose(found.logits[:, 1] - found.logits[:, 0], best @ slope - 25, atol=1e-4)
    assert found.findings["survived"] == 3


@quick
@given(seed=st.integers(0, 999), start=st.sampled_from(["zero", "random"]))
def test_l2_reaches_the_optimum_of_a_linear_network(seed, start):
    # pixels from 0.4 to 0.6: no pixel of the ball of radius 5 * 4/224 leaves [0, 1]
    network, data = linear(seed, classes=2, first=25.0), few(seed, low=102, high=154)
    found = attack(f"pgd-l2-5,start={start}", network, data)
    slope = network.weights[1] - network.weights[0]
    best = data.pixels @ slope + 5 * 4 / 224 * np.linalg.norm(slope)
    np.testing.assert_allclose(found.logits[:, 1] - found.logits[:, 0], best - 25, atol=1e-4)


def test_sure_answers_are_attacked_in_the_right_direction():
    """The margin is 25 and more: in float32 the gradient would lack the part of the label, w0."""
    network, data = linear(1, classes=2, first=25.0), few(1)
    logits = network(torch.from_numpy(data.pixels).float())
    assert (torch.softmax(logits, dim=1)[:, 0] == 1).all()
    slope = network.weights[1] - network.weights[0]
    found = attack("fgsm-linf-4", network, data)
    best = np.clip(data.pixels + 4 / 255 * np.sign(slope), 0, 1)
    np.testing.assert_allclose(found.logits[:, 1] - found.logits[:, 0], best @ slope - 25, atol=1e-4)


# closed form: the gradient of the cross-entropy of a linear network is W'(softmax(Wx + b) - one_hot(y))
@pytest.mark.parametrize(("norm", "epsilon"), [("linf", 20.0), ("l2", 5.0)])
@pytest.mark.parametrize("seed", range(5))
def test_one_step_by_hand(norm, epsilon, seed):
    network, data = linear(seed, classes=3, first=9.0), few(seed, low=102, high=154)
    found = attack(f"pgd-{norm}-{epsilon},steps=1,step=0.4", network, data)
    logits = network.by_hand(data.pixels)
    right = logits.argmax(axis=1) == 0
    assert right.any()
    exps = np.exp(logits - logits.max(axis=1, keepdims=True))
    gradient = (exps / exps.sum(axis=1, keepdims=True) - np.eye(3)[data.labels]) @ network.weights
    if norm == "linf":
        change = 0.4 * epsilon / 255 * np.sign(gradient)
    else:
        change = 0.4 * epsilon * 4 / 224 * gradient / np.linalg.norm(gradient, axis=1, keepdims=True)
    expected = np.where(right[:, None], network.by_hand(data.pixels + change), logits)
    np.testing.assert_allclose(found.logits, expected, atol=1e-4)
    assert found.findings["attacked"] == right.sum()


def plain_pgd(network: Any, data: Any, *, norm: str, radius: float, step: float, steps: int) -> list[Any]:
    """The answers to all iterates of all images in one batch, (N, K) each; no image stops early."""
    clean, shown = data.pixels, data.pixels
    answers = []
    for _ in range(steps):
        shown = shown.detach().requires_grad_(True)
        loss = torch.nn.functional.cross_entropy(network(shown).double(), data.classes, reduction="sum")
        (gradient,) = torch.autograd.grad(loss, shown)
        flat = gradient.flatten(1)
        unit = gradient.sign() if norm == "linf" else (flat / flat.norm(dim=1, keepdim=True)).view_as(gradient)
        change = shown.detach() + step * radius * unit - clean
        if norm == "linf":
            change = change.clamp(-radius, radius)
        else:
            length = change.flatten(1).norm(dim=1).view(-1, 1, 1, 1)
            change = change * (radius / length).clamp(max=1)
        shown = (clean + change).clamp(0, 1)
        answers.append(network(shown).detach())
    return answers


@pytest.mark.parametrize(
    ("spec", "norm", "radius"),
    [("pgd-linf-16,steps=30,step=0.1", "linf", 16 / 255), ("pgd-l2-20,steps=30,step=0.1", "l2", 20 * 16 / 224)],
)
def test_stopping_early_changes_neither_who_is_fooled_nor_the_answers(ordinary, digits, spec, norm, radius):
    found = attack(spec, ordinary, digits)
    iterates = plain_pgd(ordinary, digits, norm=norm, radius=radius, step=0.1, steps=30)
    clean = ordinary(digits.pixels).detach().numpy()
    wrong = np.stack(
        [clean.argmax(axis=1) != digits.labels] + [(one.argmax(dim=1) != digits.classes).numpy() for one in iterates]
    )
    fooled = found.logits.argmax(axis=1) != digits.labels
    np.testing.assert_array_equal(fooled, wrong.any(axis=0))
    assert 20 < fooled.sum() < 180
    # of the fooled the first answer that is wrong, of the others the one of the highest loss
    losses = np.stack(
        [torch.nn.functional.cross_entropy(one.double(), digits.classes, reduction="none") for one in iterates]
    )
    first, highest = wrong.argmax(axis=0), losses.argmax(axis=0) + 1
    answers = np.stack([clean, *(one.numpy() for one in iterates)])
    expected = answers[np.where(fooled, first, highest), np.arange(len(digits))]
    np.testing.assert_allclose(found.logits, expected, atol=0.02)
    assert found.findings["attacked"] == (~wrong[0]).sum()
    assert found.findings["survived"] == (~fooled).sum()


def test_fooled_images_are_not_asked_about_again(ordinary, digits):
    seen: list[int] = []

    def counting(pixels: Any) -> Any:
        seen.append(len(pixels))
        return ordinary(pixels)

    some = digits[:64]
    found = attack("pgd-linf-24,steps=20", counting, some)
    survived = found.findings["survived"]
    assert survived < 40
    assert seen[0] == 64
    assert seen == sorted(seen, reverse=True)
    # the clean images, 21 iterates, and the noise that the survivors are compared with
    assert len(seen) == 23
    assert seen[-1] == seen[-2] - (seen[-2] - survived)
    # an image that is wrong from the start is asked about once
    nonsense = type(some)(some.images, (some.labels + 1) % 10, some.ids)
    seen.clear()
    found = attack("pgd-linf-24,steps=20", counting, nonsense)
    assert seen[0] == 64
    assert sum(seen[1:]) <= found.findings["attacked"] * 22


@pytest.mark.parametrize(
    "spec", ["pgd-linf-16,steps=20,start=random", "pgd-l2-20,steps=20,start=random", "noise-linf-24"]
)
def test_order_and_batches_change_nothing(ordinary, digits, spec):
    some = digits[:60]
    whole = attack(spec, ordinary, some, seed=3)
    np.testing.assert_array_equal(whole.logits, attack(spec, ordinary, some, seed=3).logits)
    backward = attack(spec, ordinary, some[::-1], seed=3)
    pieces = [attack(spec, ordinary, some[part], seed=3) for part in (slice(0, 1), slice(1, 32), slice(32, 60))]
    for other in (backward.logits[::-1], np.concatenate([one.logits for one in pieces])):
        np.testing.assert_array_equal(other.argmax(axis=1), whole.logits.argmax(axis=1))
        np.testing.assert_allclose(other, whole.logits, atol=0.02)
    for key in ("attacked", "survived"):
        assert sum(one.findings[key] for one in pieces) == whole.findings[key] == backward.findings[key]
    assert not np.array_equal(attack(spec, ordinary, some, seed=4).logits, whole.logits)


def test_several_threads_at_once(ordinary, digits):
    some, spec = digits[:24], "pgd-linf-16,steps=20,start=random"
    ordinary = copy.deepcopy(ordinary).requires_grad_(True)
    ordinary.zero_grad()
    alone = attack(spec, ordinary, some)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: attack(spec, ordinary, some), range(8)))
    for one in together:
        np.testing.assert_array_equal(one.logits, alone.logits)
    # the network is left as it was, and its weights collect no gradients
    assert all(parameter.requires_grad and parameter.grad is None for parameter in ordinary.parameters())


@pytest.mark.parametrize(
    "spec", ["pgd-linf-16,steps=10", "pgd-l2-10,steps=10,start=random", "fgsm-linf-16", "noise-l2-30"]
)
def test_every_batch_that_is_shown_lies_in_the_ball(ordinary, digits, spec):
    some = digits[:40]
    name, norm, size = spec.partition(",")[0].split("-")
    radius = float(size) / 255 if norm == "linf" else float(size) * 16 / 224
    clean, shown = some.pixels.double(), []

    def watching(pixels: Any) -> Any:
        shown.append(pixels.detach().clone().double())
        return ordinary(pixels)

    attack(spec, watching, some)
    assert len(shown) >= (12 if name == "pgd" else 2)
    for batch in shown:
        assert 0 <= batch.min() <= batch.max() <= 1
        distances = (batch[:, None] - clean[None]).flatten(2)
        size_of = distances.abs().amax(dim=2) if norm == "linf" else distances.norm(dim=2)
        # each is within the ball of one of the images; which one is not told
        assert (size_of.amin(dim=1) <= radius * (1 + 1e-4)).all()


def test_mapped_classes_are_what_is_attacked(ordinary, digits):
    # even and odd: the loss and the answers are over the best of five digits each
    halves = LabelMap("parity", numbered(10), LabelSpace("parity", ("even", "odd")), ((0, 2, 4, 6, 8), (9, 7, 5, 3, 1)))
    parity = type(digits)(digits.images, digits.labels % 2, digits.ids)

    def mapped(pixels: Any) -> Any:
        logits = ordinary(pixels)
        return torch.stack([logits[:, list(group)].amax(dim=1) for group in halves.members], dim=1)

    found = attack("pgd-linf-16,steps=20", ordinary, parity, label_map=halves)
    assert found.logits.shape == (200, 2)
    # reference: the same attack on a network that answers the two classes itself
    np.testing.assert_allclose(found.logits, attack("pgd-linf-16,steps=20", mapped, parity).logits, atol=0.02)
    # a digit that is taken for another of its parity is not fooled
    plain = attack("pgd-linf-16,steps=20", ordinary, digits)
    assert found.findings["survived"] > plain.findings["survived"]


def test_check_stop_is_called_between_steps(ordinary, digits):
    class StopError(Exception):
        pass

    calls: list[int] = []

    def stop() -> None:
        calls.append(1)
        if len(calls) > 4:
            raise StopError

    with pytest.raises(StopError):
        attack("pgd-linf-1", ordinary, digits[:4], check_stop=stop)
    assert len(calls) == 5


def test_answers_that_are_no_numbers_are_not_hidden(ordinary, digits):
    """The engine makes an error of them."""
    clean = digits[:8].pixels

    def breaks(pixels: Any) -> Any:
        logits = ordinary(pixels)
        return logits if torch.equal(pixels, clean[: len(pixels)]) else logits * torch.nan

    assert np.isnan(attack("pgd-linf-1,steps=3", breaks, digits[:8]).logits).any()


def test_more_budget_fools_more(ordinary, digits):
    counts = [attack(f"pgd-linf-{size},steps=30", ordinary, digits).findings["survived"] for size in (2, 8, 16, 32, 64)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < 10 < 150 < counts[0]


def test_stronger_than_one_step_and_than_noise(ordinary, digits):
    survived: Callable[[str], int] = lambda name: attack(f"{name}-linf-20", ordinary, digits).findings["survived"]  # noqa: E731
    assert survived("pgd") <= survived("fgsm") < survived("noise")
