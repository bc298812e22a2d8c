"""A training by its options: what is said, what a card tells, and what is usual."""

from __future__ import annotations

from pathlib import Path

import pytest

import oodometer as odo

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
    assert (job.half, job.compute.threads, job.card.parent) == (True, 2, "plain")
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
