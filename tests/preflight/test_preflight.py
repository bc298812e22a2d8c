"""Models made wrong on purpose, each noticed; and right ones, none accused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from PIL import Image

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.model import Compute, Forward, Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.data.resize import as_view
from oodometer.data.source import ArraySource
from oodometer.preflight.finding import ModelPreflight
from oodometer.preflight.preflight import preflight

NAMES = ("Ant", "bee", "Cat", "dog", "Eel", "fly", "Gnu", "hen", "Ibis", "jay", "Kite", "lark")
"""As people sort them; a program that puts upper case first sorts them otherwise."""
ANIMALS = LabelSpace("animals", NAMES)
K, PER_CLASS, SIDE = len(NAMES), 60, (40, 30)
HALF, IMAGENET = ((0.5,) * 3, (0.5,) * 3), ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
UNIT, BYTES = ((0.0,) * 3, (1.0,) * 3), ((0.0,) * 3, (1 / 255,) * 3)


@dataclass(frozen=True)
class Rows:
    """Images in memory."""

    images: np.ndarray

    def read(self, index: int) -> np.ndarray:
        return self.images[index]

    def name(self, index: int) -> str:
        return f"image {index}"

    def version(self, index: int) -> None:
        return None


@cache
def patterns() -> np.ndarray:
    """A pale picture of coloured squares for each class, (K, H, W, 3): squeezed or recoloured it is another."""
    rng = np.random.default_rng(0)
    small = rng.integers(118, 139, (K, SIDE[0] // 5, SIDE[1] // 5, 3))
    return np.repeat(np.repeat(small, 5, axis=1), 5, axis=2).astype(np.float64)


@cache
def pictures() -> Dataset:
    """Noisy copies of the patterns: a right model gets about nine of ten right."""
    rng = np.random.default_rng(1)
    labels = np.tile(np.arange(K), PER_CLASS)
    noisy = patterns()[labels] + rng.normal(0, 90, (len(labels), *SIDE, 3))
    images = np.clip(noisy, 0, 255).astype(np.uint8)
    ids = tuple(f"{number:04d}" for number in range(len(labels)))
    return Dataset("pictures", ids, labels, ANIMALS, ArraySource(Rows(images)), np.arange(len(labels)))


def network_input(pixels: np.ndarray, given: Input) -> np.ndarray:
    """What the network gets, (N, H * W * 3): written here again, independently of the product."""
    shown = (pixels / 255 - np.array(given.mean)) / np.array(given.std)
    shown = shown[..., [2, 1, 0]] if given.channels == "bgr" else shown
    return shown.reshape(len(pixels), -1)


@dataclass(frozen=True)
class OpenTemplates:
    """A network that knows the patterns as they look behind its right preprocessing, and answers by likeness."""

    templates: np.ndarray
    input: Input
    answer: Callable[[np.ndarray], np.ndarray] = lambda logits: logits

    def __call__(self, compute: Compute) -> Forward:
        def forward(images: np.ndarray) -> np.ndarray:
            shown = network_input(images, self.input)
            apart = ((shown[:, None, :] - self.templates[None]) ** 2).mean(axis=2) / self.templates.var()
            return self.answer(-20 * apart).astype(np.float32)

        return forward


def model_of(right: Input, declared: Input | None = None, *, order=None, space=ANIMALS, answer=None) -> Model:
    """A model that was trained with one preprocessing and is declared with another.

    Args:
        order: The class of each output.
    """
    view = right.view
    shown = np.stack([as_view(Image.fromarray(one.astype(np.uint8)), view) for one in patterns()])
    templates = network_input(shown, right)[np.arange(K) if order is None else order]
    given = declared or right
    ready = OpenTemplates(templates, given) if answer is None else OpenTemplates(templates, given, answer)
    return Model("net", "test", "a" * 32, given, space, ready)


def looked_at(model: Model, data: Dataset | None = None, **more) -> ModelPreflight:
    (found,) = preflight([model], data or pictures(), **more).models
    return found


VIEW = Geometry(16, 16, resize=18)
RIGHT = Input(VIEW, *IMAGENET)


def every_right_input() -> list[Input]:
    views = [VIEW, Geometry(16, 16), Geometry(16, 16, resize=16, interpolation="bicubic")]
    numbers = [IMAGENET, HALF, UNIT, BYTES]
    return [Input(view, *some, channels) for view, some, channels in product(views, numbers, ("rgb", "bgr"))]


@pytest.mark.parametrize("given", every_right_input(), ids=str)
def test_twenty_four_right_models_are_not_accused(given: Input) -> None:
    found = looked_at(model_of(given))
    assert found.findings == ()
    assert found.accuracy is not None
    assert 0.6 < found.accuracy.value < 0.99, "a model that is never wrong would test nothing"
    assert len(found.tried) >= 8


@pytest.mark.parametrize("seed", range(20))
def test_twenty_models_of_any_strength_are_not_accused(seed: int) -> None:
    """Right preprocessing and order, with logits blurred by noise: from nearly perfect to nearly chance."""
    noise = np.random.default_rng(seed)
    width = 10 ** noise.uniform(-1, 1)
    model = model_of(RIGHT, answer=lambda logits: logits + noise.normal(0, width, logits.shape))
    about = {finding.about for finding in looked_at(model, seed=seed).findings}
    assert not about - {"outputs"}, "of those that are hardly better than chance, that may be said"


WRONG = [
    (replace(RIGHT, channels="bgr"), "BGR", "--channels bgr"),
    (Input(VIEW, *HALF), "mean and std 0.5", "--mean 0.5,0.5,0.5 --std 0.5,0.5,0.5"),
    (Input(VIEW, *UNIT), "pixels in [0, 1]", "--mean 0,0,0 --std 1,1,1"),
    (Input(VIEW, *BYTES), "pixels in [0, 255]", "--mean 0,0,0 --std 0.00392157,0.00392157,0.00392157"),
    (Input(VIEW, IMAGENET[0], BYTES[1], "bgr"), "BGR in [0, 255] less the mean", "--channels bgr --mean 0.485"),
    (replace(RIGHT, view=Geometry(16, 16)), "squash", "--resize squash"),
    (replace(RIGHT, view=Geometry(16, 16, resize=16)), "the whole shorter side", "--resize 16"),
]


@pytest.mark.parametrize(("right", "name", "flags"), WRONG, ids=[name for _, name, _ in WRONG])
def test_a_wrong_preprocessing_is_noticed_and_the_right_one_named(right: Input, name: str, flags: str) -> None:
    found = looked_at(model_of(right, declared=RIGHT))
    (finding,) = [finding for finding in found.findings if finding.about == "preprocessing"]
    assert f"with {name} " in finding.said
    assert finding.remedy.startswith(f"if so, add {flags}")
    assert found.accuracy is not None
    assert looked_at(model_of(right)).findings == ()


def test_a_declared_bgr_of_an_rgb_network_is_noticed() -> None:
    found = looked_at(model_of(RIGHT, declared=replace(RIGHT, channels="bgr")))
    assert [str(finding) for finding in found.findings if "with RGB" in finding.said]


# Labels


def order_finding(order: list[int], space: LabelSpace) -> str:
    (finding,) = looked_at(model_of(RIGHT, order=np.array(order), space=space)).findings
    assert finding.about == "labels"
    assert "classes.txt" in finding.remedy
    return finding.said


@pytest.mark.parametrize(("shift", "word"), [(1, "before"), (-1, "after")])
def test_outputs_that_are_off_by_one(shift: int, word: str) -> None:
    said = order_finding(np.roll(np.arange(K), shift).tolist(), numbered(K))
    assert "off by one" in said
    assert f"the class {word} it" in said


def test_upper_case_first() -> None:
    order = [NAMES.index(name) for name in sorted(NAMES)]
    assert order != list(range(K))
    assert "in alphabetical order, upper case first" in order_finding(order, numbered(K))


def test_numbers_that_were_sorted_as_texts() -> None:
    names = tuple(str(number) for number in range(K))
    data = replace(pictures(), space=LabelSpace("texts", tuple(sorted(names))))
    order = np.array([data.space.classes.index(name) for name in names])
    (finding,) = looked_at(model_of(RIGHT, order=order, space=numbered(K)), data).findings
    assert "the classes as numbers" in finding.said


def test_the_opposite_order() -> None:
    assert "in the opposite order" in order_finding(list(range(K))[::-1], numbered(K))


def test_any_other_order_is_seen_by_the_answers_of_a_class() -> None:
    order = np.random.default_rng(3).permutation(K).tolist()
    said = order_finding(order, numbered(K))
    assert "the outputs are in another order" in said
    first = next(label for label in range(K) if order.index(label) != label)
    assert f"{NAMES[first]!r} is answered by output {order.index(first)}" in said


def test_the_order_that_is_used_is_told() -> None:
    assert looked_at(model_of(RIGHT)).order == "12, by name (animals): Ant, bee, Cat, ..."
    assert looked_at(model_of(RIGHT, space=numbered(K))).order == "12, by number: 0 = Ant, 1 = bee, 2 = Cat, ..."


# Outputs


def softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (softmax, "the answers are probabilities"),
        (lambda logits: np.eye(K)[np.full(len(logits), 3)] * 5, "class 'dog' is the answer to all"),
        (lambda logits: 1e4 * logits, "the confidence is 1 for nearly all"),
        (lambda logits: np.random.default_rng(len(logits)).normal(size=logits.shape), "no more than by chance"),
    ],
)
def test_outputs_that_can_not_be_right(answer, words: str) -> None:
    said = [finding.said for finding in looked_at(model_of(RIGHT, answer=answer)).findings]
    assert any(words in one for one in said), said


def test_few_images_accuse_nobody_of_chance() -> None:
    few = pictures().take(np.arange(20))
    assert looked_at(model_of(RIGHT, answer=lambda logits: -logits), few).findings == ()


def test_fewer_images_than_a_first_look_are_compared_with_themselves() -> None:
    found = looked_at(model_of(RIGHT), n=40)
    assert {tried.n for tried in found.tried} <= {40, 160}
    assert found.findings == ()


def test_images_without_labels() -> None:
    blind = replace(pictures(), labels=np.full(len(pictures()), -1))
    found = looked_at(model_of(RIGHT), blind)
    assert (found.accuracy, found.findings) == (None, ())


def test_no_images() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        preflight([model_of(RIGHT)], pictures(), n=0)


@pytest.mark.slow
def test_a_real_network_on_real_photographs() -> None:
    """EfficientNet-Lite0, as it was trained and with blue first."""
    from oodometer.data.load import load_data
    from oodometer.models.load import load_model
    from oodometer.preflight.inputs import shown_otherwise
    from shared_data import shared

    data = load_data(str(shared("imagenet-sample")))
    model = load_model("zoo:efficientnet-lite0")
    assert isinstance(model, Model)
    assert looked_at(model, data).findings == ()
    wrong = shown_otherwise(model, replace(model.input, channels="bgr"))
    assert wrong is not None
    (finding,) = looked_at(wrong, data).findings
    assert "with RGB 74 % (n = 1000): is the channel order right?" in finding.said
