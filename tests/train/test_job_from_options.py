"""A training by its options: what is said, what a card tells, and what is usual."""

from __future__ import annotations

from pathlib import Path

import pytest

import oodometer as odo
from oodometer.core.model import Input
from oodometer.train.card import Written, card_text
from oodometer.train.notes import _sgd

CARD = """\
name = "before"
category = "robust intervention"
parent = "plain"
classes = ["a", "b"]

[input]
size = [24, 24]

[notes]
architecture = "resnet8"
epochs = "7"
learning_rate = "0.05"
threads = "2"
precision = "mixed"
augment = "mirror, erase"
hold_out = "style=outline, subtypes"
weights = "float16"
"""


@pytest.fixture
def data(make_dataset) -> odo.Dataset:
    return make_dataset(8, k=2)


@pytest.fixture
def card(tmp_path) -> Path:
    (tmp_path / "before.toml").write_text(CARD)
    return tmp_path / "before.toml"


def test_what_nobody_says_is_as_usual(data):
    job = odo.training_job(data, odo.TrainingOptions(net="resnet20"))
    assert job.recipe == odo.Recipe()
    assert (job.out, job.hold_outs, job.half, job.init) == (Path("resnet20.onnx"), (), False, None)
    assert (job.compute.device, job.compute.threads) == ("cpu", 0)
    assert job.card == odo.Card("standard", training_data=data.name)


def test_what_is_said_is_done(data, tmp_path):
    options = odo.TrainingOptions(net="resnet20", width=2, seed=3, augment="none", hold_outs=["a=b, c=d", "e=f"])
    job = odo.training_job(data, options, out=tmp_path / "mine.onnx", force=True)
    assert (job.recipe.net, job.recipe.seed, job.recipe.augment) == ("resnet20x2", 3, ())
    assert (job.hold_outs, job.out, job.force) == (("a=b", "c=d", "e=f"), tmp_path / "mine.onnx", True)
    assert job.card.training_data == f"{data.name} without a=b, c=d, e=f"


@pytest.mark.parametrize(
    ("options", "category", "interventions"),
    [
        (odo.TrainingOptions(net="resnet20", augment="mirror"), "standard", ()),
        (odo.TrainingOptions(net="resnet20", augment="mirror,erase"), "robust intervention", ("erase",)),
        (odo.TrainingOptions(net="resnet20", init="first.pt"), "more data", ()),
        (odo.TrainingOptions(net="resnet20", adversarial="pgd"), "adversarially trained", ("pgd",)),
        (odo.TrainingOptions(net="resnet20", adversarial="zero-step"), "robust intervention", ("zero-step",)),
        (
            odo.TrainingOptions(net="resnet20", augment="mirror,augmix", objective="consistency"),
            "robust intervention",
            ("augmix", "consistency"),
        ),
        (
            odo.TrainingOptions(net="resnet20", augment="erase", adversarial="fast", init="first.pt"),
            "adversarially trained",
            ("erase", "fast"),
        ),
        (
            odo.TrainingOptions(net="resnet20", objective="stability", init="first.pt"),
            "robust intervention",
            ("stability",),
        ),
        (odo.TrainingOptions(net="se-resnet20"), "standard", ("se",)),
        (odo.TrainingOptions(net="cbam-resnet20", augment="erase"), "robust intervention", ("cbam", "erase")),
        (odo.TrainingOptions(net="resnet20", init="first.pt", category="standard"), "standard", ()),
    ],
)
def test_the_category_follows_from_what_is_done_unless_it_is_said(data, options, category, interventions):
    job = odo.training_job(data, options)
    assert (job.card.category, job.card.interventions) == (category, interventions)


def test_a_card_says_what_the_options_do_not(data, card):
    job = odo.training_job(data, odo.TrainingOptions(lr=0.2), like=card)
    assert (job.recipe.net, job.recipe.epochs, job.recipe.lr, job.recipe.size) == ("resnet8", 7, 0.2, 24)
    assert (job.recipe.augment, job.hold_outs) == (("mirror", "erase"), ("style=outline", "subtypes"))
    assert (job.half, job.compute.threads, job.recipe.precision) == (True, 2, "mixed")
    assert job.card.parent == "plain"
    assert odo.training_job(data, odo.TrainingOptions(half=False), like=card).half is False


def test_errors_are_one_line(data, card):
    with pytest.raises(odo.UsageError, match="which network"):
        odo.training_job(data, odo.TrainingOptions())
    card.write_text(CARD + 'init = "first"\n')
    with pytest.raises(odo.UsageError, match="it began with the weights of first"):
        odo.training_job(data, odo.TrainingOptions(), like=card)


# reference: Hendrycks and Dietterich (2018), section 4.2 (50 epochs, cosine, Nesterov, mirror and crop at 32 px),
# and the defaults of the authors' script Icons-50/train.py (rate 0.1, 128 images, momentum 0.9, decay 0.0001)
def test_the_recipe_of_a_paper_by_name(data):
    job = odo.training_job(data, odo.TrainingOptions(recipe="icons-50", net="resnext29-8x32d"))
    assert job.recipe == odo.Recipe(
        net="resnext29-8x32d",
        epochs=50,
        lr=0.1,
        batch=128,
        momentum=0.9,
        weight_decay=1e-4,
        size=32,
        augment=("mirror", "crop-black"),
    )
    assert job.recipe_name == "icons-50"
    assert (job.card.category, job.card.interventions) == ("standard", ())


def test_what_is_said_changes_a_recipe_and_is_told(data):
    job = odo.training_job(data, odo.TrainingOptions(recipe="cifar-100-subtypes", epochs=3, seed=4, weight_decay=0.0))
    assert (job.recipe.net, job.recipe.epochs, job.recipe.weight_decay) == ("wrn40-2", 3, 0.0)
    # the seed is no number of the paper's
    assert job.recipe_name == "cifar-100-subtypes, but epochs, weight_decay"
    same = odo.training_job(data, odo.TrainingOptions(recipe="icons-50", net="resnet20", epochs=50, lr=0.2))
    assert same.recipe_name == "icons-50, but lr"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (odo.TrainingOptions(recipe="icons50", net="resnet20"), "--recipe icons50: no recipe .*did you mean icons-50"),
        (odo.TrainingOptions(recipe="icons-50"), "which network"),
        (odo.TrainingOptions(net="resnet20", weight_decay=-1), "a weight decay of -1: it must be 0 or above"),
    ],
)
def test_recipes_that_can_not_be(data, options, message):
    with pytest.raises(odo.UsageError, match=message):
        odo.training_job(data, options)


def test_a_recipe_or_a_card(data, card):
    with pytest.raises(odo.UsageError, match="--recipe and --like"):
        odo.training_job(data, odo.TrainingOptions(recipe="icons-50"), like=card)


# reference: Hendrycks et al. (2021), natural adversarial examples, section 5.1
def test_the_recipe_of_natural_adversarial_examples(data):
    options = odo.TrainingOptions(recipe="imagenet-a", net="resnet20", adversarial="fgsm")
    assert odo.training_job(data, options).recipe == odo.Recipe(
        net="resnet20",
        epochs=90,
        lr=0.1,
        schedule="steps:30,60,80",
        warm_up=5,
        batch=256,
        momentum=0.9,
        weight_decay=1e-4,
        adversarial="fgsm",
        eps=8,
    )


def test_fine_tuning_has_a_rate_of_its_own_and_needs_weights(data):
    job = odo.training_job(data, odo.TrainingOptions(recipe="fine-tune", net="resnet20", init="first.pt"))
    assert (job.recipe.lr, job.recipe.epochs) == (0.01, 5)
    with pytest.raises(odo.UsageError, match="--recipe fine-tune goes on with a trained network; give its checkpoint"):
        odo.training_job(data, odo.TrainingOptions(recipe="fine-tune", net="resnet20"))


@pytest.mark.parametrize(
    "recipe",
    [
        odo.Recipe(net="resnet8", augment=("mirror", "augmix"), objective="consistency", weight=6, warm_up=2),
        odo.Recipe(net="resnet8", adversarial="fast", schedule="steps:10,20"),
        odo.Recipe(net="resnet8", objective="stability", eps=2.55),
        odo.Recipe(net="resnet8", augment=()),
    ],
)
def test_a_card_tells_the_whole_recipe(data, tmp_path, recipe):
    written = Written("mine", odo.Card(), data.space, Input(recipe.view), {"architecture": recipe.net, **_sgd(recipe)})
    (tmp_path / "mine.toml").write_text(card_text(written))
    job = odo.training_job(data, odo.TrainingOptions(), like=tmp_path / "mine.toml")
    assert job.recipe == recipe
    assert job.recipe.describe() == recipe.describe()
